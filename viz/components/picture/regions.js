// Two regions of an image, drawn by pointer or keyboard.
//
// Meaning of each mark:
//   frame A    the query patches: a solid line.            frame B    the key patches: a dashed line.
//   thin frame the keyboard's patch.                       dim        pixels outside the model's input.
// A drag draws the pressed region; then the next region is active. Arrow keys move, with Shift they extend the region,
// Enter keeps it.

import { clamp } from "../shared/colours.js";
import { h, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { _ } from "../shared/words.js";
import { drawDimmed } from "./picture_drawing.js";
import { patchBox, patchOf, tokenUnder } from "./picture_looks.js";
import { createStage } from "./picture_stage.js";

/** @import { PatchGrid, PatchPlace } from "./picture_looks.js" */
/** @typedef {[number, number, number, number]} RegionEnds first row and column, last row and column */
/** @typedef {"one"|"other"} RegionName */
/**
 * @typedef {object} RegionsData  Made by viz/components/picture/picture.py.
 * @property {string} photo
 * @property {string} title
 * @property {{width: number, height: number}} picture
 * @property {PatchGrid} grid
 * @property {Record<RegionName, RegionEnds|null>} regions
 * @property {Record<string, string>} [words]
 */

const REGION_NAMES = /** @type {const} */ (["one", "other"]);
const LETTERS = { one: "A", other: "B" };

/** Return the region between two patches. @param {PatchPlace} from @param {PatchPlace} to @returns {RegionEnds} */
export function regionBetween(from, to) {
  return [
    Math.min(from.row, to.row),
    Math.min(from.column, to.column),
    Math.max(from.row, to.row),
    Math.max(from.column, to.column),
  ];
}

/** Return the patch that a key leads to, or null. @param {string} key @param {PatchPlace} at @param {PatchGrid} grid */
export function stepOf(key, at, { rows, columns }) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return null;
  return { row: clamp(at.row + step[0], 0, rows - 1), column: clamp(at.column + step[1], 0, columns - 1) };
}

/**
 * Return the patch nearest to a point, in shares of the image's size.
 * @param {PatchGrid} grid @param {number} x @param {number} y
 */
export function nearest(grid, x, y) {
  const [left, top, right, bottom] = grid.box;
  const edge = 1e-6;
  const token = tokenUnder(grid, clamp(x, left + edge, right - edge), clamp(y, top + edge, bottom - edge));
  return /** @type {PatchPlace} */ (patchOf(grid, token ?? grid.start));
}

