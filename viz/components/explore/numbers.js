// Number formatting and pooling.

/** @import { Rows, Tile } from "./types.js" */

/** Replace the hyphen before a number by a minus sign. @param {string} digits */
export const minus = (digits) => digits.replace(/^-/, "−");

/** Format a weight with two decimals; small weights keep a significant digit instead of 0.00. @param {number} weight */
export function short(weight) {
  if (weight < 0) return `−${short(-weight)}`;
  if (weight > 0 && weight < 0.005) return weight < 0.0005 ? "<0.001" : weight.toFixed(3);
  return weight.toFixed(2);
}

/**
 * Return the end of a colour scale: the largest weight rounded up to a leading digit, tolerating a byte's rounding
 * error.
 * @param {number} largest
 */
export function niceTop(largest) {
  if (!(largest > 0)) return 1;
  const step = 10 ** Math.floor(Math.log10(Math.min(largest, 1)) + 1e-9);
  const parts = Math.ceil(largest / step - 0.05);
  return Math.min(1, Number((parts * step).toPrecision(2)));
}

/**
 * Return the first source cell of pooled cell i if `length` cells are pooled to `cells`; attention/view.py edges().
 * @param {number} i @param {number} length @param {number} cells
 */
export const edge = (i, length, cells) => Math.floor((i * length) / cells);

/** Return the pooled cell of source cell j. @param {number} j @param {number} length @param {number} cells */
export const pooledIndex = (j, length, cells) => Math.floor(((j + 1) * cells - 1) / length);

/**
 * Return a tile's value at a cell, and the size of the block of cells that it covers.
 * @param {Tile} tile @param {number} query @param {number} key
 */
export function tileAt(tile, query, key) {
  if (query < tile.q0 || query >= tile.q1 || key < tile.k0 || key >= tile.k1) return null;
  const [tall, wide] = [tile.q1 - tile.q0, tile.k1 - tile.k0];
  const r = pooledIndex(query - tile.q0, tall, tile.rows);
  const c = pooledIndex(key - tile.k0, wide, tile.cols);
  const rows = edge(r + 1, tall, tile.rows) - edge(r, tall, tile.rows);
  const cols = edge(c + 1, wide, tile.cols) - edge(c, wide, tile.cols);
  return { value: tile.data[r * tile.cols + c], rows, cols };
}

/** @param {Tile} tile */
export const isExact = (tile) => tile.rows === tile.q1 - tile.q0 && tile.cols === tile.k1 - tile.k0;

/**
 * Max-pool rows r0..r1 and columns c0..c1 of a row-major array to outRows × outCols; signed values are compared by
 * size, as in attention/view.py far_pool(). The output must not be larger than the window.
 * @param {ArrayLike<number>} data @param {number} cols @param {number[]} rows [r0, r1] @param {number[]} columns [c0,
 * c1]
 * @param {number} outRows @param {number} outCols
 */
export function poolMax(data, cols, [r0, r1], [c0, c1], outRows, outCols) {
  const out = new Float32Array(outRows * outCols);
  const [tall, wide] = [r1 - r0, c1 - c0];
  const place = Int32Array.from({ length: wide }, (_, c) => pooledIndex(c, wide, outCols));
  for (let r = 0; r < tall; r++) {
    const to = pooledIndex(r, tall, outRows) * outCols;
    const from = (r0 + r) * cols + c0;
    for (let c = 0; c < wide; c++) {
      const at = to + place[c];
      const [size, most] = [Math.abs(data[from + c]), Math.abs(out[at])];
      if (size > most || (size === most && data[from + c] > out[at])) out[at] = data[from + c];
    }
  }
  return out;
}

/**
 * Return a head's slice of an array (layer, head, token).
 * @param {Rows} rows @param {number} layer @param {number} head
 */
export const slice = (rows, layer, head) => {
  const start = (layer * rows.heads + head) * rows.count;
  return rows.data.subarray(start, start + rows.count);
};

/**
 * Return the index of the value of the largest size for which `allowed` holds, or -1.
 * @param {ArrayLike<number>} values @param {(index: number) => boolean} allowed
 * @param {(value: number) => number} size by default the absolute value
 */
export function argmax(values, allowed = () => true, size = Math.abs) {
  let best = -1;
  for (let i = 0; i < values.length; i++) {
    if (allowed(i) && (best < 0 || size(values[i]) > size(values[best]))) best = i;
  }
  return best;
}

/** Return each token's weight of the largest absolute value over all heads, (token,). @param {Rows} rows */
export function overAllHeads(rows) {
  const most = new Float32Array(rows.count);
  for (let at = 0, token = 0; at < rows.data.length; at++, token++) {
    if (token === rows.count) token = 0;
    if (Math.abs(rows.data[at]) > Math.abs(most[token])) most[token] = rows.data[at];
  }
  return most;
}
