// The picture of the matrix: tiles, frames and token labels.

import { css, printTheme } from "../shared/colours.js";
import { elide, labelled, textWidth } from "../shared/labels.js";
import { cut } from "../shared/texts.js";
import { cellName } from "./cells.js";
import { drawLegend } from "./legend.js";
import { pooledIndex, poolMax } from "./numbers.js";
import { contextOf } from "../shared/pens.js";
import { levelCanvas } from "./raster.js";
import { fitView, shownCells } from "./viewport.js";

/** @import { Area, Cell, Facing, Pen, Place, Print, Range, Scale, Theme, Tile,
 * Viewport, Words } from "./types.js" */

/**
 * @typedef {object} MatrixFigure
 * @property {Cell[]} queries
 * @property {Cell[]} keys
 * @property {Range} range
 * @property {Area} area
 * @property {Viewport} view
 * @property {Tile[]} tiles coarse tiles first
 * @property {number} top end of the colour scale
 * @property {Scale} scale
 * @property {Theme} theme
 * @property {number|null} focus
 * @property {number|null} target
 * @property {Facing} facing the direction of the question
 * @property {Place|null} hover
 * @property {number} size font size of labels
 * @property {string[]|null} corner names of rows and columns
 */

/**
 * Return the room for labels at the left of and above a matrix.
 * @param {Pen} pen @param {Cell[]} queries @param {Cell[]} keys @param {Range} range @param {number} size
 */
export function gutters(pen, queries, keys, range, size, most = 116) {
  /** @param {Cell[]} cells @param {number} from @param {number} to */
  const widest = (cells, from, to) => {
    const step = Math.max(1, Math.floor((to - from) / 200));
    let width = 12;
    for (let i = from; i < to; i += step) {
      width = Math.max(width, textWidth(cut(cellName(cells, i), 24), pen.font(size, 600)));
    }
    return Math.min(Math.ceil(width), most);
  };
  return { left: widest(queries, range.q0, range.q1) + 12, top: Math.max(44, widest(keys, range.k0, range.k1) + 12) };
}

/** @type {WeakMap<Tile, {key: string, canvas: HTMLCanvasElement}>} the last picture of each tile */
const rasters = new WeakMap();

/**
 * Draw the visible part of a tile: pooled to device pixels, coloured, and enlarged without smoothing.
 * @param {Pen} pen @param {MatrixFigure} spec @param {Tile} tile
 */
function drawTile(pen, spec, tile) {
  const { area, view, theme } = spec;
  const shown = shownCells(view, spec.range, area);
  const [tall, wide] = [tile.q1 - tile.q0, tile.k1 - tile.k0];
  const q = [Math.max(shown.q0, tile.q0), Math.min(shown.q1, tile.q1)];
  const k = [Math.max(shown.k0, tile.k0), Math.min(shown.k1, tile.k1)];
  if (q[1] <= q[0] || k[1] <= k[0]) return;
  const r = [pooledIndex(q[0] - tile.q0, tall, tile.rows), pooledIndex(q[1] - 1 - tile.q0, tall, tile.rows) + 1];
  const c = [pooledIndex(k[0] - tile.k0, wide, tile.cols), pooledIndex(k[1] - 1 - tile.k0, wide, tile.cols) + 1];
  const [stepQ, stepK] = [tall / tile.rows, wide / tile.cols];
  const [w, h] = [(c[1] - c[0]) * stepK * view.scale, (r[1] - r[0]) * stepQ * view.scale];
  const [rows, cols] = [
    Math.min(r[1] - r[0], Math.ceil(h * pen.ratio)),
    Math.min(c[1] - c[0], Math.ceil(w * pen.ratio)),
  ];
  const key = [r, c, rows, cols, spec.top, spec.scale, theme.name].join();
  const known = rasters.get(tile);
  const canvas = known?.key === key ? known.canvas : levelCanvas(
    poolMax(tile.data, tile.cols, r, c, rows, cols).map((weight) => theme.level(weight, spec.top, spec.scale)),
    rows,
    cols,
    theme.palette,
  );
  rasters.set(tile, { key, canvas });
  const x = area.x + (tile.k0 + c[0] * stepK - view.k) * view.scale;
  const y = area.y + (tile.q0 + r[0] * stepQ - view.q) * view.scale;
  pen.clip(area.x, area.y, area.w, area.h, () => {
    if (pen.vector && rows * cols <= 4096 && rows === r[1] - r[0]) {
      vectorCells(pen, canvas, x, y, w / cols, h / rows);
    } else pen.image(canvas, x, y, w, h);
  });
}

/**
 * Draw a rectangle for each cell, for small matrices in SVG.
 * @param {Pen} pen @param {HTMLCanvasElement} canvas @param {number} x @param {number} y @param {number} stepX @param
 * {number} stepY
 */
function vectorCells(pen, canvas, x, y, stepX, stepY) {
  const { data } = contextOf(canvas).getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < canvas.width * canvas.height; i++) {
    const [row, col] = [Math.floor(i / canvas.width), i % canvas.width];
    pen.rect(x + col * stepX, y + row * stepY, stepX + 0.05, stepY + 0.05, {
      fill: css([data[4 * i], data[4 * i + 1], data[4 * i + 2]]),
    });
  }
}

