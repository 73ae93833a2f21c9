// Curves with an arrowhead between the words of a text, above its row of chips.

import { s } from "./svg.js";

/** @typedef {{left: number, top: number, width: number, height: number}} Box of a chip, in pixels of the strip */
/** @typedef {{path: string, tip: string}} Arc a curve, and its arrowhead at the key */
/** @typedef {Arc & {width: number, kind: string}} DrawnArc with its width in pixels and its CSS classes */

const WIDEST_ARC = 9; // px, the width of a line of weight 1

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

/** Return the width of a line in pixels. @param {number} weight @param {number} [top] the weight of the widest line */
export const arcWidth = (weight, top = 1) => px(1 + (WIDEST_ARC - 1) * Math.abs(weight) / top);

/** Return the height above a line of text in pixels, from the style sheet. @param {Element} el */
export const arcRoom = (el) => Number.parseFloat(getComputedStyle(el).getPropertyValue("--arc-room")) || 20;

/**
 * Return a chip's box in pixels of the drawing, whose rectangle is ``frame``.
 * @param {HTMLElement} chip @param {DOMRect} frame @param {number} scale of the page @returns {Box}
 */
export function boxOf(chip, frame, scale) {
  const box = chip.getBoundingClientRect();
  return {
    left: (box.left - frame.left) / scale,
    top: (box.top - frame.top) / scale,
    width: box.width / scale,
    height: box.height / scale,
  };
}

/**
 * Replace the lines of a drawing.
 * @param {SVGSVGElement} el @param {DrawnArc[]} arcs @param {boolean} arriving whether the lines fade in
 */
export function drawArcs(el, arcs, arriving) {
  const group = s("g", { class: arriving ? "new" : "" });
  for (const { path, tip, width, kind } of arcs) {
    group.append(
      s("path", { class: kind, d: path, "stroke-width": width }),
      s("path", { class: `${kind} tip`, d: tip }),
    );
  }
  el.replaceChildren(group);
}
