// A forward pass from its first part to its last: a row for each layer, with a box for each part in the order of
// computation. Under a part's name is a strip with a cell for each token: the darker (on dark pages the lighter), the
// larger its share. Framed: the chosen part. Texts reach the page only through text nodes and fillText.

import { clamp, colourAt, css, readTheme } from "../shared/colours.js";
import { createTip, h, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { savePaper } from "../shared/prints.js";
import { saveMenu } from "../shared/save_menu.js";
import { saveTable } from "../shared/tables.js";
import { fileStem, visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { paperOf, table } from "./stack_picture.js";

/** @typedef {{name: string, title: string, pick: number, levels: number[]}} Part */
/** @typedef {{name: string, tokens: string[], parts: Part[]}} Row */
/**
 * @typedef {object} StackData Made by viz/components/stack/stack.py.
 * @property {string} title
 * @property {string} note
 * @property {number} chosen the pick of the chosen part
 * @property {[string, string][]} about written into every saved file
 * @property {Row[]} rows
 * @property {Record<string, string>} [words]
 */

/**
 * Return the box that a key leads to among rows of these lengths, or null.
 * @param {string} key @param {{row: number, col: number}} at @param {number[]} lengths
 */
export function stackKey(key, { row, col }, lengths) {
  const last = lengths.length - 1;
  if (key === "Home") return { row: 0, col: 0 };
  if (key === "End") return { row: last, col: lengths[last] - 1 };
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (down) {
    const to = clamp(row + down, 0, last);
    return { row: to, col: clamp(col, 0, lengths[to] - 1) };
  }
  if (key === "ArrowRight") {
    return col + 1 < lengths[row] ? { row, col: col + 1 } : { row: Math.min(row + 1, last), col: row < last ? 0 : col };
  }
  if (key === "ArrowLeft") {
    return col ? { row, col: col - 1 } : { row: Math.max(row - 1, 0), col: row ? lengths[row - 1] - 1 : 0 };
  }
  return null;
}

/** Return a strip of cells with hard edges, as a CSS gradient. @param {string[]} colours */
export function cellsOf(colours) {
  const edge = (i) => `${(100 * i / colours.length).toFixed(3)}%`;
  return `linear-gradient(to right, ${colours.map((colour, i) => `${colour} ${edge(i)} ${edge(i + 1)}`).join(", ")})`;
}

/**
 * Return the index of the token at a share of a strip's width, of `count` tokens.
 * @param {number} share @param {number} count
 */
export const tokenAt = (share, count) => clamp(Math.floor(share * count), 0, count - 1);

/** @param {Element|ShadowRoot} root */
function createStack(root) {
  const name = h("span", { class: "stack-name" });
  const save = (format) => savePaper(paperOf(data), fileStem(data.title, "pass"), format, 2);
  const numbers = () => saveTable(fileStem(data.title, "pass"), table(data), Object.fromEntries(data.about));
  const menu = saveMenu([
    [`${_("Save as CSV")} (zip)`, numbers],
    [_("Save as PNG"), () => save("PNG")],
    [_("Save as SVG"), () => save("SVG")],
  ]);
  const rows = h("div", { class: "rows", role: "tablist", "aria-orientation": "horizontal", onkeydown });
  const note = h("p", { class: "note" });
  const el = h("figure", { class: "hl stack" }, h("figcaption", {}, name, menu), rows, note);
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {StackData} */
  let data;
  /** @type {HTMLButtonElement[][]} */
  let boxes = [];
  let drawn = "";
  let send = (_) => {};

  /** Return the token under the pointer; -1 outside the strip, or if the part has no value for each token. */
  function under(event, part, row) {
    const { left, right, top, width } = event.currentTarget.lastElementChild.getBoundingClientRect();
    const inside = event.clientY >= top && event.clientX >= left && event.clientX < right;
    if (!inside || part.levels.length < Math.min(row.tokens.length, 2)) return -1;
    return tokenAt((event.clientX - left) / width, row.tokens.length);
  }
  function box(part, row) {
    return h(
      "button",
      {
        type: "button",
        class: "part",
        role: "tab",
        tabindex: -1,
        "aria-label": `${row.name}, ${part.title}`,
        onclick: (event) => send([part.pick, under(event, part, row)]),
        onpointermove: (/** @type {PointerEvent} */ event) => {
          const at = under(event, part, row);
          const token = at < 0 ? [] : [visible(_("token {at} {token}", { at, token: row.tokens[at] }))];
          tip.show([`${row.name}: ${part.title}`, ...token], event.clientX, event.clientY);
        },
        onpointerleave: () => tip.hide(),
      },
      h("span", { class: "part-name" }, part.name),
      h("span", { class: "strip", "aria-hidden": "true" }),
    );
  }
  function onkeydown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = boxes.findIndex((line) => line.includes(event.target));
    if (row < 0) return;
    const to = stackKey(event.key, { row, col: boxes[row].indexOf(event.target) }, boxes.map((line) => line.length));
    if (!to) return;
    event.preventDefault();
    for (const line of boxes) for (const each of line) each.tabIndex = -1;
    boxes[to.row][to.col].tabIndex = 0;
    boxes[to.row][to.col].focus();
  }
  /** Build the boxes; `update` calls it only if the rows differ, so that the focus stays. */
  function build() {
    boxes = data.rows.map((row) => row.parts.map((part) => box(part, row)));
    rows.replaceChildren(
      ...data.rows.map((row, i) =>
        h(
          "div",
          { class: "layer" },
          h("span", { class: "layer-name", "aria-hidden": "true" }, row.name), // the tabs' labels contain it
          h("div", { class: "parts" }, ...boxes[i]),
        )
      ),
    );
  }
  /** @param {StackData} given @param {(place: number[]) => void} report */
  function update(given, report) {
    [data, send] = [given, report];
    const now = JSON.stringify(data.rows);
    if (now !== drawn) build();
    drawn = now;
    setText(name, data.title);
    setText(note, data.note);
    setAttribute(
      rows,
      "aria-label",
      _("{title}. Arrow keys move, Enter zooms in.", { title: data.title }),
    );
    const [theme, focused] = [readTheme(el), /** @type {Document|ShadowRoot} */ (el.getRootNode()).activeElement];
    const start = data.rows.some((row) => row.parts.some((part) => part.pick === data.chosen));
    data.rows.forEach((row, i) =>
      row.parts.forEach((part, j) => {
        const [each, here] = [boxes[i][j], part.pick === data.chosen];
        each.classList.toggle("chosen", here);
        setAttribute(each, "aria-selected", String(here));
        if (each !== focused) each.tabIndex = here || (!start && !i && !j) ? 0 : -1;
        const strip = /** @type {HTMLElement} */ (each.lastElementChild);
        strip.style.backgroundImage = cellsOf(part.levels.map((level) => css(colourAt(theme.ramp, level))));
      })
    );
  }
  return { update };
}

export default mounting("stack", createStack);
