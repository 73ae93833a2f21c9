// Layout of the grid of heads, hit testing, and keyboard navigation.

import { clamp } from "../shared/colours.js";

/** @import { GridLayout } from "./types.js" */

/**
 * Lay the thumbnails out, layers downwards, heads to the right. If a row of heads would need cells smaller than
 * `least`, a layer takes several lines; if the layers do not fit, they are paged.
 * @param {{width: number, height: number, layers: number, heads: number, least: number, most?: number, left?: number,
 * top?: number, page?: number}} frame
 */
export function gridLayout({ width, height, layers, heads, least, most = 56, left = 26, top = 18, page = 0 }) {
  const room = Math.max(width - left, least);
  let lines = 1;
  while (Math.floor(room / Math.ceil(heads / lines)) < least && lines < heads) lines++;
  const perLine = Math.ceil(heads / lines);
  const wide = Math.floor(room / perLine);
  let cell = Math.min(wide, most, Math.floor((height - top) / (layers * lines)));
  let perPage = layers;
  if (cell < least) {
    cell = clamp(wide, least, Math.max(least, 32));
    perPage = clamp(Math.floor((height - top) / (cell * lines)), 1, layers);
  }
  const pages = Math.ceil(layers / perPage);
  const at = clamp(page, 0, pages - 1);
  const shown = Math.min(perPage, layers - at * perPage);
  const gap = cell >= 24 ? 3 : cell >= 16 ? 2 : 1;
  return {
    cell,
    gap,
    left,
    top,
    lines,
    perLine,
    perPage,
    pages,
    page: at,
    firstLayer: at * perPage,
    shownLayers: shown,
    width: left + perLine * cell,
    height: top + shown * lines * cell,
    layers,
    heads,
  };
}

/**
 * Return heads (as layer * heads + head) sorted by a value per head, or in the model's order without values.
 * @param {number} count @param {ArrayLike<number>|null} values @param {boolean} [descending] the largest first
 */
export function orderHeads(count, values, descending = false) {
  const ids = Array.from({ length: count }, (_, id) => id);
  if (!values) return ids;
  const sign = descending ? -1 : 1;
  return ids.sort((a, b) => sign * (values[a] - values[b]) || a - b);
}

/**
 * Return (line, column) of a slot, the index of a head in the display order.
 * @param {GridLayout} layout @param {string} order @param {number} slot
 */
export function slotPlace(layout, order, slot) {
  if (order !== "layer") return [Math.floor(slot / layout.perLine), slot % layout.perLine];
  const [layer, head] = [Math.floor(slot / layout.heads), slot % layout.heads];
  return [layer * layout.lines + Math.floor(head / layout.perLine), head % layout.perLine];
}

/**
 * Return the slot at (line, column), or -1.
 * @param {GridLayout} layout @param {string} order @param {number} line @param {number} column
 */
export function slotAt(layout, order, line, column) {
  if (column < 0 || column >= layout.perLine || line < 0) return -1;
  if (order !== "layer") {
    const slot = line * layout.perLine + column;
    return slot < layout.layers * layout.heads ? slot : -1;
  }
  const [layer, head] = [Math.floor(line / layout.lines), (line % layout.lines) * layout.perLine + column];
  return layer < layout.layers && head < layout.heads ? layer * layout.heads + head : -1;
}

/**
 * Return the slot under a point of the canvas, or -1.
 * @param {GridLayout} layout @param {string} order @param {number} x @param {number} y
 */
export function slotUnder(layout, order, x, y) {
  const column = Math.floor((x - layout.left) / layout.cell);
  const line = Math.floor((y - layout.top) / layout.cell);
  if (y < layout.top || line >= layout.shownLayers * layout.lines) return -1;
  return slotAt(layout, order, line + layout.firstLayer * layout.lines, column);
}

/** Return the page of a slot. @param {GridLayout} layout @param {string} order @param {number} slot */
export function pageOf(layout, order, slot) {
  return Math.floor(slotPlace(layout, order, slot)[0] / (layout.perPage * layout.lines));
}

/**
 * Return the action of a key in the grid, or null.
 * @param {string} key @param {number} slot @param {GridLayout} layout @param {string} order
 * @returns {{slot?: number, keep?: true, back?: true}|null}
 */
export function gridKey(key, slot, layout, order) {
  if (key === "Enter" || key === " ") return { keep: true };
  if (key === "Escape") return { back: true };
  const [line, column] = slotPlace(layout, order, slot);
  const page = layout.perPage * layout.lines;
  /** @type {Record<string, [number, number]>} */
  const steps = {
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    PageUp: [-page, 0],
    PageDown: [page, 0],
  };
  if (key === "Home" || key === "End") {
    for (
      let at = key === "Home" ? 0 : layout.perLine - 1;
      at >= 0 && at < layout.perLine;
      at += key === "Home" ? 1 : -1
    ) {
      if (slotAt(layout, order, line, at) >= 0) return { slot: slotAt(layout, order, line, at) };
    }
  }
  const step = steps[key];
  if (!step) return null;
  const next = slotAt(layout, order, line + step[0], column + step[1]);
  return { slot: next < 0 ? slot : next };
}
