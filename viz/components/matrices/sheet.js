// The display of a matrix: number formatting and cell layout.

import { clamp } from "../shared/colours.js";
import { textWidth } from "../shared/labels.js";
import { columnNames, tableOf } from "../shared/tables.js";
import { cut, visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";

/**
 * @typedef {object} Sheet Made by viz/components/matrices/matrices.py; values are separate, (row, column), row-major.
 * @property {string} name
 * @property {string[]} rows labels; empty: rows are counted from 0
 * @property {string[]} columns the same for columns
 * @property {string} note
 * @property {"diverging"|"sequential"} palette
 * @property {number|null} limit end of the colour scale; null: the largest absolute value
 * @property {number[]} markedRows
 * @property {number[]} markedColumns
 */
/** @typedef {{tall: number, wide: number, data: Float32Array}} Values */

const FEW = 12; // columns up to which numbers are printed
const MANY = 120; // rows above which numbers are not printed
const DIGITS = { least: 38, most: 54, high: 24 }; // size of a cell with a number, in px
const BARE = { most: 14, high: 24, tallest: 420 }; // size of a cell without a number, and of all rows, in px
export const FONT = 11;

// -- numbers

/** Return exactly the digits of a 32-bit number. @param {number} value */
export function digits(value) {
  if (!Number.isFinite(value)) return sign(String(value).replace("Infinity", "∞"));
  for (let places = 6; places < 9; places++) {
    const text = Number(value.toPrecision(places));
    if (Math.fround(text) === Math.fround(value)) return sign(String(text));
  }
  return sign(String(Number(value.toPrecision(9))));
}

/** Return a number that is short enough for a cell. @param {number} value */
export function brief(value) {
  const size = Math.abs(value);
  if (Number.isNaN(value)) return "";
  if (size === Infinity) return sign(value < 0 ? "-∞" : "∞");
  if (size === 0) return "0";
  if (size < 0.0005) return "≈0";
  if (size >= 9999.5) return sign(value.toExponential(0).replace("e+", "e"));
  if (size >= 99.95) return sign(value.toFixed(0));
  return sign(value.toFixed(size < 0.005 ? 3 : 2));
}

export const sign = (text) => text.replaceAll("-", "−");

/**
 * Return the end of a scale: the largest finite absolute value, rounded up to two digits.
 * @param {Float32Array} data
 */
export function scaleEnd(data) {
  let most = 0;
  for (const value of data) if (Math.abs(value) > most && Math.abs(value) !== Infinity) most = Math.abs(value);
  if (most === 0) return 1;
  const step = 10 ** (Math.floor(Math.log10(most)) - 1);
  return Number((Math.ceil(most / step - 1e-3) * step).toPrecision(2));
}

/**
 * Pool to tall × wide cells by the largest absolute value; a block of NaN gives NaN.
 * @param {Values} values @returns {Values}
 */
export function largest({ tall, wide, data }, outTall, outWide) {
  const out = new Float32Array(outTall * outWide).fill(NaN);
  for (let r = 0; r < tall; r++) {
    const to = Math.floor((r * outTall) / tall) * outWide;
    for (let c = 0; c < wide; c++) {
      const [value, at] = [data[r * wide + c], to + Math.floor((c * outWide) / wide)];
      if (!(Math.abs(value) <= Math.abs(out[at])) && !Number.isNaN(value)) out[at] = value;
    }
  }
  return { tall: outTall, wide: outWide, data: out };
}

/** @param {Sheet} sheet @param {"rows"|"columns"} side @param {number} i */
export const labelOf = (sheet, side, i) => visible(sheet[side][i] ?? String(i));

/** Return the tooltip of a cell: its row and column, and its number. @param {Sheet} sheet @param {Values} values */
export function said(sheet, { wide, data }, { row, col }) {
  const named = [
    sheet.rows.length ? labelOf(sheet, "rows", row) : _("row {number}", { number: row }),
    sheet.columns.length ? labelOf(sheet, "columns", col) : _("column {number}", { number: col }),
  ];
  return [named.join(" · "), digits(data[row * wide + col]) || _("no number")];
}

/** Return the matrix as a spreadsheet table. @param {Sheet} sheet @param {Values} values */
export function table(sheet, { tall, wide, data }) {
  const cell = (r, c) => Number(digits(data[r * wide + c]).replaceAll("−", "-").replace("∞", "Infinity"));
  const text = (side, i) => sheet[side][i] ?? String(i);
  const head = [sheet.name, ...Array.from({ length: wide }, (_, c) => text("columns", c))];
  const rows = columnNames(Array.from({ length: tall }, (_, r) => text("rows", r)));
  return tableOf(head, rows.map((row, r) => [row, ...Array.from({ length: wide }, (_, c) => cell(r, c))]));
}

// -- layout

/**
 * Return the size of cells; `left` pixels are taken by labels. If `numbers` is null, few columns show numbers.
 * @param {{tall: number, wide: number, room: number, left: number, numbers: boolean|null}} given
 */
export function cells({ tall, wide, room, left, numbers }) {
  const digitsShown = numbers ?? (wide <= FEW && tall <= MANY);
  const each = (room - left) / wide;
  if (digitsShown) return { digitsShown, w: Math.floor(clamp(each, DIGITS.least, DIGITS.most)), h: DIGITS.high };
  const whole = (size) => (size >= 3 ? Math.floor(size) : size);
  return {
    digitsShown,
    w: whole(Math.min(each, BARE.most)),
    h: whole(Math.min(BARE.tallest / tall, tall <= 4 ? BARE.high : BARE.most)),
  };
}

/** Lay the matrix out within `room` pixels. @param {Sheet} sheet @param {Values} values @param {string} family */
export function arrange(sheet, { tall, wide }, room, numbers, family) {
  const font = `${FONT}px ${family}`;
  const widest = (side, count) =>
    Array.from({ length: Math.min(count, 400) }, (_, i) => textWidth(cut(labelOf(sheet, side, i), 24), font)).reduce(
      (a, b) => Math.max(a, b),
      0,
    );
  const left = sheet.rows.length ? Math.ceil(Math.min(widest("rows", tall), 96, room / 3)) + 8 : 4;
  const size = cells({ tall, wide, room, left: left + 2, numbers });
  const across = widest("columns", wide) + 4 <= size.w;
  const named = sheet.columns.length > 0;
  const top = !named ? 3 : across ? 18 : Math.ceil(Math.min(widest("columns", wide), 84)) + 8;
  return {
    ...size,
    left,
    top,
    across,
    named,
    tall,
    wide,
    font,
    family,
    width: left + wide * size.w + 3,
    height: top + tall * size.h + 3,
  };
}