/** @param {Element|ShadowRoot} root */
function createRegions(root) {
  const view = createStage({
    onkeydown: moves,
    onpointerdown: presses,
    onpointermove: drags,
    onpointerup: drops,
    onpointercancel: () => stops(),
  }, { share: 0.6, most: 520 });
  const { photo, canvas, stage } = view;
  const buttons = {
    one: h("button", { type: "button", class: "plain", onclick: () => turnTo("one") }, _("A: attending patches")),
    other: h(
      "button",
      { type: "button", class: "plain", onclick: () => turnTo("other") },
      _("B: attended patches"),
    ),
  };
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const bar = h("div", { class: "bar", role: "group", "aria-label": _("Region to draw") });
  bar.append(buttons.one, buttons.other);
  const el = h("div", { class: "hl regions" }, bar, stage, live);
  root.replaceChildren(el);
  /** @type {RegionsData} */
  let data;
  /** @type {Record<RegionName, RegionEnds|null>} */
  let regions = { one: null, other: null };
  /** @type {RegionName} */
  let active = "one";
  let [from, to] = [{ row: 0, column: 0 }, { row: 0, column: 0 }]; // start and current patch of a drag
  let [drawing, focused, frame, stamp] = [false, false, 0, ""];
  let report = (/** @type {unknown} */ _value) => {};

  function redraw() {
    if (!frame) frame = requestAnimationFrame(paint);
  }
  /** @param {RegionName} name */
  function turnTo(name) {
    active = name;
    redraw();
  }
  /** @param {RegionEnds} ends */
  function told([top, left, bottom, right]) {
    const values = { top: top + 1, bottom: bottom + 1, left: left + 1, right: right + 1 };
    return _("rows {top} to {bottom}, columns {left} to {right}", values);
  }
  function keep() {
    const [name, region] = [active, regionBetween(from, to)];
    regions = { ...regions, [name]: region };
    active = name === "one" ? "other" : "one";
    setText(live, `${LETTERS[name]}: ${told(region)}`);
    redraw();
    report({ name, region });
  }
  /** @param {PointerEvent} event */
  function at(event) {
    return nearest(data.grid, ...view.place(event));
  }
  /** @param {PointerEvent} event */
  function presses(event) {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    drawing = true;
    from = to = at(event);
    redraw();
  }
  /** @param {PointerEvent} event */
  function drags(event) {
    if (!drawing) return;
    to = at(event);
    redraw();
  }
  /** @param {PointerEvent} event */
  function drops(event) {
    if (!drawing) return;
    to = at(event);
    drawing = false;
    keep();
  }
  function stops() {
    drawing = false;
    to = from;
    redraw();
  }
  /** @param {KeyboardEvent} event */
  function moves(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = stepOf(event.key, to, data.grid);
    if (next) {
      focused = true;
      to = next;
      if (!event.shiftKey) from = next;
      setText(live, told(regionBetween(from, to)));
      redraw();
    } else if (event.key === "Enter" || event.key === " ") keep();
    else if (event.key === "Escape") stops();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function paint() {
    frame = 0;
    if (!data || !view.ready() || !el.clientWidth) return;
    const { ctx, ratio } = view.fit(data.picture);
    drawDimmed(ctx, photo, canvas.width, canvas.height, data.grid, null);
    for (const name of REGION_NAMES) {
      const region = regions[name];
      if (region) frameRegion(ctx, region, LETTERS[name], name === "other" ? [7, 5] : [], ratio);
      setAttribute(buttons[name], "aria-pressed", name === active);
    }
    if (drawing || focused) frameRegion(ctx, regionBetween(from, to), "", [2, 3], ratio);
    setAttribute(el, "data-drawn", REGION_NAMES.map((name) => (regions[name] ?? []).join("-")).join("|"));
  }
  /**
   * Draw a frame, white inside dark, so that it is visible on any image.
   * @param {CanvasRenderingContext2D} ctx @param {RegionEnds} ends @param {string} letter @param {number[]} dash
   * @param {number} ratio
   */
  function frameRegion(ctx, [top, left, bottom, right], letter, dash, ratio) {
    const [x, y] = patchBox(data.grid, { row: top, column: left });
    const [x2, y2, w, tall] = patchBox(data.grid, { row: bottom, column: right });
    const box = [x * canvas.width, y * canvas.height, (x2 + w - x) * canvas.width, (y2 + tall - y) * canvas.height];
    for (const [line, colour] of /** @type {[number, string][]} */ ([[5, "#000000"], [2.5, "#ffffff"]])) {
      ctx.setLineDash(line > 4 ? [] : dash.map((part) => part * ratio));
      ctx.lineWidth = line * ratio;
      ctx.strokeStyle = colour;
      ctx.strokeRect(box[0], box[1], box[2], box[3]);
    }
    ctx.setLineDash([]);
    if (!letter) return;
    const size = 20 * ratio;
    ctx.fillStyle = "#000000";
    ctx.fillRect(box[0], box[1], size, size);
    ctx.fillStyle = "#ffffff";
    ctx.font = `600 ${14 * ratio}px sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(letter, box[0] + size / 2, box[1] + size / 2);
  }
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  return {
    /** @param {RegionsData} given @param {(value: unknown) => void} send */
    update(given, send) {
      [data, report, regions] = [given, send, given.regions];
      if (stamp !== data.photo) {
        stamp = data.photo;
        from = to = { row: Math.floor((data.grid.rows - 1) / 2), column: Math.floor((data.grid.columns - 1) / 2) };
        active = regions.one && !regions.other ? "other" : "one";
        view.show(data.photo, redraw);
      }
      const label = _(
        "{title}. Drag a region, or use arrow keys; Shift widens, Enter keeps.",
        { title: data.title },
      );
      setAttribute(stage, "aria-label", label);
      redraw();
    },
    close() {
      watch.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}

export default mounting("regions", createRegions);
