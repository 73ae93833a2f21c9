// Patch geometry and weights by region: numbers only, without drawing or text.

import { clamp } from "../shared/colours.js";

/**
 * @typedef {object} PatchGrid attention/pictures.py, with its box as shares of the image's width and height
 * @property {number} rows
 * @property {number} columns
 * @property {number} start the token of the first patch
 * @property {[number, number, number, number]} box left, top, right, bottom
 */
/** @typedef {{row: number, column: number}} PatchPlace */
/** @typedef {ArrayLike<number>} Weights a number for each token */

/**
 * Return a token's patch, or null without one.
 * @param {PatchGrid} grid @param {number} token @returns {PatchPlace|null}
 */
export function patchOf(grid, token) {
  const at = token - grid.start;
  if (at < 0 || at >= grid.rows * grid.columns) return null;
  return { row: Math.floor(at / grid.columns), column: at % grid.columns };
}

/**
 * Return the token of the patch at a point, in shares of the image's size; null outside the model's input.
 * @param {PatchGrid} grid @param {number} x @param {number} y
 */
export function tokenUnder(grid, x, y) {
  const [left, top, right, bottom] = grid.box;
  const column = Math.floor(grid.columns * (x - left) / (right - left));
  const row = Math.floor(grid.rows * (y - top) / (bottom - top));
  if (column < 0 || row < 0 || column >= grid.columns || row >= grid.rows) return null;
  return grid.start + row * grid.columns + column;
}

/**
 * Return a patch's box, [left, top, width, height] as shares of the image's size.
 * @param {PatchGrid} grid @param {PatchPlace} at
 */
export function patchBox({ box: [left, top, right, bottom], rows, columns }, { row, column }) {
  const [wide, tall] = [(right - left) / columns, (bottom - top) / rows];
  return [left + column * wide, top + row * tall, wide, tall];
}

/** Return the token of the patch that a key leads to, or null for other keys. */
export function patchKey(/** @type {string} */ key, /** @type {number} */ token, /** @type {PatchGrid} */ grid) {
  const last = { row: grid.rows - 1, column: grid.columns - 1 };
  const at = patchOf(grid, token) ?? { row: Math.floor(last.row / 2), column: Math.floor(last.column / 2) };
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  const to = step
    ? { row: at.row + step[0], column: at.column + step[1] }
    : { Home: { ...at, column: 0 }, End: { ...at, column: last.column } }[key];
  if (!to) return null;
  return grid.start + clamp(to.row, 0, last.row) * grid.columns + clamp(to.column, 0, last.column);
}

/** Return the weights of the patches. @param {PatchGrid} grid @param {Weights} weights @returns {Weights} */
export function onPatches({ start, rows, columns }, weights) {
  return Array.prototype.slice.call(weights, start, start + rows * columns);
}

/**
 * Return the brightness of each patch, 0..255: the square root of its share of the largest.
 * @param {Weights} weights of patches
 */
export function brightness(weights) {
  let top = 0;
  for (let i = 0; i < weights.length; i++) top = Math.max(top, weights[i]);
  return Uint8ClampedArray.from(weights, (weight) => (top > 0 ? 255 * Math.sqrt(weight / top) : 0));
}

/** @param {Weights} weights */
export function total(weights) {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i];
  return sum;
}

/**
 * Return the sum of weights and the number of patches in each ninth of the image, three by three, row by row.
 * @param {PatchGrid} grid @param {Weights} weights of patches
 */
export function ninths({ rows, columns }, weights) {
  const found = Array.from({ length: 9 }, () => ({ sum: 0, patches: 0 }));
  for (let i = 0; i < weights.length; i++) {
    const down = Math.floor(3 * (Math.floor(i / columns) + 0.5) / rows);
    const along = Math.floor(3 * (i % columns + 0.5) / columns);
    const ninth = found[3 * down + along];
    ninth.sum += weights[i];
    ninth.patches += 1;
  }
  return found;
}

/** Return the index of the largest value. @param {number[]} values */
export const placeOfMost = (values) => values.indexOf(Math.max(...values));

/** Return the head under a point of the sheet of small maps, or -1. */
export function headUnder(/** @type {HeadSheet} */ sheet, /** @type {number} */ x, /** @type {number} */ y) {
  const column = Math.floor((x - sheet.left) / sheet.wide);
  const row = Math.floor((y - sheet.top) / sheet.tall);
  if (x < sheet.left || y < sheet.top || column >= sheet.heads || row >= sheet.layers) return -1;
  return row * sheet.heads + column;
}

/** @typedef {{left: number, top: number, wide: number, tall: number, layers: number, heads: number}} HeadSheet */

/**
 * Return the size of the small maps: all fit into width and height if possible, with a width from `least` to `most`.
 * @param {{layers: number, heads: number, rows: number, columns: number, width: number, height: number, least: number,
 * most: number}} of
 * @returns {HeadSheet}
 */
export function headSheet({ layers, heads, rows, columns, width, height, least, most }) {
  const [left, top] = [26, 18];
  const fits = Math.min((width - left) / heads, (height - top) / layers * columns / rows);
  const wide = Math.floor(clamp(fits, least, most));
  const tall = Math.round(clamp((wide - 4) * rows / columns, 12, 2 * most)) + 4;
  return { left, top, wide, tall, layers, heads };
}

/** Return the head that a key leads to, or null. */
export function headKey(/** @type {string} */ key, /** @type {number} */ id, /** @type {HeadSheet} */ sheet) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return null;
  const layer = clamp(Math.floor(id / sheet.heads) + step[0], 0, sheet.layers - 1);
  return layer * sheet.heads + clamp(id % sheet.heads + step[1], 0, sheet.heads - 1);
}

/**
 * Return false if a selection from the server echoes one that the visitor has replaced since, so that it is ignored.
 * `sent` has the selections whose echo is awaited, the oldest first; those that the echo settles are removed.
 * @template {Record<string, string|number>} Selected
 * @param {Selected[]} sent @param {Selected} selection
 */
export function isLatest(sent, selection) {
  const at = sent.findLastIndex((one) => Object.keys(one).every((name) => one[name] === selection[name]));
  sent.splice(0, at < 0 ? sent.length : at + 1);
  return sent.length === 0;
}
