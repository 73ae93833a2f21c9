// The viewport of the matrix: {scale: pixels per cell, q, k: the cell at the upper left corner, fractions allowed}.

import { clamp } from "../shared/colours.js";
import { ARROWS, cellKey } from "../shared/moves.js";
import { TILE } from "./source.js";

/** @import { Range, Size, Viewport } from "./types.js" */

const LARGEST_CELL = 64; // px

/**
 * Return the view that shows a whole range in an area.
 * @param {Range} range @param {Size} area @returns {Viewport}
 */
export function fitView(range, area, most = LARGEST_CELL) {
  const scale = Math.min(area.w / Math.max(1, range.k1 - range.k0), area.h / Math.max(1, range.q1 - range.q0), most);
  return { scale: scale >= 4 ? Math.floor(scale * 2) / 2 : scale, q: range.q0, k: range.k0 };
}

/** Move a view back inside its range. @param {Viewport} view @param {Range} range @param {Size} area */
export function clampView(view, range, area) {
  const least = fitView(range, area).scale;
  const scale = clamp(view.scale, least, Math.max(least, LARGEST_CELL));
  return {
    scale,
    q: clamp(view.q, range.q0, Math.max(range.q0, range.q1 - area.h / scale)),
    k: clamp(view.k, range.k0, Math.max(range.k0, range.k1 - area.w / scale)),
  };
}

/**
 * Zoom by a factor; the point (x, y) of the area keeps its place.
 * @param {Viewport} view @param {Range} range @param {Size} area @param {number} factor @param {number} x @param
 * {number} y
 */
export function zoomAt(view, range, area, factor, x, y) {
  const least = fitView(range, area).scale;
  const scale = clamp(view.scale * factor, least, Math.max(least, LARGEST_CELL));
  return clampView(
    { scale, q: view.q + y / view.scale - y / scale, k: view.k + x / view.scale - x / scale },
    range,
    area,
  );
}

/**
 * Return the whole cells that a view shows.
 * @param {Viewport} view @param {Range} range @param {Size} area @returns {Range}
 */
export function shownCells(view, range, area) {
  return {
    q0: Math.max(range.q0, Math.floor(view.q)),
    q1: Math.min(range.q1, Math.ceil(view.q + area.h / view.scale - 1e-6)),
    k0: Math.max(range.k0, Math.floor(view.k)),
    k1: Math.min(range.k1, Math.ceil(view.k + area.w / view.scale - 1e-6)),
  };
}

/**
 * Return the tile to fetch: the whole range if it fits, else a window a little larger than the visible cells, aligned
 * so that panning finds the same tiles again.
 * @param {Range} shown @param {Range} range @returns {Range}
 */
export function tileWindow(shown, range, size = TILE) {
  const fits = (r) => r.q1 - r.q0 <= size && r.k1 - r.k0 <= size;
  if (fits(range)) return { ...range };
  const span = Math.max(shown.q1 - shown.q0, shown.k1 - shown.k0);
  const block = 2 ** Math.max(0, Math.ceil(Math.log2(span / (size - 64))));
  const [start, end] = [
    (at, low) => Math.max(low, Math.floor(at / (block * 32)) * block * 32),
    (at, high) => Math.min(high, Math.ceil(at / (block * 32)) * block * 32),
  ];
  return {
    q0: start(shown.q0, range.q0),
    q1: end(shown.q1, range.q1),
    k0: start(shown.k0, range.k0),
    k1: end(shown.k1, range.k1),
  };
}

/**
 * Return the action of a key in the matrix, or null.
 * @param {string} key @param {boolean} shift @param {{row: number, col: number}} at @param {Range} range
 * @returns {{row?: number, col?: number, zoom?: number, fit?: true, pan?: number[], keep?: true, back?: true}|null}
 */
export function matrixKey(key, shift, { row, col }, range) {
  if (ARROWS[key] && shift) return { pan: ARROWS[key] };
  const to = cellKey(key, { row, col }, range);
  if (to) return to;
  if (key === "+" || key === "=") return { zoom: 1.5 };
  if (key === "-" || key === "_") return { zoom: 1 / 1.5 };
  if (key === "0") return { fit: true };
  if (key === "Enter" || key === " ") return { keep: true };
  return key === "Escape" ? { back: true } : null;
}
