// A photo, as large as its room permits, with pointer and keyboard events.

import { enlargement, h, windowHeight } from "../shared/elements.js";
import { contextOf } from "../shared/pens.js";

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {number} ratio */
export function sizeCanvas(canvas, width, height, ratio) {
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width === wide && canvas.height === tall) return;
  [canvas.width, canvas.height] = [wide, tall];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/**
 * @param {Record<string, unknown>} handlers of the stage's events
 * @param {{share: number, most: number}} height the photo's height at most, as a share of the window and in pixels
 */
export function createStage(handlers, { share, most }) {
  const photo = new Image();
  const canvas = h("canvas", { "aria-hidden": "true" });
  const stage = h("div", { class: "stage", tabindex: 0, role: "application", ...handlers }, canvas);
  return {
    photo,
    canvas,
    stage,
    /** @param {string} address @param {() => void} arrived */
    show(address, arrived) {
      photo.onload = arrived;
      photo.src = address;
    },
    ready: () => photo.complete && photo.naturalWidth > 0,
    /**
     * Return the position of a pointer in shares of the image's size.
     * @param {MouseEvent} event @returns {[number, number]}
     */
    place(event) {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    },
    /** Fit the canvas to its room. @param {{width: number, height: number}} picture */
    fit({ width, height }) {
      const ratio = (globalThis.devicePixelRatio || 1) * enlargement(canvas);
      const tallest = Math.min(share * windowHeight(stage), most);
      const wide = Math.round(Math.min(stage.clientWidth, tallest * width / height));
      sizeCanvas(canvas, wide, Math.round(wide * height / width), ratio);
      return { ctx: contextOf(canvas), ratio };
    },
  };
}
