// The legend: the colour ramp with the weights at its ends and middle. Signed maps have zero in the middle.

import { colourAt, css } from "../shared/colours.js";
import { minus } from "./numbers.js";

/** @import { Pen, Scale, Theme, Words } from "./types.js" */

/** Names of the colour scales. @type {Record<Scale, keyof Words>} */
export const LEGENDS = { sqrt: "sqrtScale", linear: "linearScale" };

/**
 * @param {Pen} pen
 * @param {{theme: Theme, x: number, y: number, w: number, top: number, scale: Scale, name: string}} legend
 */
export function drawLegend(pen, { theme, x, y, w, top, scale, name }) {
  const steps = 64;
  for (let i = 0; i < steps; i++) {
    pen.rect(x + (i * w) / steps, y, w / steps + 0.3, 10, {
      fill: css(colourAt(theme.ramp, Math.round((i * 255) / (steps - 1)))),
    });
  }
  pen.rect(x, y, w, 10, { stroke: theme.hair });
  const weight = (/** @type {number} */ share) => (scale === "sqrt" ? share * share : share) * top;
  const at = (/** @type {number} */ share) => (theme.signed ? (2 * share - 1) * top : weight(share));
  for (const share of [0, 0.5, 1]) {
    pen.text(minus(String(Number(at(share).toPrecision(2)))), x + share * w, y + 20, {
      size: 11,
      fill: theme.muted,
      align: share === 0 ? "left" : share === 1 ? "right" : "center",
    });
  }
  pen.text(name, x + w + 10, y + 5, { size: 11, fill: theme.muted });
}
