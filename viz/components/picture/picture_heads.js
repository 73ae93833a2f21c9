// The small maps of all heads: hit testing, keyboard navigation, and drawing.

import { distanceFromTop, enlargement, h, placeIn, setAttribute, windowHeight } from "../shared/elements.js";
import { contextOf } from "../shared/pens.js";
import { _ } from "../shared/words.js";
import { drawHeads } from "./picture_drawing.js";
import { headKey, headSheet, headUnder } from "./picture_looks.js";
import { sizeCanvas } from "./picture_stage.js";

/** @import { PictureTheme } from "./picture_drawing.js" */
/** @import { HeadSheet, PatchGrid } from "./picture_looks.js" */
/** @import { EveryHead } from "./picture_source.js" */
/**
 * @typedef {object} HeadsShown
 * @property {{layers: number, heads: number, grid: PatchGrid}} data
 * @property {EveryHead|null} every
 * @property {number} chosen the head at which keyboard navigation starts
 * @property {boolean} framed whether the chosen head is framed
 * @property {string} name name of the shown map
 * @property {number} width width of the whole view
 */

const SMALL = 640; // pixels below which the heads are under the picture

/**
 * @param {object} told
 * @param {(id: number) => void} told.keep called if a head is chosen
 * @param {(name: string, x: number, y: number) => void} told.over called if the pointer is over a head
 * @param {() => void} told.leave
 * @param {() => void} told.redraw
 */
export function createHeads({ keep, over, leave, redraw }) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", {
    class: "pad",
    tabindex: 0,
    role: "application",
    onkeydown: moves,
    onpointermove: points,
    onpointerleave: () => hover(-1),
    onclick: keeps,
  }, canvas);
  /** @type {HeadSheet} */
  let sheet;
  /** @type {HeadsShown} */
  let shown;
  let hovered = -1;

  /** @param {number} id */
  function hover(id) {
    if (id < 0) leave();
    if (id === hovered) return;
    hovered = id;
    redraw();
  }
  /** @param {MouseEvent} event */
  function under(event) {
    return sheet ? headUnder(sheet, ...placeIn(canvas, event)) : -1;
  }
  /** @param {PointerEvent} event */
  function points(event) {
    const id = under(event);
    hover(id);
    if (id < 0) return;
    const { heads } = shown.data;
    const [layer, head] = [Math.floor(id / heads), id % heads];
    over(_("Head {layer}-{head}", { layer, head }), event.clientX, event.clientY);
  }
  /** @param {MouseEvent} event */
  function keeps(event) {
    const id = under(event);
    if (id >= 0) keep(id);
  }
  /** @param {KeyboardEvent} event */
  function moves(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !sheet) return;
    const to = headKey(event.key, shown.chosen, sheet);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    keep(to);
  }
  /** @param {HeadsShown} now @param {PictureTheme} theme */
  function paint(now, theme) {
    shown = now;
    const { layers, heads, grid } = now.data;
    const coarse = now.width < SMALL || globalThis.matchMedia?.("(pointer: coarse)").matches;
    const height = coarse ? Infinity : windowHeight(pad) - distanceFromTop(pad) - 40;
    const room = { layers, heads, rows: grid.rows, columns: grid.columns, width: pad.clientWidth, height };
    sheet = headSheet({ ...room, least: coarse ? 28 : 24, most: 64 });
    const ratio = (globalThis.devicePixelRatio || 1) * enlargement(canvas);
    sizeCanvas(canvas, sheet.left + heads * sheet.wide + 2, sheet.top + layers * sheet.tall + 2, ratio);
    const ctx = contextOf(canvas);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.scale(ratio, ratio);
    const marks = { chosen: now.framed ? now.chosen : -1, hovered };
    if (now.every) drawHeads(ctx, sheet, grid, now.every, theme, marks);
    setAttribute(pad, "aria-label", _("All heads; chosen: {head}. Arrow keys move.", { head: now.name }));
  }
  return { pad, paint };
}
