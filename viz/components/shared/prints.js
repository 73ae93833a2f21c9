// Saves a picture as SVG or PNG, for anything that draws with a pen.

import { h, save_as } from "./elements.js";
import { canvasPen, contextOf, svgPen } from "./pens.js";

/** @typedef {"PNG"|"SVG"} PictureFormat */
/** @typedef {import("./pens.js").Pen} Pen */
/** @typedef {{width: number, height: number, family: string, draw: (pen: Pen) => void}} Paper */

const NOTE = 20; // pixels for the note
// The note is in English, since it is drawn on systems without Chinese fonts.
const NO_FONT = "This computer has no font for some of the Chinese characters: boxes stand in their places.";

/**
 * Save the picture as `name` with the format's suffix; a PNG has `ratio` pixels per unit.
 * @param {Paper} paper @param {string} name @param {PictureFormat} format @param {number} ratio
 */
export function savePaper(paper, name, format, ratio) {
  const file = `${name}.${format.toLowerCase()}`;
  if (format === "SVG") {
    const pen = svgPen(paper.width, paper.height, paper.family);
    paper.draw(pen);
    return save_as(file, new Blob([pen.finish()], { type: "image/svg+xml" }));
  }
  /** @type {string[]} */
  const said = [];
  const canvas = papered(paper, paper.height, ratio, (pen) => {
    paper.draw({
      ...pen,
      text(text, x, y, style) {
        said.push(text);
        pen.text(text, x, y, style);
      },
    });
  });
  const missing = boxed(said.join(""), paper.family);
  const whole = missing ? papered(paper, paper.height + NOTE, ratio, (pen) => noted(pen, canvas, paper)) : canvas;
  whole.toBlob((blob) => blob && save_as(file, blob), "image/png");
}

/**
 * Return a white canvas with a drawing.
 * @param {Paper} paper @param {number} height @param {number} ratio @param {(pen: Pen) => void} draw
 */
function papered(paper, height, ratio, draw) {
  const canvas = h("canvas", { width: paper.width * ratio, height: height * ratio });
  const ctx = contextOf(canvas);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, paper.width, height);
  draw(canvasPen(ctx, paper.family, ratio));
  return canvas;
}

/** Draw the picture with the note under it. @param {Pen} pen @param {HTMLCanvasElement} canvas @param {Paper} paper */
function noted(pen, canvas, { width, height }) {
  pen.image(canvas, 0, 0, width, height);
  pen.text(NO_FONT, 8, height + NOTE / 2, { size: 10, fill: "#555555" });
}

/**
 * Return true if the system has no font for a Chinese character of the text: it looks like an unassigned character.
 * @param {string} text @param {string} family
 */
export function boxed(text, family) {
  const letters = [...new Set(text.match(/\p{Script=Han}/gu))];
  const nothing = letters.length ? pixelsOf("\u{10fffd}", family) : "";
  return letters.some((letter) => pixelsOf(letter, family) === nothing);
}

/** Return a letter's pixels. @param {string} letter @param {string} family */
function pixelsOf(letter, family) {
  const ctx = contextOf(h("canvas", { width: 32, height: 32 }));
  ctx.font = `24px ${family}`;
  ctx.fillText(letter, 2, 26);
  return ctx.getImageData(0, 0, 32, 32).data.join();
}
