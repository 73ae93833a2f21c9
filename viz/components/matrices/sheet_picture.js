// Draws a matrix with a pen: cells, digits, labels, marks and the legend, on the page and in a file.
//
// Meaning of each mark:
//   colour     the number, on the scale of the legend: from 0 to its end, or symmetric around 0 with blue below
//              zero and orange above. A cell without colour is 0, −∞ under a mask, or NaN; NaN is hatched, and so is −∞
//              if digits are not shown.
//   digits     the number with two decimals, if there are few cells, all bold if any is on a middle tone; all digits
//              are in the tooltip, at the keyboard's cell and in files.
//   frame      accent: a marked row or column. Text colour: the cell under the pointer or the keyboard's cursor.
// If a matrix has more cells than pixels, a pixel shows the largest absolute value of its cells.
// Labels reach the picture only through the pen's text.

import { colourAt, css, inkOn, level, levelAround, pixels, weightOn } from "../shared/colours.js";
import { h } from "../shared/elements.js";
import { elide, labelled, textWidth } from "../shared/labels.js";
import { contextOf } from "../shared/pens.js";
import { brief, FONT, labelOf, largest, sign } from "./sheet.js";
import { cut } from "../shared/texts.js";

/** @typedef {import("../shared/pens.js").Pen} Pen */

/** @typedef {import("./sheet.js").Values} Values */

const SHAPES = 4096; // cells up to which a vector file has a shape for each cell

/** Return the colour of a number, or null. */
function colourOf(value, sheet, end, theme) {
  if (!Number.isFinite(value)) return null;
  return sheet.palette === "sequential"
    ? colourAt(theme.ramp, level(value, end, "linear"))
    : colourAt(theme.diverging, levelAround(value, end));
}

/** Return all cells as a picture, a pixel each. @param {Values} values */
function picture({ tall, wide, data }, sheet, end, theme) {
  const canvas = h("canvas", { width: wide, height: tall });
  const ctx = contextOf(canvas);
  const image = ctx.createImageData(wide, tall);
  const ink = pixels(sheet.palette === "sequential" ? theme.ramp : theme.diverging);
  const place = sheet.palette === "sequential"
    ? (value) => level(value, end, "linear")
    : (value) => levelAround(value, end);
  const out = new Uint32Array(image.data.buffer);
  data.forEach((value, i) => {
    if (Number.isFinite(value)) out[i] = ink[place(value)];
  });
  ctx.putImageData(image, 0, 0);
  return canvas;
}

/** @param {Pen} pen */
function paintCells(pen, { sheet, values, end, theme, place }) {
  const { left, top, w, h: high, tall, wide } = place;
  const dots = (size) => Math.max(1, Math.round(size * pen.ratio));
  const [tallest, widest] = [dots(tall * high), dots(wide * w)];
  const shown = tall > tallest || wide > widest
    ? largest(values, Math.min(tall, tallest), Math.min(wide, widest))
    : values;
  if (pen.vector && shown === values && tall * wide <= SHAPES) {
    values.data.forEach((value, i) => {
      const rgb = colourOf(value, sheet, end, theme);
      if (!rgb) return;
      pen.rect(left + (i % wide) * w, top + Math.floor(i / wide) * high, w + 0.05, high + 0.05, { fill: css(rgb) });
    });
  } else pen.image(picture(shown, sheet, end, theme), left, top, wide * w, tall * high);
  if (w >= 5 && high >= 5) paintGaps(pen, { values, theme, place });
  if (place.digitsShown) paintDigits(pen, { sheet, values, end, theme, place });
  pen.rect(left - 0.5, top - 0.5, wide * w + 1, tall * high + 1, { stroke: theme.hair });
}

/** Hatch cells without a number; −∞ is not hatched if digits are shown. @param {Pen} pen */
function paintGaps(pen, { values, theme, place: { left, top, w, h: high, tall, wide, digitsShown } }) {
  const lines = [];
  for (let r = 0; r < tall; r++) {
    for (let c = 0; c < wide; c++) {
      const value = values.data[r * wide + c];
      if (Number.isFinite(value) || (digitsShown && !Number.isNaN(value))) continue;
      const [x, y] = [left + c * w, top + r * high];
      for (const share of [0.5, 1]) lines.push([x, y + high * share, x + w * share, y]);
      lines.push([x + w / 2, y + high, x + w, y + high / 2]);
    }
  }
  pen.lines(lines, { stroke: theme.hair, width: 1 });
}