/** Draw the matrix with its tokens. @param {Pen} pen @param {MatrixFigure} spec */
export function drawMatrix(pen, spec) {
  const { area, view, theme, range } = spec;
  const shown = shownCells(view, range, area);
  const x = (/** @type {number} */ k) => area.x + (k - view.k) * view.scale;
  const y = (/** @type {number} */ q) => area.y + (q - view.q) * view.scale;
  for (const tile of spec.tiles) drawTile(pen, spec, tile);
  const [right, bottom] = [Math.min(x(range.k1), area.x + area.w), Math.min(y(range.q1), area.y + area.h)];
  pen.rect(area.x - 0.5, area.y - 0.5, right - area.x + 1, bottom - area.y + 1, { stroke: theme.hair });
  pen.clip(area.x - 2, area.y - 2, right - area.x + 4, bottom - area.y + 4, () => {
    if (spec.hover) {
      pen.rect(area.x, y(spec.hover.row), right - area.x, Math.max(1, view.scale), { stroke: theme.text });
      pen.rect(x(spec.hover.col), area.y, Math.max(1, view.scale), bottom - area.y, { stroke: theme.text });
    }
    const [asked, answers] = [{ stroke: theme.accent, width: 1.5 }, { stroke: theme.accent, dash: [3, 3] }];
    const out = spec.facing === "out";
    const thick = Math.max(2, view.scale);
    if (spec.focus !== null) pen.rect(area.x, y(spec.focus), right - area.x, thick, out ? asked : answers);
    if (spec.target !== null) pen.rect(x(spec.target), area.y, thick, bottom - area.y, out ? answers : asked);
  });
  drawRowLabels(pen, spec, shown, y);
  drawColumnLabels(pen, spec, shown, x);
  if (!spec.corner) return;
  pen.text(spec.corner[0], area.x - 8, area.y - 17, { size: 11, fill: theme.muted, align: "right" });
  pen.text(spec.corner[1], area.x - 8, area.y - 32, { size: 11, fill: theme.muted, align: "right" });
}

/** @param {MatrixFigure} spec @param {Cell} cell @param {boolean} chosen @param {boolean} forced */
function labelStyle({ size, theme }, cell, chosen, forced) {
  const fill = cell.special && !forced ? theme.muted : theme.text;
  return { size, fill, weight: chosen || forced ? 600 : 400 };
}

/**
 * Return the labels to draw: those with room, and in bold those that must be drawn.
 * @param {{plain: number[], forced: number[]}} found
 */
const labels = ({ plain, forced }) => [
  ...plain.map((i) => ({ i, strong: false })),
  ...forced.map((i) => ({ i, strong: true })),
];

/** @param {Pen} pen @param {MatrixFigure} spec @param {Range} shown @param {(row: number) => number} y */
function drawRowLabels(pen, spec, shown, y) {
  const { area, view, focus, hover, queries, theme } = spec;
  const must = [focus ?? -1, hover?.row ?? -1];
  for (const { i, strong } of labels(labelled(shown.q0, shown.q1, view.scale, must))) {
    const middle = y(i) + view.scale / 2;
    if (middle < area.y - 1 || middle > area.y + area.h + 1) continue;
    const style = labelStyle(spec, queries[i], i === focus, strong);
    const text = elide(cellName(queries, i), area.x - 10, pen.font(style.size, style.weight));
    if (i === focus && spec.facing === "out") pen.rect(area.x - 5, middle - 6, 3, 12, { fill: theme.accent });
    pen.text(text, area.x - 8, middle, { ...style, align: "right" });
  }
}

/** @param {Pen} pen @param {MatrixFigure} spec @param {Range} shown @param {(column: number) => number} x */
function drawColumnLabels(pen, spec, shown, x) {
  const { area, view, target, hover, keys, theme } = spec;
  const must = [target ?? -1, hover?.col ?? -1];
  for (const { i, strong } of labels(labelled(shown.k0, shown.k1, view.scale, must))) {
    const middle = x(i) + view.scale / 2;
    if (middle < area.x - 1 || middle > area.x + area.w + 1) continue;
    const style = labelStyle(spec, keys[i], i === target, strong);
    const text = elide(cellName(keys, i), area.y - 10, pen.font(style.size, style.weight));
    const flat = !strong && [...text].length === 1;
    const align = flat ? "center" : "left";
    if (i === target && spec.facing === "in") pen.rect(middle - 6, area.y - 5, 12, 3, { fill: theme.accent });
    pen.text(text, middle, area.y - 7 - (flat ? 3 : 0), { ...style, align, rotate: flat ? 0 : -90 });
  }
}

/**
 * Return the visible part of a matrix for export, with axis names and legend.
 * @param {MatrixFigure} now @param {Pen} ink for measuring labels @param {Words} say @returns {Print}
 */
export function printedMatrix(now, ink, say) {
  const shown = shownCells(now.view, now.range, now.area);
  const label = gutters(ink, now.queries, now.keys, shown, 12);
  const [rows, cols] = [shown.q1 - shown.q0, shown.k1 - shown.k0];
  const view = fitView(shown, { w: 780, h: 780 }, 40);
  const area = { x: label.left + 16, y: label.top + 16, w: cols * view.scale, h: rows * view.scale };
  const theme = printTheme(now.theme.signed);
  const spec = { ...now, range: shown, area, view, theme, hover: null, corner: null };
  return {
    name: "matrix",
    width: Math.max(area.x + area.w + 8, area.x + 340),
    height: area.y + area.h + 46,
    draw: (pen) => {
      drawMatrix(pen, spec);
      pen.text(say.columnAxis, area.x, 8, { size: 11, fill: theme.muted });
      pen.text(say.rowAxis, 10, area.y + area.h, { size: 11, fill: theme.muted, rotate: -90 });
      drawLegend(pen, {
        theme,
        x: area.x,
        y: area.y + area.h + 12,
        w: 160,
        top: now.top,
        scale: now.scale,
        name: now.scale === "sqrt" ? say.sqrtScale : say.linearScale,
      });
    },
  };
}
