// Lines from the word in question to the words that it attends to (or that attend to it), above the chips.

import { s } from "../shared/svg.js";
import { enlargement, setAttribute } from "../shared/elements.js";
import { fill } from "../shared/words.js";
import { quote } from "./cells.js";
import { percent, short } from "./numbers.js";
import { ends } from "./selection.js";

/** @import { App, Selection } from "./types.js" */

/** @typedef {{left: number, top: number, width: number, height: number}} Box of a chip, in pixels of the strip */
/** @typedef {{path: string, tip: string}} Arc a curve, and its arrowhead at the key */

const LEAST = 0.03; // weights under it have no line
const MOST = 12; // lines at most
const NAMED = 5; // words that the label for screen readers names
const WIDEST = 9; // px, the width of a line of weight 1

/**
 * Return the tokens with the largest weights, largest first.
 * @param {ArrayLike<number>} weights @param {number} [top] the weight of the widest line
 */
export const strongest = (weights, top = 1) =>
  Array.from(weights, (_, i) => i)
    .filter((i) => Math.abs(weights[i]) >= LEAST * top)
    .sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]))
    .slice(0, MOST);

/** @param {number} x */
const px = (x) => Math.round(x * 10) / 10;

/**
 * Return a curve from a query's chip to a key's chip: over the words of a line, or through the gap between two lines.
 * @param {Box} query @param {Box} key @param {number} room height above a line @param {number} furthest the longest
 * distance in a line @param {number} width of the curve @returns {Arc}
 */
export function arcBetween(query, key, room, furthest, width) {
  const [from, to] = [query.left + query.width / 2, key.left + key.width / 2];
  const [half, high] = [3 + width / 2, 5 + width / 2]; // the arrowhead
  if (query === key) {
    const [y, up] = [query.top, room * 0.8];
    return {
      path: `M${px(from - 7)} ${px(y)}C${px(from - 16)} ${px(y - up)} ${px(from + 16)} ${px(y - up)} ${px(from + 7)} ${
        px(y - high)
      }`,
      tip: arrowhead(from + 7, y, half, -high),
    };
  }
  if (Math.abs(query.top - key.top) < Math.min(query.height, key.height) / 2) {
    const up = room * (0.4 + 0.6 * Math.sqrt(Math.abs(to - from) / Math.max(1, furthest))) * 4 / 3;
    return {
      path: `M${px(from)} ${px(query.top)}C${px(from)} ${px(query.top - up)} ${px(to)} ${px(key.top - up)} ${px(to)} ${
        px(key.top - high)
      }`,
      tip: arrowhead(to, key.top, half, -high),
    };
  }
  const down = query.top < key.top;
  const [start, end] = down ? [query.top + query.height, key.top] : [query.top, key.top + key.height];
  const base = down ? end - high : end + high;
  const middle = (start + base) / 2;
  return {
    path: `M${px(from)} ${px(start)}C${px(from)} ${px(middle)} ${px(to)} ${px(middle)} ${px(to)} ${px(base)}`,
    tip: arrowhead(to, end, half, down ? -high : high),
  };
}

/**
 * Return a triangle with its tip at (x, y).
 * @param {number} x @param {number} y @param {number} half @param {number} high
 */
const arrowhead = (x, y, half, high) =>
  `M${px(x)} ${px(y)}L${px(x - half)} ${px(y + high)}L${px(x + half)} ${px(y + high)}Z`;

/**
 * Create the drawing of the lines.
 * @param {App} app @param {(end: "focus"|"target", i: number) => HTMLElement|null} chipAt a visible chip
 */
export function createArcs(app, chipAt) {
  const el = /** @type {SVGSVGElement} */ (s("svg", { class: "arcs", role: "img" }));
  let drawn = "";
  let origin = ""; // the word and the head of the last drawing

  /** @param {HTMLElement} chip @param {DOMRect} frame @param {number} scale @returns {Box} */
  function boxOf(chip, frame, scale) {
    const box = chip.getBoundingClientRect();
    return {
      left: (box.left - frame.left) / scale,
      top: (box.top - frame.top) / scale,
      width: box.width / scale,
      height: box.height / scale,
    };
  }
  /** Return the lines as data: their curves, widths and kinds. @param {Selection} shown @param {number} pivot */
  function lines(shown, pivot) {
    const weights = app.weights();
    const [asked, answers] = ends(shown);
    const home = chipAt(asked, pivot);
    if (!weights || !home) return [];
    const top = app.data.signed ? app.scaleTop() : 1;
    const partner = app.linkOf(shown)[answers];
    const [frame, scale] = [el.getBoundingClientRect(), enlargement(/** @type {HTMLElement} */ (el.parentNode))];
    const mine = boxOf(home, frame, scale);
    const room = Number.parseFloat(getComputedStyle(el).getPropertyValue("--arc-room")) || 20;
    const found = strongest(weights, top).flatMap((i) => {
      const chip = chipAt(answers, i);
      if (!chip) return [];
      return { i, weight: weights[i], box: chip === home ? mine : boxOf(chip, frame, scale) };
    });
    const furthest = Math.max(...found.map(({ box }) => Math.abs(box.left - mine.left)));
    return found.reverse().map(({ i, weight, box }) => {
      const width = px(1 + (WIDEST - 1) * Math.abs(weight) / top);
      const [query, key] = shown.facing === "out" ? [mine, box] : [box, mine];
      const kind = ["arc", i === partner ? "chosen" : "", weight < 0 ? "below" : ""].filter(Boolean).join(" ");
      return { ...arcBetween(query, key, room, furthest, width), width, kind };
    });
  }
  /** Describe the lines for screen readers. @param {Selection} shown @param {number} pivot */
  function label(shown, pivot) {
    const weights = app.weights();
    const [asked, answers] = ends(shown);
    const others = app.cellsOf(answers);
    const number = app.data.signed ? short : percent;
    const named = strongest(weights ?? [], app.data.signed ? app.scaleTop() : 1).slice(0, NAMED);
    return fill(shown.facing === "out" ? app.say.arcsFrom : app.say.arcsTo, {
      word: quote(app.cellsOf(asked), pivot),
      words: named.map((i) => `${quote(others, i)} ${number(weights?.[i] ?? 0)}`).join(", "),
    });
  }
  return {
    el,
    draw() {
      const shown = app.shown();
      const pivot = app.pivot();
      el.toggleAttribute("hidden", Boolean(app.data.quiet) || pivot === null);
      if (app.data.quiet || pivot === null) return;
      const found = lines(shown, pivot);
      const now = JSON.stringify([found, app.theme.name]);
      if (now === drawn) return;
      drawn = now;
      const from = JSON.stringify([app.stamp, shown.facing, pivot]);
      const group = s("g", { class: from === origin ? "" : "new" });
      origin = from;
      for (const { path, tip, width, kind } of found) {
        group.append(
          s("path", { class: kind, d: path, "stroke-width": width }),
          s("path", { class: `${kind} tip`, d: tip }),
        );
      }
      el.replaceChildren(group);
      setAttribute(el, "aria-label", label(shown, pivot));
    },
  };
}
