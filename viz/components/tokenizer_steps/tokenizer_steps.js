// The steps of tokenizers for a text: its characters on top, then a column of rows for each tokenizer.
//
// Meaning of each mark:
//   lit        the characters under the pointer or the focus, and every part made from them
//   outline    accent: the picked word. Dashes: not in the vocabulary. Pale: added by the template.
//   underline  kept whole before any other step, such as [MASK]
//   touching   subwords of a word
// Texts reach the page only through text nodes.

import { createTip, h, setAttribute } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { stripKey } from "../shared/moves.js";
import { isRtl, visible } from "../shared/texts.js";
import { _, sentence } from "../shared/words.js";

/**
 * @typedef {{text: string, place?: [number, number, number], word?: [number, number], mark?: string, joined?: boolean,
 * under?: string[], title?: string}} Rung
 */
/** @typedef {{name: string, note: string, text: string|null, rungs: Rung[]}} Row */
/**
 * @typedef {object} LadderData Made by viz/components/tokenizer_steps/tokenizer_steps.py.
 * @property {string} title
 * @property {string[]} texts the text, and the second text
 * @property {[number, number, number]|null} picked tokenizer, text, word
 * @property {{name: string, about: string, rows: Row[]}[]} ways
 * @property {Record<string, string>} [words]
 */

/** The name of each mark for screen readers. */
export const MARKS = {
  special: sentence("special token"),
  unknown: sentence("not in the vocabulary"),
  whole: sentence("taken whole"),
};

/** Return true if two places, [text, start, end], share a character. */
export function overlap(one, other) {
  return Boolean(one && other) && one[0] === other[0] && one[1] < other[2] && other[1] < one[2];
}

/**
 * Cut a text of `length` characters at every edge of the places in it, as [start, end] pairs.
 * @param {number} length @param {number[][]} places
 */
export function runs(length, places) {
  const edges = new Set([0, length]);
  for (const [, start, end] of places) {
    if (start <= length) edges.add(start);
    if (end <= length) edges.add(end);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => [sorted[i], end]);
}

/** Return a part's text for screen readers. @param {Rung} rung */
export function spoken(rung) {
  const mark = MARKS[rung.mark];
  return [visible(rung.text), rung.title, mark && _(mark)].filter(Boolean).join(", ");
}

/** Return the places of all parts in a text. @param {LadderData} data @param {number} side */
export function placesIn(data, side) {
  const rungs = data.ways.flatMap((way) => way.rows.flatMap((row) => row.rungs));
  return rungs.flatMap((rung) => (rung.place?.[0] === side ? [rung.place] : []));
}

function createLadder(root) {
  const el = h("section", {
    class: "hl ladder",
    onpointerover,
    onpointerleave: () => light(null),
    onfocusin,
    onfocusout: () => light(null),
    onclick,
    onkeydown,
  });
  root.replaceChildren(el);
  /** @type {LadderData} */
  let data = { title: "", texts: [], picked: null, ways: [] };
  let send = (_) => {};
  let built = "";
  let tip = createTip(el);
  /** @type {Map<HTMLElement, {place: number[]|undefined, rung: Rung|null}>} */
  const known = new Map();

  const nodeOf = (event) => event.target.closest?.("[data-lit]") ?? null;

  function light(node, x = 0, y = 0) {
    const place = node ? known.get(node)?.place : null;
    for (const [other, { place: its }] of known) other.classList.toggle("lit", other === node || overlap(place, its));
    const rung = node ? known.get(node)?.rung : null;
    if (rung?.title) tip.show([visible(rung.text), rung.title], x, y);
    else tip.hide();
  }
  function onpointerover(event) {
    light(nodeOf(event), event.clientX, event.clientY);
  }
  function onfocusin(event) {
    if (!event.target.matches(":focus-visible")) return;
    const { left, bottom } = event.target.getBoundingClientRect();
    light(nodeOf(event), left - 14, bottom - 12);
  }
  function onclick(event) {
    const node = nodeOf(event);
    const rung = node && known.get(node)?.rung;
    if (rung?.word) send([Number(node.dataset.way), ...rung.word]);
  }
  function onkeydown(event) {
    const row = event.target.closest?.(".chips");
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const parts = /** @type {HTMLElement[]} */ ([...row.children]);
    const act = stripKey(event.key, parts.indexOf(event.target), parts.length, row.dir === "rtl");
    if (!act) return;
    event.preventDefault();
    if (act.back) return event.target.blur();
    const next = parts[act.index ?? 0];
    for (const part of parts) part.tabIndex = part === next ? 0 : -1;
    next.focus();
  }

  function part(rung, way, first) {
    const kinds = ["chip", "rung", rung.joined && "joined", rung.mark].filter(Boolean).join(" ");
    const under = (rung.under ?? []).map((line) => h("small", {}, line));
    const properties = {
      type: "button",
      class: kinds,
      "data-lit": true,
      "data-way": way,
      tabindex: first ? 0 : -1,
      "aria-label": spoken(rung),
    };
    const node = h("button", properties, h("span", { class: "text", dir: "auto" }, visible(rung.text)), ...under);
    known.set(node, { place: rung.place, rung });
    return node;
  }
  function row({ name, note, text, rungs }, way) {
    const heading = h("h3", {}, name);
    const said = note ? h("p", { class: "muted" }, note) : null;
    if (text !== null) {
      return h("div", { class: "step" }, heading, said, h("p", { class: "outcome", dir: "auto" }, text));
    }
    const rtl = isRtl(rungs.slice(0, 400).map((rung) => (rung.mark === "special" ? "" : rung.text)).join(" "));
    const parts = h(
      "div",
      { class: "chips", role: "group", "aria-label": name, dir: rtl ? "rtl" : "ltr" },
      ...rungs.map((rung, i) => part(rung, way, i === 0)),
    );
    return h("div", { class: "step" }, heading, said, parts);
  }
  function characters(text, side) {
    const letters = [...text];
    const made = runs(letters.length, placesIn(data, side)).map(([start, end]) => {
      const node = h("span", { "data-lit": true }, letters.slice(start, end).join(""));
      known.set(node, { place: [side, start, end], rung: null });
      return node;
    });
    return h("p", { class: "characters", dir: "auto" }, ...made);
  }
  function build() {
    const key = JSON.stringify({ ...data, picked: null });
    if (key === built) return;
    built = key;
    known.clear();
    const ways = data.ways.map((way, at) =>
      h(
        "div",
        { class: "way" },
        h("h2", {}, way.name),
        h("p", { class: "muted" }, way.about),
        ...way.rows.map((one) => row(one, at)),
      )
    );
    const top = data.texts.map(characters);
    el.replaceChildren(h("h2", {}, data.title), ...top, h("div", { class: "ways" }, ...ways));
    tip = createTip(el);
  }
  function mark() {
    for (const [node, { rung }] of known) {
      if (!rung) continue;
      const [way, ...word] = data.picked ?? [-1];
      const chosen = Number(node.dataset.way) === way && rung.word?.join() === word.join();
      node.classList.toggle("focus", chosen);
      setAttribute(node, "aria-pressed", chosen);
    }
  }
  /** @param {LadderData} given @param {(place: number[]) => void} report */
  function update(given, report) {
    data = given;
    send = report;
    build();
    mark();
  }
  return { update };
}

export default mounting("ladder", createLadder);
