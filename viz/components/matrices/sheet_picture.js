// A matrix drawn on a canvas: cells, digits, labels, marks and the legend, on the page and in a file.
//
// What each mark means
//   colour     the number, on the scale that the legend states: from 0 to its end, or from minus to plus the same end
//              with
//              blue below zero and orange above. A cell without colour is 0, −∞ under a mask, or no number; what is no
//              number is hatched, and so is −∞ where there are no digits.
//   digits     the number to two places, where cells are few; all digits on hover, under the keyboard's cell and in
//              files.
//   frame      accent: a marked row or column. Text colour: the cell under the pointer or the keyboard's cursor.
// Where a matrix has more cells than pixels, a pixel shows the largest size under it.
// Labels reach the picture only through fillText.

import { colourAt, css, inkOn, level, levelAround, pixels, printTheme } from "../shared/colours.js";
import { h, save_as } from "../shared/elements.js";
import { elide, labelled, textWidth } from "../shared/labels.js";
import { arrange, brief, FONT, labelOf, largest, scaleEnd, sign, table } from "./sheet.js";
import { cut, fileName } from "../shared/texts.js";

/** @typedef {import("./sheet.js").Values} Values */

/** The colour of a number, or null. */
function colourOf(value, sheet, end, theme) {
  if (!Number.isFinite(value)) return null;
  return sheet.palette === "sequential"
    ? colourAt(theme.ramp, level(value, end, "linear"))
    : colourAt(theme.diverging, levelAround(value, end));
}

