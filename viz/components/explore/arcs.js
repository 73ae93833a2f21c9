// Lines from the word in question to the words that it attends to (or that attend to it), above the chips.

import { arcBetween, arcRoom, arcWidth, boxOf, drawArcs } from "../shared/arc_shapes.js";
import { s } from "../shared/svg.js";
import { enlargement, setAttribute } from "../shared/elements.js";
import { percent } from "../shared/texts.js";
import { fill } from "../shared/words.js";
import { quote } from "./cells.js";
import { short } from "./numbers.js";
import { ends } from "./selection.js";

/** @import { App, Selection } from "./types.js" */

const LEAST = 0.03; // weights under it have no line
const MOST = 12; // lines at most
const NAMED = 5; // words that the label for screen readers names

/**
 * Return the tokens with the largest weights, largest first.
 * @param {ArrayLike<number>} weights @param {number} [top] the weight of the widest line
 */
export const strongest = (weights, top = 1) =>
  Array.from(weights, (_, i) => i)
    .filter((i) => Math.abs(weights[i]) >= LEAST * top)
    .sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]))
    .slice(0, MOST);

/**
 * Create the drawing of the lines.
 * @param {App} app @param {(end: "focus"|"target", i: number) => HTMLElement|null} chipAt a visible chip
 */
export function createArcs(app, chipAt) {
  const el = /** @type {SVGSVGElement} */ (s("svg", { class: "arcs", role: "img" }));
  let drawn = "";
  let origin = ""; // the word and the head of the last drawing

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
    const room = arcRoom(el);
    const found = strongest(weights, top).flatMap((i) => {
      const chip = chipAt(answers, i);
      if (!chip) return [];
      return { i, weight: weights[i], box: chip === home ? mine : boxOf(chip, frame, scale) };
    });
    const furthest = Math.max(...found.map(({ box }) => Math.abs(box.left - mine.left)));
    return found.reverse().map(({ i, weight, box }) => {
      const width = arcWidth(weight, top);
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
      drawArcs(el, found, from !== origin);
      origin = from;
      setAttribute(el, "aria-label", label(shown, pivot));
    },
  };
}
