// A thin shaded bar of the whole text under a long text, with the window of the visible chips.

import { clamp } from "../shared/colours.js";
import { h, setText } from "../shared/elements.js";
import { poolMax } from "./numbers.js";
import { cleared } from "../shared/pens.js";
import { levelCanvas } from "./raster.js";
import { fill } from "../shared/words.js";

/** @import { App, Scale } from "./types.js" */

/** @param {App} app @param {(start: number) => void} onmove */
export function createScrubber(app, onmove) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  /** @type {HTMLInputElement} */
  const range = h("input", {
    type: "range",
    min: 0,
    step: 1,
    "aria-label": app.say.moveWindow,
    oninput: () => onmove(Number(range.value)),
  });
  const place = h("span", { class: "place" });
  const jump = (/** @type {number} */ sign) => () =>
    onmove(clamp(Number(range.value) + sign * size, 0, Number(range.max)));
  const track = h("div", { class: "track" }, canvas, range);
  let size = 1;
  const el = h(
    "div",
    { class: "scrubber", hidden: true },
    h("button", { type: "button", class: "plain", "aria-label": app.say.earlier, onclick: jump(-1) }, "‹"),
    track,
    h("button", { type: "button", class: "plain", "aria-label": app.say.later, onclick: jump(1) }, "›"),
    place,
  );
  /**
   * @param {Float32Array|null} values @param {number} length @param {number} start @param {number} count
   * @param {Scale} scale @param {number} top
   */
  function draw(values, length, start, count, scale, top) {
    el.hidden = count >= length;
    if (el.hidden) return;
    size = count;
    range.max = String(length - count);
    range.value = String(start);
    setText(place, fill(app.say.range, { from: start, to: start + count - 1, count: length }));
    const width = Math.max(40, track.clientWidth);
    const pen = cleared(canvas, width, 16, app.theme.family);
    if (values) {
      const cells = Math.min(width, values.length);
      const pooled = poolMax(values, values.length, [0, 1], [0, values.length], 1, cells);
      const levels = pooled.map((weight) => app.theme.level(weight, top, scale));
      pen.image(levelCanvas(levels, 1, cells, app.theme.palette), 0, 4, width, 8);
    }
    pen.rect(0.5, 4.5, width - 1, 7, { stroke: app.theme.hair });
    pen.rect((start / length) * width + 1, 1, Math.max(6, (count / length) * width - 2), 14, {
      stroke: app.theme.text,
      width: 1.5,
    });
  }
  return { el, draw };
}