/** All cells as a picture, one pixel each. @param {Values} values */
function picture({ tall, wide, data }, sheet, end, theme) {
  const canvas = h("canvas", { width: wide, height: tall });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
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

/** @param {CanvasRenderingContext2D} ctx */
function paintCells(ctx, { sheet, values, end, theme, place, ratio }) {
  const { left, top, w, h: high, tall, wide } = place;
  const [tallest, widest] = [Math.max(1, Math.round(tall * high * ratio)), Math.max(1, Math.round(wide * w * ratio))];
  const shown = tall > tallest || wide > widest
    ? largest(values, Math.min(tall, tallest), Math.min(wide, widest))
    : values;
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(picture(shown, sheet, end, theme), left, top, wide * w, tall * high);
  if (w >= 5 && high >= 5) paintGaps(ctx, { values, theme, place });
  if (place.digitsShown) paintDigits(ctx, { sheet, values, end, theme, place });
  ctx.strokeStyle = theme.hair;
  ctx.lineWidth = 1;
  ctx.strokeRect(left - 0.5, top - 0.5, wide * w + 1, tall * high + 1);
}

/** Cells that hold no number, hatched; −∞ can be read where there are digits. */
function paintGaps(ctx, { values, theme, place: { left, top, w, h: high, tall, wide, digitsShown } }) {
  ctx.strokeStyle = theme.hair;
  ctx.beginPath();
  for (let r = 0; r < tall; r++) {
    for (let c = 0; c < wide; c++) {
      const value = values.data[r * wide + c];
      if (Number.isFinite(value) || (digitsShown && !Number.isNaN(value))) continue;
      const [x, y] = [left + c * w, top + r * high];
      for (const share of [0.5, 1]) {
        ctx.moveTo(x, y + high * share);
        ctx.lineTo(x + w * share, y);
      }
      ctx.moveTo(x + w / 2, y + high);
      ctx.lineTo(x + w, y + high / 2);
    }
  }
  ctx.stroke();
}

function paintDigits(ctx, { sheet, values, end, theme, place: { left, top, w, h: high, tall, wide, family } }) {
  ctx.font = `${w < 44 ? FONT : 12}px ${family}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let r = 0; r < tall; r++) {
    for (let c = 0; c < wide; c++) {
      const value = values.data[r * wide + c];
      const rgb = colourOf(value, sheet, end, theme);
      ctx.fillStyle = rgb ? inkOn(rgb) : theme.text;
      ctx.fillText(brief(value), left + (c + 0.5) * w, top + (r + 0.5) * high + 0.5, w - 2);
    }
  }
}

function paintLabels(ctx, { sheet, theme, place }) {
  const { left, top, w, h: high, tall, wide, across, named, font, family } = place;
  const strong = `600 ${FONT}px ${family}`;
  const write = (side, i, room, draw) => {
    const marked = sheet[side === "rows" ? "markedRows" : "markedColumns"].includes(i);
    ctx.font = marked ? strong : font;
    ctx.fillStyle = marked ? theme.accent : theme.muted;
    draw(elide(cut(labelOf(sheet, side, i), 24), room, ctx.font));
  };
  const each = (count, size, must) => {
    const { plain, forced } = labelled(0, count, size, must);
    return [...plain, ...forced];
  };
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  if (sheet.rows.length) {
    for (const r of each(tall, high, sheet.markedRows)) {
      write("rows", r, left - 6, (text) => ctx.fillText(text, left - 5, top + (r + 0.5) * high));
    }
  }
  if (!named) return;
  ctx.textAlign = across ? "center" : "left";
  for (const c of each(wide, w, sheet.markedColumns)) {
    write("columns", c, across ? w : top - 6, (text) => {
      ctx.save();
      ctx.translate(left + (c + 0.5) * w, across ? 9 : top - 5);
      if (!across) ctx.rotate(-Math.PI / 2);
      ctx.fillText(text, 0, 0);
      ctx.restore();
    });
  }
}

function paintMarks(ctx, { sheet, theme, place: { left, top, w, h: high, tall, wide } }) {
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 2;
  for (const r of sheet.markedRows) ctx.strokeRect(left, top + r * high, wide * w, high);
  for (const c of sheet.markedColumns) ctx.strokeRect(left + c * w, top, w, tall * high);
}

/** Cells, labels and marks; everything but the name, the legend and the note. */
export function paint(ctx, drawing) {
  if (drawing.values.tall * drawing.values.wide === 0) return;
  paintCells(ctx, drawing);
  paintLabels(ctx, drawing);
  paintMarks(ctx, drawing);
}

/** The scale's colours and its numbers. @returns {{stops: number[], at: (share: number) => number}} */
function scaleOf(sheet, end) {
  const low = sheet.palette === "sequential" ? 0 : -end;
  return { stops: [low, (low + end) / 2, end], at: (share) => low + share * (end - low) };
}

export function paintLegend(ctx, { sheet, end, theme, family }, x, y, width) {
  const { stops, at } = scaleOf(sheet, end);
  for (let i = 0; i < width; i++) {
    ctx.fillStyle = css(colourOf(at((i + 0.5) / width), sheet, end, theme) ?? []);
    ctx.fillRect(x + i, y, 1, 8);
  }
  ctx.strokeStyle = theme.hair;
  ctx.lineWidth = 1;
  ctx.strokeRect(x - 0.5, y - 0.5, width + 1, 9);
  ctx.font = `${FONT}px ${family}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "middle";
  stops.forEach((value, i) => {
    ctx.textAlign = ["left", "center", "right"][i];
    ctx.fillText(sign(String(Number(value.toPrecision(2)))), x + (width * i) / 2, y + 16);
  });
}

/** A canvas cleared at the screen's resolution. */
export function fresh(canvas, width, height, ratio) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  return ctx;
}

// -- files

export function savePng(sheet, values, numbers) {
  const theme = printTheme();
  const family = theme.family;
  const place = arrange(sheet, values, 900, numbers, family);
  const end = sheet.limit ?? scaleEnd(values.data);
  const width =
    Math.max(place.width, textWidth(sheet.name, `600 14px ${family}`), textWidth(sheet.note, `12px ${family}`), 160) +
    24;
  const canvas = h("canvas");
  const ctx = fresh(canvas, width, place.height + 92, 2);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, width, place.height + 92);
  ctx.fillStyle = theme.text;
  ctx.textBaseline = "middle";
  ctx.font = `600 14px ${family}`;
  ctx.fillText(sheet.name, 12, 16);
  ctx.font = `12px ${family}`;
  ctx.fillText(sheet.note, 12, place.height + 78);
  ctx.translate(12, 32);
  paint(ctx, { sheet, values, end, theme, place, ratio: 2 });
  paintLegend(ctx, { sheet, end, theme, family }, 1, place.height + 8, 140);
  canvas.toBlob((blob) => {
    if (blob) save_as(fileName(sheet.name, "matrix", "png"), blob);
  });
}

export const saveCsv = (sheet, values) =>
  save_as(fileName(sheet.name, "matrix", "csv"), new Blob(["\ufeff", table(sheet, values)], { type: "text/csv" }));
