// Saves the dimmed image as PNG or SVG, and the weights of the shown token as CSV.

import { h } from "../shared/elements.js";
import { contextOf } from "../shared/pens.js";
import { savePaper } from "../shared/prints.js";
import { printTheme } from "../shared/colours.js";
import { saveTable, tableOf } from "../shared/tables.js";
import { fileStem } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { drawDimmed, framePatch } from "./picture_drawing.js";
import { lookSaid } from "./picture_words.js";
import { patchOf } from "./picture_looks.js";

/** @import { Kept, PictureData } from "./picture.js" */
/** @import { Weights } from "./picture_looks.js" */
/**
 * @typedef {object} SavedLook
 * @property {PictureData} data
 * @property {HTMLImageElement} photo
 * @property {Weights} weights of all tokens, as shown
 * @property {Kept} kept
 * @property {string} head name of the head
 * @property {string} token name of the token
 */

const WIDE = 720;
const LINE = 18;

/** Break a sentence into lines of at most `most` letters. @param {string} text @param {number} most */
export function lines(text, most) {
  /** @type {string[]} */
  const found = [];
  for (const part of text.match(/\S+\s*/g) ?? []) {
    const last = found.length - 1;
    if (last >= 0 && found[last].length + part.length <= most) found[last] += part;
    else found.push(part);
  }
  return found.map((line) => line.trim());
}

/** @param {SavedLook} look @param {import("../shared/prints.js").PictureFormat} format */
export function savePhoto({ data, photo, weights, kept, head, token }, format) {
  const { grid, picture, about } = data;
  const tall = Math.round(WIDE * picture.height / picture.width);
  const drawn = h("canvas", { width: WIDE, height: tall });
  drawDimmed(contextOf(drawn), photo, WIDE, tall, grid, weights);
  framePatch(contextOf(drawn), WIDE, tall, grid, kept.token, 1);
  const sentence = lookSaid({ head, token, facing: kept.facing, by: kept.by, grid, weights });
  const under = [...lines(sentence, 104), ...about.flatMap(([name, value]) => lines(`${name}: ${value}`, 104))];
  const { family } = printTheme();
  const paper = {
    width: WIDE,
    height: tall + 12 + LINE * under.length,
    family,
    /** @param {import("../shared/pens.js").Pen} pen */
    draw(pen) {
      pen.image(drawn, 0, 0, WIDE, tall);
      under.forEach((text, i) => pen.text(text, 4, tall + 14 + LINE * i, { size: 13, fill: "#1e2028" }));
    },
  };
  savePaper(paper, fileStem(data.title, "picture"), format, 2);
}

/** Return the provenance of a row: model, head, kind of weight and token. @param {SavedLook} look */
export const rowProvenance = ({ data, kept, head, token }) =>
  Object.fromEntries([
    ...data.about,
    [_("head"), head],
    ["weight", kept.by === "norms" ? _("Weights × value norm") : _("Weights")],
    [kept.facing === "out" ? _("looks") : _("is looked at"), token],
  ]);

/** Return a row for each token: its place in the picture, and its weight. @param {SavedLook} look */
export function rowTable({ data, weights }) {
  const rows = data.tokens.map((name, at) => {
    const place = patchOf(data.grid, at);
    return [at, name, place ? place.row + 1 : "", place ? place.column + 1 : "", weights[at]];
  });
  return tableOf(["token", "name", "row", "column", "weight"], rows);
}

/** @param {SavedLook} look */
export function saveRow(look) {
  saveTable(fileStem(look.data.title, "picture"), rowTable(look), rowProvenance(look));
}
