// A picture as a file, SVG or PNG: whatever draws with a pen.

import { h, save_as } from "./elements.js";
import { canvasPen, contextOf, svgPen } from "./pens.js";

/** @typedef {"PNG"|"SVG"} PictureFormat */
/** @typedef {{width: number, height: number, family: string, draw: (pen: import("./pens.js").Pen) => void}} Paper */

/**
 * Save it as `name` with the format's ending; a PNG has `ratio` pixels per unit.
 * @param {Paper} paper @param {string} name @param {PictureFormat} format @param {number} ratio
 */
export function savePaper(paper, name, format, ratio) {
  const file = `${name}.${format.toLowerCase()}`;
  if (format === "SVG") {
    const pen = svgPen(paper.width, paper.height, paper.family);
    paper.draw(pen);
    return save_as(file, new Blob([pen.finish()], { type: "image/svg+xml" }));
  }
  const canvas = h("canvas", { width: paper.width * ratio, height: paper.height * ratio });
  const ctx = contextOf(canvas);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, paper.width, paper.height);
  paper.draw(canvasPen(ctx, paper.family, ratio));
  canvas.toBlob((blob) => blob && save_as(file, blob), "image/png");
}
