// Draws the image with patches dimmed by weight, and a small map for each head.

import { brightness, onPatches, patchBox, patchOf } from "./picture_looks.js";
import { contextOf } from "../shared/pens.js";

/** @import { HeadSheet, PatchGrid, Weights } from "./picture_looks.js" */
/** @import { EveryHead } from "./picture_source.js" */
/** @import { readTheme } from "../shared/colours.js" */
/** @typedef {ReturnType<typeof readTheme>} PictureTheme */

const DIMMEST = 212; // opacity, of 255, of the shade over a patch without weight
const HATCH = 16; // pixels between the lines over the part of an image that the model does not receive

/** @type {Map<string, HTMLCanvasElement>} cached canvases by name */
const sheets = new Map();

/** Return a canvas for pixels. @param {string} name @param {number} width @param {number} height */
function pixelSheet(name, width, height) {
  const sheet = sheets.get(name) ?? document.createElement("canvas");
  sheets.set(name, sheet);
  if (sheet.width !== width || sheet.height !== height) [sheet.width, sheet.height] = [width, height];
  return sheet;
}

/** Return a pixel for each patch, darker for smaller weights. @param {PatchGrid} grid @param {Weights} weights */
function shadeOf(grid, weights) {
  const bright = brightness(onPatches(grid, weights));
  const shade = pixelSheet("shade", grid.columns, grid.rows);
  const inner = contextOf(shade);
  const pixels = inner.createImageData(grid.columns, grid.rows);
  for (let i = 0; i < bright.length; i++) pixels.data[4 * i + 3] = DIMMEST * (1 - bright[i] / 255);
  inner.putImageData(pixels, 0, 0);
  return shade;
}

/**
 * Draw the photo and a shade over it, darker for smaller weights. Pixels outside the model's input have the darkest
 * shade and are hatched.
 * @param {CanvasRenderingContext2D} ctx of a canvas of width and height
 * @param {CanvasImageSource} photo @param {number} width @param {number} height
 * @param {PatchGrid} grid @param {Weights|null} weights of all tokens; null draws no shade on patches
 */
export function drawDimmed(ctx, photo, width, height, grid, weights) {
  ctx.imageSmoothingEnabled = true;
  ctx.drawImage(photo, 0, 0, width, height);
  const [left, top, right, bottom] = [0, 1, 2, 3].map((i) => Math.round(grid.box[i] * (i % 2 ? height : width)));
  if (weights) {
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(shadeOf(grid, weights), left, top, right - left, bottom - top);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, width, height);
  ctx.rect(left, top, right - left, bottom - top);
  ctx.clip("evenodd");
  ctx.fillStyle = `rgba(0, 0, 0, ${DIMMEST / 255})`;
  ctx.fillRect(0, 0, width, height);
  ctx.beginPath();
  for (let at = HATCH; at < width + height; at += HATCH) {
    ctx.moveTo(at, 0);
    ctx.lineTo(at - height, height);
  }
  ctx.lineWidth = HATCH / 8;
  ctx.strokeStyle = "rgba(255, 255, 255, 0.25)";
  ctx.stroke();
  ctx.restore();
}

/**
 * Draw a frame around a token's patch, white inside dark, so that it is visible on any image.
 * @param {CanvasRenderingContext2D} ctx @param {number} width @param {number} height @param {PatchGrid} grid
 * @param {number} token @param {number} ratio
 */
export function framePatch(ctx, width, height, grid, token, ratio) {
  const at = patchOf(grid, token);
  if (!at) return;
  const [x, y, w, h] = patchBox(grid, at);
  for (const [line, colour] of /** @type {[number, string][]} */ ([[4, "#000000"], [2, "#ffffff"]])) {
    ctx.lineWidth = line * ratio;
    ctx.strokeStyle = colour;
    ctx.strokeRect(x * width, y * height, w * width, h * height);
  }
}

/**
 * Draw a token's row in every head as a small map, layers downwards; each from 0 to its largest weight.
 * @param {CanvasRenderingContext2D} ctx @param {HeadSheet} sheet @param {PatchGrid} grid @param {EveryHead} every
 * @param {PictureTheme} theme @param {{chosen: number, hovered: number}} marks
 */
export function drawHeads(ctx, sheet, grid, every, theme, { chosen, hovered }) {
  const { rows, columns } = grid;
  const atlas = pixelSheet("atlas", columns * sheet.heads, rows * sheet.layers);
  const inner = contextOf(atlas);
  const pixels = inner.createImageData(atlas.width, atlas.height);
  const words = new Uint32Array(pixels.data.buffer);
  for (let id = 0; id < every.heads; id++) {
    const from = id * every.count + grid.start;
    const bright = brightness(every.data.subarray(from, from + rows * columns));
    const corner = Math.floor(id / sheet.heads) * rows * atlas.width + (id % sheet.heads) * columns;
    for (let i = 0; i < bright.length; i++) {
      words[corner + Math.floor(i / columns) * atlas.width + i % columns] = theme.palette[bright[i]];
    }
  }
  inner.putImageData(pixels, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.font = `11px ${theme.family}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.muted;
  for (let head = 0; head < sheet.heads; head++) {
    ctx.textAlign = "center";
    ctx.fillText(String(head), sheet.left + (head + 0.5) * sheet.wide, sheet.top / 2);
  }
  for (let layer = 0; layer < sheet.layers; layer++) {
    ctx.textAlign = "right";
    ctx.fillStyle = theme.muted;
    ctx.fillText(String(layer), sheet.left - 6, sheet.top + (layer + 0.5) * sheet.tall);
    for (let head = 0; head < sheet.heads; head++) {
      const [x, y] = [sheet.left + head * sheet.wide, sheet.top + layer * sheet.tall];
      const [w, h] = [sheet.wide - 4, sheet.tall - 4];
      ctx.drawImage(atlas, head * columns, layer * rows, columns, rows, x + 2, y + 2, w, h);
      const id = layer * sheet.heads + head;
      if (id !== chosen && id !== hovered) continue;
      ctx.lineWidth = 2;
      ctx.strokeStyle = id === chosen ? theme.accent : theme.text;
      ctx.strokeRect(x + 1, y + 1, w + 2, h + 2);
    }
  }
}
