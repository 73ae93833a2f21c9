// A text as a row of chips.
//
// What each mark means
//   shade      the number that the page gives the chip, from none (no shade) to most; on a diverging strip blue is below
//              zero and orange above.
//   outline    accent: the chosen chip; accent dashes: the target. Hatched: masked. Struck out: removed.
//   pale       a special token. Chips that touch are pieces of one word.
// Texts reach the page only through text nodes.

import { clamp, colourAt, css, inkOn, level, levelAround, readTheme } from "../shared/colours.js";
import { createTip, h, setAttribute, setText } from "../shared/elements.js";
import { stripKey, windowOn } from "../shared/moves.js";
import { isRtl, joinedForm, visible } from "../shared/texts.js";

/** @typedef {{text: string, shade?: number, mark?: string, glued?: boolean, special?: boolean, title?: string, label?: string}} Chip */
/**
 * @typedef {object} StripData  Made by viz/components/strip/strip.py.
 * @property {string} title
 * @property {boolean} picks      whether a chip can be picked
 * @property {boolean} diverging  whether shades run from -1 to 1, else from 0 to 1
 * @property {Chip[]} chips
 */

const WIDE = 200; // chips at once on a wide page
const NARROW = 90;
const LONG = 80; // chips above which the box is lower and scrolls
const MARKS = { chosen: "chosen", target: "target", masked: "masked", removed: "removed" };

/** How many chips are shown at once. @param {number} count @param {number} width of the page's column */
export function shownAtOnce(count, width) {
  const most = width > 640 ? WIDE : NARROW;
  return count <= most * 1.25 ? count : most;
}

/** What a screen reader hears of a chip. @param {Chip} chip */
export function spoken(chip) {
  const title = chip.title && chip.title !== chip.label ? chip.title : "";
  return [visible(chip.text), chip.label, title, MARKS[chip.mark]].filter(Boolean).join(", ");
}

/** The colour behind a chip, or null. @param {Chip} chip @param {boolean} diverging @param {{ramp: Uint8ClampedArray, diverging: Uint8ClampedArray}} theme */
export function shadeOf(chip, diverging, theme) {
  if (!chip.shade) return null;
  return diverging
    ? colourAt(theme.diverging, levelAround(chip.shade, 1))
    : colourAt(theme.ramp, level(chip.shade, 1, "linear"));
}

/** The chip that Tab reaches: the one under the cursor, else the chosen one, else the first shown. */
export function stopOf(chips, cursor, start, count) {
  const inside = (i) => i >= start && i < start + count;
  const chosen = chips.findIndex((chip) => chip.mark === "chosen");
  return inside(cursor) ? cursor : inside(chosen) ? chosen : start;
}

