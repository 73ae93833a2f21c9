// The picture of the grid: all thumbnails of a page, with names and marks.

import { meaningOf } from "../shared/frames.js";
import { labelStep, textWidth } from "../shared/labels.js";
import { slotPlace } from "./grid_layout.js";
import { short } from "./numbers.js";
import { smallMap, zeroOf } from "./raster.js";

/** @import { Grid, GridLayout, Pen, Scale, Theme } from "./types.js" */

const LEAST_LEFT = 26; // px: the width left of the thumbnails, enough for the number of a layer
const LABEL = 11; // px: the font size of the labels left of the thumbnails
const LEAST_NAMED = 28; // px: the smallest thumbnail with a name on it

/**
 * @typedef {object} GridFigure
 * @property {GridLayout} layout
 * @property {number[]} order heads by slot
 * @property {string} kind name of the order
 * @property {number} heads heads in a layer
 * @property {ArrayLike<number>|null} values values of the order
 * @property {Theme} theme
 * @property {number} selected
 * @property {number} hovered -1 for none
 * @property {number[]} pinned
 * @property {number[]} without heads of layers without attention
 * @property {HTMLCanvasElement} picture
 */

/**
 * Draw all thumbnails of a page as a canvas at device resolution.
 * @param {Grid} grid @param {GridLayout} layout @param {number[]} order heads by slot @param {string} kind name of the
 * order
 * @param {Theme} theme @param {Scale} scale @param {number} ratio
 */
export function gridPicture(grid, layout, order, kind, theme, scale, ratio) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(layout.width * ratio));
  canvas.height = Math.max(1, Math.round(layout.height * ratio));
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const size = Math.max(1, Math.round((layout.cell - layout.gap) * ratio));
  const [meaning, zero] = [meaningOf(grid.data), zeroOf(grid.data)];
  const palette = Uint32Array.from(
    { length: 256 },
    (_, byte) => theme.palette[theme.level(meaning(byte - zero), 1, scale)],
  );
  for (let slot = 0; slot < order.length; slot++) {
    const corner = slotCorner(layout, kind, slot);
    if (!corner) continue;
    const [x, y] = corner;
    smallMap(out, canvas.width, grid, order[slot], Math.round(x * ratio), Math.round(y * ratio), size, palette);
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Return the upper left corner of a slot, or null if it is on another page.
 * @param {GridLayout} layout @param {string} kind @param {number} slot @returns {[number, number]|null}
 */
function slotCorner(layout, kind, slot) {
  const [line, column] = slotPlace(layout, kind, slot);
  const at = line - layout.firstLayer * layout.lines;
  const shown = at >= 0 && at < layout.shownLayers * layout.lines;
  return shown ? [layout.left + column * layout.cell, layout.top + at * layout.cell] : null;
}

/** Format the value of an order without the zero before the decimal point. @param {number} value */
const lineLabel = (value) => short(value).replace(/^(−?)0\./, "$1.");

/**
 * Return the width left of the thumbnails, in px, so that the labels of no line are cut.
 * @param {ArrayLike<number>|null} values values of the order, or null @param {string} family
 */
export function leftWidth(values, family) {
  const labels = new Set(Array.from(values ?? []).filter(Number.isFinite).map(lineLabel));
  return Math.max(LEAST_LEFT, ...[...labels].map((label) => Math.ceil(textWidth(label, `${LABEL}px ${family}`)) + 7));
}

/** Draw the numbers of layers and heads at the grid's edges. @param {Pen} pen @param {GridFigure} figure */
function drawNames(pen, { layout, theme }) {
  const [size, label] = [layout.cell - layout.gap, { size: LABEL, fill: theme.muted }];
  for (let c = 0; c < layout.perLine; c += labelStep(layout.cell, 16)) {
    const x = layout.left + c * layout.cell + size / 2;
    pen.text(String(c), x, layout.top - 9, { ...label, align: "center" });
  }
  for (let l = 0; l < layout.shownLayers; l += labelStep(layout.cell * layout.lines, 12)) {
    const y = layout.top + (l * layout.lines + 0.5) * layout.cell - layout.gap / 2;
    pen.text(String(l + layout.firstLayer), layout.left - 6, y, { ...label, align: "right" });
  }
}

/**
 * Draw a head's name at the lower edge of its thumbnail, for an order in which the place does not tell the head.
 * @param {Pen} pen @param {Theme} theme @param {string} name @param {number} x @param {number} y @param {number} size
 */
function drawName(pen, theme, name, x, y, size) {
  const width = 6 * name.length + 2;
  pen.rect(x + size - width, y + size - 12, width, 12, { fill: theme.background });
  pen.text(name, x + size - 1, y + size - 5.5, { size: 10, fill: theme.text, align: "right" });
}

/** Draw the picture of the grid with its names and marks. @param {Pen} pen @param {GridFigure} figure */
export function drawGrid(pen, figure) {
  const { layout, order, kind, heads, values, theme, selected, hovered, pinned, without, picture } = figure;
  pen.image(picture, 0, 0, layout.width, layout.height);
  const size = layout.cell - layout.gap;
  const label = /** @type {const} */ ({ size: LABEL, fill: theme.muted, align: "right" });
  if (kind === "layer") drawNames(pen, figure);
  for (let slot = 0; slot < order.length; slot++) {
    const place = slotCorner(layout, kind, slot);
    if (!place) continue;
    const [x, y] = place;
    if (without.includes(order[slot])) { // an empty map would look like a head with zero weights
      pen.rect(x - 1, y - 1, size + 2, size + 2, { fill: theme.background });
      pen.rect(x + size / 4, y + size / 2, size / 2, 1, { fill: theme.muted });
      continue;
    }
    if (values && slot % layout.perLine === 0 && layout.cell >= 12) {
      pen.text(lineLabel(values[order[slot]]), layout.left - 5, y + size / 2, label);
    }
    pen.rect(x, y, size, size, { stroke: theme.hair, width: 0.5 });
    if (kind !== "layer" && size >= LEAST_NAMED) {
      drawName(pen, theme, `${Math.floor(order[slot] / heads)}-${order[slot] % heads}`, x, y, size);
    }
    const pin = pinned.indexOf(order[slot]);
    const corner = Math.max(4, Math.round(size / 5));
    if (pin >= 0) pen.rect(x + size - corner, y, corner, corner, { fill: theme.heads[pin] });
    if (order[slot] === hovered) pen.rect(x - 1, y - 1, size + 2, size + 2, { stroke: theme.text, width: 1.5 });
    if (order[slot] === selected) pen.rect(x - 1.5, y - 1.5, size + 3, size + 3, { stroke: theme.accent, width: 2.5 });
  }
}
