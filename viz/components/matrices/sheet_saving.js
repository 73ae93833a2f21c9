// Saves a matrix: as a picture on white with its name, legend, note and caption, or as a table with its provenance.

import { printTheme } from "../shared/colours.js";
import { elide, textWidth } from "../shared/labels.js";
import { savePaper } from "../shared/prints.js";
import { saveTable } from "../shared/tables.js";
import { fileStem } from "../shared/texts.js";
import { arrange, scaleEnd, table } from "./sheet.js";
import { paint, paintLegend } from "./sheet_picture.js";

/** @typedef {import("./sheet.js").Sheet} Sheet */
/** @typedef {import("./sheet.js").Values} Values */
/** @typedef {[string, string][]} About  names and values */

const ROOM = 900; // width for the matrix in px
const LEAST_WIDTH = 160;
const EDGE = 12;
const SMALL = 10;

/**
 * Return the picture with name, legend, note and caption.
 * @param {Sheet} sheet @param {Values} values @param {boolean|null} numbers @param {About} about
 * @returns {import("../shared/prints.js").Paper}
 */
export function paperOfSheet(sheet, values, numbers, about) {
  const theme = printTheme();
  const { family } = theme;
  const place = arrange(sheet, values, ROOM, numbers, family);
  const end = sheet.limit ?? scaleEnd(values.data);
  const texts = [textWidth(sheet.name, `600 14px ${family}`), textWidth(sheet.note, `12px ${family}`)];
  const room = Math.ceil(Math.max(place.width, ...texts, LEAST_WIDTH));
  const said = about.map(([name, value]) => `${name}: ${value}`).join(" · ");
  return {
    width: room + 2 * EDGE,
    height: Math.ceil(place.height + (said ? 110 : 92)),
    family,
    draw(pen) {
      pen.text(sheet.name, EDGE, 16, { size: 14, weight: 600, fill: theme.text });
      pen.text(sheet.note, EDGE, place.height + 78, { fill: theme.text });
      paint(pen, { sheet, values, end, theme, place }, EDGE, 32);
      paintLegend(pen, { sheet, end, theme }, EDGE + 1, place.height + 40, 140);
      if (said) {
        const line = elide(said, room, `${SMALL}px ${family}`);
        pen.text(line, EDGE, place.height + 98, { size: SMALL, fill: theme.muted });
      }
    },
  };
}

/**
 * @param {Sheet} sheet @param {Values} values @param {boolean|null} numbers @param {About} about
 * @param {import("../shared/prints.js").PictureFormat} format
 */
export const savePicture = (sheet, values, numbers, about, format) =>
  savePaper(paperOfSheet(sheet, values, numbers, about), fileStem(sheet.name, "matrix"), format, 2);

/** @param {Sheet} sheet @param {Values} values @param {About} about */
export function saveCsv(sheet, values, about) {
  saveTable(fileStem(sheet.name, "matrix"), table(sheet, values), Object.fromEntries(about));
}
