// A matrix as a file: a picture on white with its name, legend and note, or its numbers.

import { printTheme } from "../shared/colours.js";
import { save_as } from "../shared/elements.js";
import { textWidth } from "../shared/labels.js";
import { savePaper } from "../shared/prints.js";
import { fileName, fileStem } from "../shared/texts.js";
import { arrange, scaleEnd, table } from "./sheet.js";
import { paint, paintLegend } from "./sheet_picture.js";

/** @typedef {import("./sheet.js").Sheet} Sheet */
/** @typedef {import("./sheet.js").Values} Values */

const ROOM = 900; // px
const LEAST = 160;
const EDGE = 12;

/**
 * The picture with all that stands around it.
 * @param {Sheet} sheet @param {Values} values @param {boolean|null} numbers
 * @returns {import("../shared/prints.js").Paper}
 */
export function paperOf(sheet, values, numbers) {
  const theme = printTheme();
  const { family } = theme;
  const place = arrange(sheet, values, ROOM, numbers, family);
  const end = sheet.limit ?? scaleEnd(values.data);
  const texts = [textWidth(sheet.name, `600 14px ${family}`), textWidth(sheet.note, `12px ${family}`)];
  return {
    width: Math.ceil(Math.max(place.width, ...texts, LEAST) + 2 * EDGE),
    height: Math.ceil(place.height + 92),
    family,
    draw(pen) {
      pen.text(sheet.name, EDGE, 16, { size: 14, weight: 600, fill: theme.text });
      pen.text(sheet.note, EDGE, place.height + 78, { fill: theme.text });
      paint(pen, { sheet, values, end, theme, place }, EDGE, 32);
      paintLegend(pen, { sheet, end, theme }, EDGE + 1, place.height + 40, 140);
    },
  };
}

/**
 * @param {Sheet} sheet @param {Values} values @param {boolean|null} numbers
 * @param {import("../shared/prints.js").PictureFormat} format
 */
export const savePicture = (sheet, values, numbers, format) =>
  savePaper(paperOf(sheet, values, numbers), fileStem(sheet.name, "matrix"), format, 2);

/** @param {Sheet} sheet @param {Values} values */
export const saveCsv = (sheet, values) =>
  save_as(fileName(sheet.name, "matrix", "csv"), new Blob(["\ufeff", table(sheet, values)], { type: "text/csv" }));
