// The tiles that a figure of a head requests: the matrix shows the thumbnail first, the lines show exact weights only.

import { clamp } from "../shared/colours.js";
import { thumbOf } from "./raster.js";
import { THUMB, TILE } from "./source.js";
import { shownCells, tileWindow } from "./viewport.js";

/** @import { App, Area, Head, Range, Tile, Viewport } from "./types.js" */

/**
 * Return the available tiles of the chosen head's matrix, coarse first; request those that are missing.
 * @param {App} app @param {{range: Range, area: Area, view: Viewport}} frame position of the map @param {number} ratio
 * device pixels per unit
 */
export function matrixTiles(app, { range, area, view }, ratio) {
  const { layer, head } = app.shown();
  const [rows, cols] = [app.data.queries.length, app.keys().length];
  const grid = app.feed.peek("grid", THUMB);
  /** @type {Tile[]} */
  const list = grid ? [thumbOf(grid, layer, head, rows, cols)] : [];
  // a hover requests small maps only
  const ask = app.previewsHead() && rows * cols > 16384 ? app.feed.peek : app.feed.get;
  if (rows <= TILE && cols <= TILE) {
    const whole = ask("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE });
    return whole ? [whole] : list;
  }
  const pixelsWide = Math.ceil((Math.max(area.w, area.h) * ratio) / 64) * 64;
  const overview = ask("tile", { layer, head, ...range, size: clamp(pixelsWide, 128, TILE) });
  if (overview) list.push(overview);
  const detail = tileWindow(shownCells(view, range, area), range);
  if (detail.q1 - detail.q0 < range.q1 - range.q0 || detail.k1 - detail.k0 < range.k1 - range.k0) {
    const tile = (app.still() ? ask : app.feed.peek)("tile", { layer, head, ...detail, size: TILE });
    if (tile) list.push(tile);
  }
  return list;
}

/**
 * Return the exact weights for a head's lines, or null while they are on their way: all weights of a short text, else
 * blocks of 64 around the windows.
 * @param {App} app @param {Head} head @param {number[]} left rows from and to @param {number[]} right columns
 */
export function linesTile(app, { layer, head }, left, right) {
  const [rows, cols] = [app.data.queries.length, app.keys().length];
  const short = rows <= 128 && cols <= 128;
  /** @param {number[]} window @param {number} count */
  const block = ([from, to], count) =>
    short ? [0, count] : [Math.floor(from / 64) * 64, Math.min(count, Math.ceil(to / 64) * 64)];
  const [[q0, q1], [k0, k1]] = [block(left, rows), block(right, cols)];
  const whole = { q0: 0, q1: rows, k0: 0, k1: cols };
  return (rows <= TILE && cols <= TILE && app.feed.peek("tile", { layer, head, ...whole, size: TILE })) ||
    (app.still() ? app.feed.get : app.feed.peek)("tile", { layer, head, q0, q1, k0, k1, size: TILE });
}