function createStrip(root) {
  const name = h("p", { class: "strip-title", id: "title" });
  const box = h("div", {
    class: "chips",
    "aria-labelledby": "title",
    onclick,
    onkeydown,
    onfocusin,
    onfocusout,
    onpointerover,
    onpointerleave,
  });
  const range = h("input", {
    type: "range",
    min: 0,
    step: 1,
    "aria-label": "Move the window over the text",
    oninput: () => turn(Number(range.value)),
  });
  const place = h("span", { class: "place" });
  const jump = (label, sign, text) =>
    h("button", {
      type: "button",
      class: "plain arrow",
      "aria-label": label,
      onclick: () => turn(start + sign * count),
    }, text);
  const pager = h(
    "div",
    { class: "window", hidden: true },
    jump("Earlier", -1, "‹"),
    range,
    jump("Later", 1, "›"),
    place,
  );
  const el = h("section", { class: "hl", "aria-labelledby": "title" }, name, box, pager);
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {StripData} */
  let data = { title: "", picks: false, diverging: false, chips: [] };
  let send = (_) => {};
  let built = "";
  let [start, count, cursor, chosen] = [0, 0, -1, -1];

  const indexOf = (event) => Number(event.target.closest?.(".chip")?.dataset.i ?? -1);
  const nodeAt = (i) => /** @type {HTMLElement|null} */ (box.querySelector(`[data-i="${i}"]`));

  function onclick(event) {
    const i = indexOf(event);
    if (i < 0 || !data.picks) return;
    cursor = i;
    send(i);
  }
  function onkeydown(event) {
    const act = stripKey(event.key, indexOf(event), data.chips.length, box.dir === "rtl");
    if (!act || act.back || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    cursor = act.index;
    start = windowOn(cursor, start, count, data.chips.length);
    draw();
    nodeAt(cursor)?.focus();
  }
  function tell(i, x, y) {
    const chip = data.chips[i];
    if (!chip?.title) return tip.hide();
    tip.show([visible(chip.text), chip.title], x, y);
  }
  function onpointerover(event) {
    if (event.pointerType !== "touch") tell(indexOf(event), event.clientX, event.clientY);
  }
  function onpointerleave() {
    tip.hide();
  }
  function onfocusin(event) {
    if (!event.target.matches(":focus-visible")) return;
    const { left, bottom } = event.target.getBoundingClientRect();
    tell(indexOf(event), left - 14, bottom - 12);
  }
  function onfocusout() {
    tip.hide();
  }
  function turn(to) {
    start = clamp(to, 0, data.chips.length - count);
    draw();
  }

  function node(i) {
    const { text, glued, special, label } = data.chips[i];
    const open = Boolean(data.chips[i + 1]?.glued);
    const kinds = ["chip", glued && "joined", open && "open", special && "special", label && "labelled"].filter(Boolean)
      .join(" ");
    const shown = joinedForm(visible(text), Boolean(glued), open);
    const inside = h("span", { class: "text", dir: "auto" }, shown);
    const properties = data.picks ? { type: "button", tabindex: -1 } : { role: "listitem" };
    return h(
      data.picks ? "button" : "span",
      { ...properties, class: kinds, "data-i": i },
      inside,
      label ? h("small", {}, label) : null,
    );
  }
  function build() {
    const shown = data.chips.slice(start, start + count + 1).map((
      { text, glued, special, label },
    ) => [text, glued, special, label]);
    const key = JSON.stringify([start, count, data.picks, shown]);
    if (key === built) return;
    built = key;
    setAttribute(box, "role", data.picks ? "group" : "list");
    box.classList.toggle("long", data.chips.length > LONG);
    box.dir = isRtl(data.chips.slice(0, 400).map((chip) => (chip.special ? "" : chip.text)).join(" ")) ? "rtl" : "ltr";
    box.replaceChildren(...Array.from({ length: count }, (_, k) => node(start + k)));
  }
  function colour() {
    const theme = readTheme(el);
    const stop = stopOf(data.chips, cursor, start, count);
    for (const chipNode of box.children) {
      const i = Number(chipNode.dataset.i);
      const chip = data.chips[i];
      const rgb = shadeOf(chip, data.diverging, theme);
      chipNode.style.backgroundColor = rgb ? css(rgb) : "";
      chipNode.style.color = rgb ? inkOn(rgb) : "";
      chipNode.classList.toggle("focus", chip.mark === "chosen");
      for (const mark of ["target", "masked", "removed"]) chipNode.classList.toggle(mark, chip.mark === mark);
      setAttribute(chipNode, "aria-label", spoken(chip));
      if (!data.picks) continue;
      setAttribute(chipNode, "aria-pressed", chip.mark === "chosen");
      chipNode.tabIndex = i === stop ? 0 : -1;
    }
  }
  function reveal() {
    const at = data.chips.findIndex((chip) => chip.mark === "chosen");
    const chipNode = nodeAt(at);
    if (at === chosen || !chipNode) return;
    chosen = at;
    const [top, bottom] = [chipNode.offsetTop, chipNode.offsetTop + chipNode.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  }
  function draw() {
    const length = data.chips.length;
    count = shownAtOnce(length, el.clientWidth);
    start = clamp(start, 0, length - count);
    setText(name, data.title);
    build();
    colour();
    pager.hidden = count >= length;
    range.max = String(length - count);
    range.value = String(start);
    setText(place, `${start + 1}–${start + count} of ${length.toLocaleString("en")}`);
  }
  /** @param {StripData} given @param {(index: number) => void} report */
  function update(given, report) {
    const same = given.chips.length === data.chips.length &&
      given.chips.every((chip, i) => chip.text === data.chips[i].text);
    if (!same) [start, cursor, chosen] = [0, -1, -1];
    data = given;
    send = report;
    count = shownAtOnce(data.chips.length, el.clientWidth);
    const at = data.chips.findIndex((chip) => chip.mark === "chosen");
    if (at !== chosen && at >= 0) start = windowOn(at, start, count, data.chips.length);
    tip.hide();
    draw();
    reveal();
  }
  const watch = new ResizeObserver(() => {
    if (el.clientWidth) draw();
  });
  watch.observe(el);
  return { update, close: () => watch.disconnect() };
}

/** @type {WeakMap<object, ReturnType<typeof createStrip>>} */
const strips = new WeakMap();

/**
 * Streamlit calls this at the mount and again at every change of the data or the theme, with the same parent.
 * @param {{data: StripData, parentElement: Element|ShadowRoot, setTriggerValue: (name: string, value: unknown) => void}} component
 */
export default function strip({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#strip") ?? parentElement;
  const view = strips.get(root) ?? createStrip(root);
  strips.set(root, view);
  view.update(data, (index) => setTriggerValue("picked", index));
  return () => {
    view.close();
    strips.delete(root);
  };
}
