// Weights as small pictures, a pixel for each cell.

import { meaningOf } from "../shared/frames.js";
import { edge, poolMax } from "./numbers.js";

/** @import { Grid, Tile } from "./types.js" */

/**
 * Draw levels (0..255, row-major) on a small canvas.
 * @param {ArrayLike<number>} levels @param {number} rows @param {number} cols @param {Uint32Array} palette
 */
export function levelCanvas(levels, rows, cols, palette) {
  const canvas = document.createElement("canvas");
  canvas.width = cols;
  canvas.height = rows;
  const image = new ImageData(cols, rows);
  const out = new Uint32Array(image.data.buffer);
  for (let i = 0; i < out.length; i++) out[i] = palette[levels[i]];
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Return a head's thumbnail as a (pooled) tile.
 * @param {Grid} grid @param {number} layer @param {number} head @param {number} queries @param {number} keys @returns
 * {Tile}
 */
export function thumbTile(grid, layer, head, queries, keys) {
  const size = grid.rows * grid.cols;
  const start = (layer * grid.heads + head) * size;
  const data = Float32Array.from(grid.data.subarray(start, start + size), meaningOf(grid.data));
  return { q0: 0, q1: queries, k0: 0, k1: keys, rows: grid.rows, cols: grid.cols, data };
}

/** Return the index of zero among the 256 colours. @param {Uint8Array|Int8Array} bytes */
export const zeroOf = (bytes) => (bytes instanceof Int8Array ? 128 : 0);

/**
 * Draw a thumbnail into pixels, max-pooled if it has more cells than pixels, else enlarged. Signed bytes have zero in
 * the palette's middle.
 * @param {Uint32Array} out @param {number} stride @param {Grid} grid @param {number} id @param {number} x @param
 * {number} y
 * @param {number} size @param {Uint32Array} palette
 */
export function smallMap(out, stride, grid, id, x, y, size, palette) {
  const cells = grid.rows * grid.cols;
  let map = grid.data.subarray(id * cells, (id + 1) * cells);
  const [rows, cols] = [Math.min(grid.rows, size), Math.min(grid.cols, size)];
  if (rows < grid.rows || cols < grid.cols) {
    const pooled = poolMax(map, grid.cols, [0, grid.rows], [0, grid.cols], rows, cols);
    map = map instanceof Int8Array ? Int8Array.from(pooled) : Uint8Array.from(pooled);
  }
  const zero = zeroOf(map);
  const column = Int32Array.from({ length: size }, (_, px) => edge(px, cols, size));
  for (let py = 0; py < size; py++) {
    const from = edge(py, rows, size) * cols;
    const to = (y + py) * stride + x;
    for (let px = 0; px < size; px++) out[to + px] = palette[zero + map[from + column[px]]];
  }
}

/** @type {WeakMap<Grid, Map<number, Tile>>} */
const thumbs = new WeakMap();

/**
 * Return a head's thumbnail as a tile, cached for each grid.
 * @param {Grid} grid @param {number} layer @param {number} head @param {number} queries @param {number} keys @returns
 * {Tile}
 */
export function thumbOf(grid, layer, head, queries, keys) {
  const known = thumbs.get(grid) ?? new Map();
  thumbs.set(grid, known);
  const id = layer * grid.heads + head;
  const tile = known.get(id) ?? thumbTile(grid, layer, head, queries, keys);
  known.set(id, tile);
  return tile;
}