/** @param {Pen} pen */
function paintDigits(pen, { sheet, values, end, theme, place: { left, top, w, h: high, tall, wide } }) {
  const usual = w < 44 ? 12 : 13;
  const colours = Array.from(values.data, (value) => colourOf(value, sheet, end, theme));
  const weight = colours.some((rgb) => rgb && weightOn(rgb) > 400) ? 600 : 400; // of all digits: bold has no meaning
  for (let r = 0; r < tall; r++) {
    for (let c = 0; c < wide; c++) {
      const value = values.data[r * wide + c];
      const rgb = colours[r * wide + c];
      const text = brief(value);
      const fill = rgb ? inkOn(rgb) : theme.text;
      const size = Math.min(usual, (usual * (w - 2)) / Math.max(1, textWidth(text, pen.font(usual, weight))));
      pen.text(text, left + (c + 0.5) * w, top + (r + 0.5) * high + 0.5, { size, weight, fill, align: "center" });
    }
  }
}

/** @param {Pen} pen */
function paintLabels(pen, { sheet, theme, place, room }) {
  const { left, top, w, h: high, tall, wide, across, named } = place;
  const write = (side, i, most, x, y, style) => {
    const marked = sheet[side === "rows" ? "markedRows" : "markedColumns"].includes(i);
    const weight = marked ? 600 : 400;
    const text = elide(cut(labelOf(sheet, side, i), 24), most, pen.font(FONT, weight));
    pen.text(text, x, y, { size: FONT, weight, fill: marked ? theme.accent : theme.muted, ...style });
  };
  const each = (count, size, must) => {
    const { plain, forced } = labelled(0, count, size, must);
    return [...plain, ...forced];
  };
  if (sheet.rows.length) {
    for (const r of each(tall, high, sheet.markedRows)) {
      write("rows", r, room.rows, left - 5, top + (r + 0.5) * high, { align: "right" });
    }
  }
  if (!named) return;
  const style = across ? { align: "center" } : { rotate: -90 };
  for (const c of each(wide, w, sheet.markedColumns)) {
    write("columns", c, across ? w : room.columns, left + (c + 0.5) * w, top - (across ? 9 : 5), style);
  }
}

/** @param {Pen} pen */
function paintMarks(pen, { sheet, theme, place: { left, top, w, h: high, tall, wide } }) {
  const style = { stroke: theme.accent, width: 2 };
  for (const r of sheet.markedRows) pen.rect(left, top + r * high, wide * w, high, style);
  for (const c of sheet.markedColumns) pen.rect(left + c * w, top, w, tall * high, style);
}

/** Draw cells, labels and marks, without the name, the legend and the note. @param {Pen} pen */
export function paint(pen, drawing, x = 0, y = 0) {
  if (drawing.values.tall * drawing.values.wide === 0) return;
  const { left, top } = drawing.place;
  const room = { rows: left - 6, columns: top - 6 };
  const moved = { ...drawing, room, place: { ...drawing.place, left: left + x, top: top + y } };
  paintCells(pen, moved);
  paintLabels(pen, moved);
  paintMarks(pen, moved);
}

/**
 * Return the stops of the scale, and its values by share.
 * @returns {{stops: number[], at: (share: number) => number}}
 */
function scaleOf(sheet, end) {
  const low = sheet.palette === "sequential" ? 0 : -end;
  return { stops: [low, (low + end) / 2, end], at: (share) => low + share * (end - low) };
}

/** @param {Pen} pen */
export function paintLegend(pen, { sheet, end, theme }, x, y, width) {
  const { stops, at } = scaleOf(sheet, end);
  for (let i = 0; i < width; i++) {
    const fill = css(colourOf(at((i + 0.5) / width), sheet, end, theme) ?? []);
    pen.rect(x + i, y, 1, 8, { fill });
  }
  pen.rect(x - 0.5, y - 0.5, width + 1, 9, { stroke: theme.hair });
  const aligns = /** @type {("left"|"center"|"right")[]} */ (["left", "center", "right"]);
  stops.forEach((value, i) => {
    const text = sign(String(Number(value.toPrecision(2))));
    pen.text(text, x + (width * i) / 2, y + 16, { size: FONT, fill: theme.muted, align: aligns[i] });
  });
}
