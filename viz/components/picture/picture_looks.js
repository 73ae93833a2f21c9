// Which patch is where, and what part of a look goes where: numbers only, no drawing and no words.

import { clamp } from "../shared/colours.js";

/**
 * @typedef {object} PatchGrid  attention/pictures.py, its box as shares of the picture's width and height
 * @property {number} rows
 * @property {number} columns
 * @property {number} start                           the token of the first patch
 * @property {[number, number, number, number]} box   left, top, right, bottom
 */
/** @typedef {{row: number, column: number}} PatchPlace */
/** @typedef {ArrayLike<number>} Weights one for each token */

/**
 * A token's patch, or null where it has none.
 * @param {PatchGrid} grid @param {number} token @returns {PatchPlace|null}
 */
export function patchOf(grid, token) {
  const at = token - grid.start;
  if (at < 0 || at >= grid.rows * grid.columns) return null;
  return { row: Math.floor(at / grid.columns), column: at % grid.columns };
}

/**
 * The token of the patch at a point, in shares of the picture's width and height; null outside of what was read.
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
 * A patch's part of the picture, [left, top, width, height] as shares.
 * @param {PatchGrid} grid @param {PatchPlace} at
 */
export function patchBox({ box: [left, top, right, bottom], rows, columns }, { row, column }) {
  const [wide, tall] = [(right - left) / columns, (bottom - top) / rows];
  return [left + column * wide, top + row * tall, wide, tall];
}

/** The patch that a key leads to from a patch, as a token; null for a key that leads nowhere. */
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

/** The weights of the patches alone. @param {PatchGrid} grid @param {Weights} weights @returns {Weights} */
export function onPatches({ start, rows, columns }, weights) {
  return Array.prototype.slice.call(weights, start, start + rows * columns);
}

/** How bright each patch is, 0..255: the root of its share of the largest. @param {Weights} weights of patches */
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
 * What falls on each ninth of the picture, three by three, row by row: the sum, and how many patches it has.
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

/** The place of the largest. @param {number[]} values */
export const placeOfMost = (values) => values.indexOf(Math.max(...values));

/** Where heads stand among small pictures of `cell` pixels, and which is under a point; -1 for none. */
export function headUnder(/** @type {HeadSheet} */ sheet, /** @type {number} */ x, /** @type {number} */ y) {
  const column = Math.floor((x - sheet.left) / sheet.wide);
  const row = Math.floor((y - sheet.top) / sheet.tall);
  if (x < sheet.left || y < sheet.top || column >= sheet.heads || row >= sheet.layers) return -1;
  return row * sheet.heads + column;
}

/** @typedef {{left: number, top: number, wide: number, tall: number, layers: number, heads: number}} HeadSheet */

/**
 * How large the small pictures are: so that all fit into width and height, but no less than `least` pixels wide, and no
 * more than `most`.
 * @param {{layers: number, heads: number, rows: number, columns: number, width: number, height: number, least: number,
 *   most: number}} of
 * @returns {HeadSheet}
 */
export function headSheet({ layers, heads, rows, columns, width, height, least, most }) {
  const [left, top] = [26, 18];
  const fits = Math.min((width - left) / heads, (height - top) / layers * columns / rows);
  const wide = Math.floor(clamp(fits, least, most));
  const tall = Math.round(clamp((wide - 4) * rows / columns, 12, 2 * most)) + 4;
  return { left, top, wide, tall, layers, heads };
}

/** The head that a key leads to among layers and heads, or null. */
export function headKey(/** @type {string} */ key, /** @type {number} */ id, /** @type {HeadSheet} */ sheet) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return null;
  const layer = clamp(Math.floor(id / sheet.heads) + step[0], 0, sheet.layers - 1);
  return layer * sheet.heads + clamp(id % sheet.heads + step[1], 0, sheet.heads - 1);
}
