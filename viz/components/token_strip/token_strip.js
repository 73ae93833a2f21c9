// A text as a row of chips.
//
// Meaning of each mark:
//   shade      the chip's number, from none (no shade) to most; on a diverging strip blue is below
//              zero and orange above.
//   outline    accent: the chosen chip; accent dashes: the target. Hatched: masked. Struck out: removed.
//   line below straight: a correctly found entity; dashed: a missed entity; waves: a wrong prediction.
//   pale       a special token. Chips that touch are subwords of a word; each but the first follows a pale ##.
//   [UNK]      under a chip: the token that replaces a text outside the vocabulary.
// Texts reach the page only through text nodes.

import { arcBetween, arcRoom, arcWidth, boxOf, drawArcs } from "../shared/arc_shapes.js";
import { clamp, colourAt, level, levelAround, readTheme } from "../shared/colours.js";
import { createTip, enlargement, h, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { windowOn } from "../shared/moves.js";
import { s } from "../shared/svg.js";
import { visible } from "../shared/texts.js";
import { _, sentence } from "../shared/words.js";
import { createChipRow, shownAtOnce } from "./chips.js";

/** @typedef {""|"chosen"|"target"|"masked"|"removed"|"right"|"missed"|"wrong"} Mark */
/**
 * @typedef {object} Chip
 * @property {string} text
 * @property {number} [shade]
 * @property {Mark} [mark]
 * @property {boolean} [glued]
 * @property {boolean} [special]
 * @property {string} [title]
 * @property {string} [label]
 * @property {string} [unknown] the token that replaces an unknown text
 */
/** @typedef {{query: number, key: number, weight: number, chosen: boolean}} StripLine a line between two chips */
/**
 * @typedef {object} StripData Made by viz/components/token_strip/token_strip.py.
 * @property {string} title
 * @property {boolean} picks whether chips can be picked
 * @property {boolean} diverging whether shades run from -1 to 1, else from 0 to 1
 * @property {Chip[]} chips
 * @property {StripLine[]} [lines] drawn above the chips, which are then larger
 * @property {string} [caption] describes the lines to screen readers
 * @property {Record<string, string>} [words]
 */

/** The name of each mark for screen readers, and its CSS class. */
export const MARKS = {
  chosen: { said: sentence("chosen"), shown: "focus" },
  target: { said: sentence("Target"), shown: "target" },
  masked: { said: sentence("masked"), shown: "masked" },
  removed: { said: sentence("removed"), shown: "removed" },
  right: { said: sentence("correct"), shown: "right" },
  missed: { said: sentence("missed"), shown: "missed" },
  wrong: { said: sentence("wrong"), shown: "wrong" },
};

/** @param {Chip} chip */
const markOf = (chip) => (chip.mark ? MARKS[chip.mark] : undefined);

/** Return a chip's text for screen readers. @param {Chip} chip */
export function spoken(chip) {
  const title = chip.title && chip.title !== chip.label ? chip.title : "";
  const [read, mark] = [chip.unknown && _("read as {piece}", { piece: chip.unknown }), markOf(chip)?.said];
  return [visible(chip.text), read, chip.label, title, mark && _(mark)].filter(Boolean).join(", ");
}

/**
 * Return the colour behind a chip, or null.
 * @param {Chip} chip @param {boolean} diverging @param {{ramp: Uint8ClampedArray, diverging: Uint8ClampedArray}} theme
 */
export function shadeOf(chip, diverging, theme) {
  if (!chip.shade) return null;
  return diverging
    ? colourAt(theme.diverging, levelAround(chip.shade, 1))
    : colourAt(theme.ramp, level(chip.shade, 1, "linear"));
}

/**
 * Return the chip that Tab reaches: under the cursor, else the chosen chip, else the first visible chip.
 * @param {Chip[]} chips @param {number} cursor @param {number} start @param {number} count
 */
export function stopOf(chips, cursor, start, count) {
  const inside = (/** @type {number} */ i) => i >= start && i < start + count;
  const chosen = chips.findIndex((chip) => chip.mark === "chosen");
  return inside(cursor) ? cursor : inside(chosen) ? chosen : start;
}

/** @param {Element|ShadowRoot} root */
function createStrip(root) {
  const name = h("p", { class: "strip-title" });
  const row = createChipRow({
    onpick(i) {
      cursor = i;
      send(i);
    },
    onpoint: tell,
    onleave: () => tip.hide(),
    onreach(i) {
      cursor = i;
      start = windowOn(i, start, count, data.chips.length);
      draw();
    },
  });
  const range = h("input", {
    type: "range",
    min: 0,
    step: 1,
    "aria-label": _("Move the window over the text"),
    oninput: () => turn(Number(range.value)),
  });
  const place = h("span", { class: "place" });
  /** @param {string} label @param {number} sign @param {string} text */
  const jump = (label, sign, text) => {
    const onclick = () => turn(start + sign * count);
    return h("button", { type: "button", class: "plain arrow", "aria-label": label, onclick }, text);
  };
  const pager = h(
    "div",
    { class: "window", hidden: true },
    jump(_("Earlier tokens"), -1, "‹"),
    range,
    jump(_("Later tokens"), 1, "›"),
    place,
  );
  const arcs = /** @type {SVGSVGElement} */ (s("svg", { class: "arcs", role: "img" }));
  const words = h("div", {}, arcs, row.el);
  const large = h("div", {}, words);
  const el = h("section", { class: "hl" }, name, large, pager);
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {StripData} */
  let data = { title: "", picks: false, diverging: false, chips: [] };
  let origin = ""; // the query and the words of the last lines
  /** @type {(index: number) => void} */
  let send = () => {};
  let [start, count, cursor, chosen] = [0, 0, -1, -1];

  /** @param {number} i @param {number} x @param {number} y */
  function tell(i, x, y) {
    const chip = data.chips[i];
    if (!chip?.title) return tip.hide();
    tip.show([visible(chip.text), chip.title], x, y);
  }
  /** @param {number} to */
  function turn(to) {
    start = clamp(to, 0, data.chips.length - count);
    draw();
  }
  /** Draw the lines between visible chips, the chosen lines on top. */
  function drawLines() {
    const lines = data.lines ?? [];
    el.classList.toggle("titled", !data.lines);
    words.className = data.lines ? "sentence" : "";
    large.className = data.lines ? "large" : "";
    arcs.toggleAttribute("hidden", !data.lines);
    setAttribute(arcs, "aria-label", data.caption ?? "");
    const [frame, scale] = [arcs.getBoundingClientRect(), enlargement(words)];
    const found = lines.flatMap(({ query, key, weight, chosen }) => {
      const [from, to] = [row.visibleChip(query), row.visibleChip(key)];
      return from && to ? [{ from: boxOf(from, frame, scale), to: boxOf(to, frame, scale), weight, chosen }] : [];
    });
    const furthest = Math.max(...found.map(({ from, to }) => Math.abs(to.left - from.left)));
    const now = JSON.stringify([data.chips.map(({ text }) => text), lines.map(({ query }) => query)]);
    drawArcs(
      arcs,
      found.sort((a, b) => Number(a.chosen) - Number(b.chosen)).map(({ from, to, weight, chosen }) => {
        const width = arcWidth(weight);
        const arc = arcBetween(from, to, arcRoom(arcs), furthest, width);
        return { ...arc, width, kind: chosen ? "arc chosen" : "arc" };
      }),
      now !== origin,
    );
    origin = now;
  }
  function draw() {
    const { title, chips, picks, diverging } = data;
    const theme = readTheme(el);
    count = shownAtOnce(chips.length, el.clientWidth);
    start = clamp(start, 0, chips.length - count);
    setText(name, title);
    setAttribute(el, "aria-label", title);
    row.draw({
      key: JSON.stringify(
        chips.slice(start, start + count + 1).map((
          chip,
        ) => [chip.text, chip.glued, chip.special, chip.label, chip.unknown]),
      ),
      label: title,
      length: chips.length,
      start,
      count,
      picks,
      stop: stopOf(chips, cursor, start, count),
      chip: (i) => chips[i],
      look: (i) => ({
        rgb: shadeOf(chips[i], diverging, theme),
        marks: [markOf(chips[i])?.shown ?? ""],
        pressed: chips[i].mark === "chosen",
        name: spoken(chips[i]),
      }),
    });
    pager.hidden = count >= chips.length;
    range.max = String(chips.length - count);
    range.value = String(start);
    const span = { from: start + 1, to: start + count, count: chips.length.toLocaleString("en") };
    setText(place, _("{from}–{to} of {count}", span));
    drawLines();
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
    if (at === chosen || at < 0) return;
    chosen = at;
    row.reveal(at);
  }
  const watch = new ResizeObserver(() => {
    if (el.clientWidth) draw();
  });
  watch.observe(el);
  return { update, close: () => watch.disconnect() };
}

export default mounting("strip", createStrip);
