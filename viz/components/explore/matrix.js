// The matrix of the chosen head: drawing, pointer, wheel and keyboard.

import { clamp, printTheme } from "../shared/colours.js";
import { enlargement, h, placeIn, setAttribute, setText } from "../shared/elements.js";
import { filterRange, quote } from "./cells.js";
import { drawLegend } from "./legend.js";
import { drawMatrix, gutters, printedMatrix } from "./matrix_picture.js";
import { isExact, minus, tileAt } from "./numbers.js";
import { canvasPen, cleared, contextOf } from "../shared/pens.js";
import { fill, together } from "../shared/words.js";
import { canonical, ends } from "./selection.js";
import { matrixTiles } from "./tiles.js";
import { clampView, fitView, matrixKey, zoomAt } from "./viewport.js";

/** @import { App, Head, Pen, Place, Print, Selection, Viewport } from "./types.js" */
/** @import { MatrixFigure } from "./matrix_picture.js" */

/**
 * @typedef {Pick<MatrixFigure, "queries"|"keys"|"range"|"area"|"view"|"size"> & {key: string}} Frame the position of
 * the map
 */
/** @typedef {Frame & MatrixFigure} Drawn */
/** @typedef {{x: number, y: number}} Point */

/** @param {App} app */
export function createMatrix(app) {
  const say = app.say;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", {
    class: "pad",
    tabindex: 0,
    role: "application",
    onkeydown,
    onpointerdown,
    onpointermove,
    onpointerup,
    onpointercancel,
    onpointerleave,
    onblur,
  }, canvas);
  pad.addEventListener("wheel", onwheel, { passive: false });
  const legend = h("canvas", { role: "img" });
  const note = h("p", { class: "note" });
  const el = h("div", { class: "matrix" }, pad, legend, note);
  /** @type {Drawn} undefined until the first drawing */
  let now;
  /** @type {Place|null} */
  let hover = null;
  /** @type {{points: Map<number, Point>, moved: number}} */
  const drag = { points: new Map(), moved: 0 };

  /** @param {Pen} pen @param {number} width @param {number} height @returns {Frame} */
  function frame(pen, width, height) {
    const { queries } = app.data;
    const keys = app.keys();
    const range = filterRange(queries, keys, app.shown().filter);
    const label = gutters(pen, queries, keys, range, 12, Math.min(116, width / 4));
    const area = { x: label.left, y: label.top, w: width - label.left - 8, h: height - label.top - 6 };
    const stored = app.store.state.view;
    const key = [app.stamp, Object.values(range)].join();
    const view = stored?.key === key ? clampView(stored, range, area) : fitView(range, area);
    return { range, area, view, key, queries, keys, size: 12 };
  }
  function draw(width, height) {
    const family = app.theme.family;
    const first = frame(canvasPen(contextOf(canvas), family, 1), width, height);
    const tall = Math.min(
      height,
      first.area.y +
        (first.range.q1 - first.range.q0) * Math.max(first.view.scale, fitView(first.range, first.area).scale) + 8,
    );
    const pen = cleared(canvas, width, Math.ceil(tall), family);
    const shown = app.shown();
    if (hover && (hover.row >= first.range.q1 || hover.col >= first.range.k1)) hover = null;
    const link = app.store.state.picking ? app.linkOf(shown) : shown;
    now = {
      ...first,
      tiles: matrixTiles(app, first, pen.ratio),
      top: app.scaleTop(),
      scale: shown.scale,
      theme: app.theme,
      focus: link.focus,
      target: link.target,
      facing: shown.facing,
      hover,
      corner: [say.rowCorner, say.columnCorner],
    };
    const exact = now.tiles.length > 1 || now.tiles.some((tile) => isExact(tile)); // else only the thumbnail is there
    pad.classList.toggle("skeleton", now.tiles.length === 0);
    drawMatrix(pen, now);
    describe(shown, exact, width);
  }
  function describe(shown, exact, width) {
    const zoomed = now.view.scale > fitView(now.range, now.area).scale * 1.001;
    pad.style.touchAction = zoomed ? "none" : "pan-y pinch-zoom";
    setAttribute(pad, "aria-label", fill(say.matrixLabel, { head: app.name(shown.layer, shown.head) }));
    setText(
      note,
      together(
        say.axes,
        say.matrixNote,
        fitView(now.range, now.area).scale < 14 ? say.matrixZoom : "",
      ),
    );
    const scaleName = shown.scale === "sqrt" ? say.sqrtScale : say.linearScale;
    setAttribute(legend, "aria-label", `${scaleName}, ${app.data.signed ? `−${now.top}` : "0"} – ${now.top}`);
    drawLegend(cleared(legend, Math.min(width, 420), 28, app.theme.family), {
      theme: app.theme,
      x: 2,
      y: 1,
      w: 180,
      top: now.top,
      scale: shown.scale,
      name: scaleName,
    });
    pad.classList.toggle("waiting", !exact);
  }
  /** @param {MouseEvent} event */
  function cellUnder(event) {
    const { area, view, range } = now;
    const [left, top] = placeIn(canvas, event);
    const [x, y] = [left - area.x, top - area.y];
    const [row, col] = [Math.floor(view.q + y / view.scale), Math.floor(view.k + x / view.scale)];
    const inside = x >= -area.x && y >= -area.y && x <= area.w && y <= area.h && row < range.q1 && col < range.k1;
    if (!inside || (x < 0 && y < 0)) return null;
    return {
      row: x >= 0 || y >= 0 ? Math.max(row, range.q0) : -1,
      col: Math.max(col, range.k0),
      onMap: x >= 0 && y >= 0,
      x,
      y,
      side: x < 0 ? "row" : y < 0 ? "column" : null,
    };
  }
  /** Return the tooltip of a cell: both tokens and the weight, or the largest weight of the pooled cells. */
  function lines({ row, col }) {
    const found = now.tiles.map((tile) => tileAt(tile, row, col)).filter(Boolean).pop();
    const text = [`${quote(now.queries, row)} → ${quote(now.keys, col)}`];
    if (!found) return text;
    text[0] += ` ${weightText(found.value)}`;
    if (found.rows * found.cols > 1) text.push(fill(app.data.signed ? say.pooledSigned : say.pooled, found));
    text.push(`${row} → ${col}`);
    return text;
  }
  const tiny = (value) => value !== 0 && Math.abs(value) < 0.00005;
  const weightText = (value) => minus(tiny(value) ? value.toExponential(1) : value.toFixed(4));
  function point(cell, event) {
    hover = { row: cell.row, col: cell.col };
    const { kept } = app.store.state;
    const pivot = kept.facing === "out" ? { focus: cell.row } : { target: cell.col };
    app.preview(canonical({ ...kept, ...pivot }) === canonical(kept) ? null : pivot);
    app.tip.show(lines(hover), event.clientX, event.clientY);
    app.redraw();
  }
  function clear() {
    hover = null;
    app.preview(null);
    app.tip.hide();
    app.redraw();
  }
  /** @param {PointerEvent} event */
  function onpointerdown(event) {
    drag.points.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (drag.points.size === 1) drag.moved = 0;
    if (event.pointerType !== "touch" || pad.style.touchAction === "none") pad.setPointerCapture(event.pointerId);
  }
  /** @param {PointerEvent} event */
  function onpointermove(event) {
    if (!now) return;
    const before = drag.points.get(event.pointerId);
    if (!before) {
      const cell = cellUnder(event);
      if (cell?.onMap) point(cell, event);
      else if (hover) clear();
      return;
    }
    const others = [...drag.points.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const here = { x: event.clientX, y: event.clientY };
    drag.moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    drag.points.set(event.pointerId, here);
    if (others.length) pinch(before, here, others[0]);
    else if (drag.moved > 4) {
      const scale = now.view.scale * enlargement(canvas);
      move((before.x - here.x) / scale, (before.y - here.y) / scale);
    }
  }
  function pinch(before, here, other) {
    const apart = (at) => Math.hypot(at.x - other.x, at.y - other.y);
    const [x, y] = placeIn(canvas, { clientX: (here.x + other.x) / 2, clientY: (here.y + other.y) / 2 });
    zoom(apart(here) / Math.max(1, apart(before)), x - now.area.x, y - now.area.y);
  }
  /** @param {PointerEvent} event */
  function onpointerup(event) {
    const clicked = drag.points.delete(event.pointerId) && drag.moved <= 4;
    const cell = clicked && now ? cellUnder(event) : null;
    if (!cell) return;
    const place = { focus: cell.row, target: cell.col };
    const picks = cell.onMap && (event.altKey || app.store.state.picking);
    const end = picks ? ends(app.store.state.kept)[1] : cell.side === "column" ? "target" : "focus";
    app.keep(cell.onMap && !picks ? place : { [end]: place[end] });
    app.setLocal({ picking: false });
    if (cell.onMap) point(cell, event);
  }
  /** @param {PointerEvent} event */
  function onpointercancel(event) {
    drag.points.delete(event.pointerId);
  }
  /** @param {PointerEvent} event */
  function onpointerleave(event) {
    if (!drag.points.has(event.pointerId)) clear();
  }
  function onblur() {
    if (hover) clear();
  }
  function setView(view) {
    app.setLocal({ view: { ...view, key: now.key } });
  }
  function move(cols, rows) {
    setView(clampView({ ...now.view, q: now.view.q + rows, k: now.view.k + cols }, now.range, now.area));
  }
  function zoom(factor, x = now.area.w / 2, y = now.area.h / 2) {
    setView(zoomAt(now.view, now.range, now.area, factor, x, y));
  }
  /** @param {WheelEvent} event */
  function onwheel(event) {
    if (!now) return;
    const least = fitView(now.range, now.area).scale;
    const leaving = event.deltaY > 0 && now.view.scale <= least * 1.001;
    if ((least >= 14 && !event.ctrlKey && !event.metaKey) || leaving) return;
    event.preventDefault();
    const [x, y] = placeIn(canvas, event);
    zoom(Math.exp(clamp(-event.deltaY, -200, 200) * 0.003), x - now.area.x, y - now.area.y);
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const link = app.linkOf(app.store.state.kept);
    const at = hover ?? { row: link.focus ?? now.range.q0, col: link.target ?? now.range.k0 };
    const act = matrixKey(event.key, event.shiftKey, at, now.range);
    if (!act) return;
    event.preventDefault();
    if (act.pan) move(act.pan[1] * 4, act.pan[0] * 4);
    else if (act.zoom) zoom(act.zoom);
    else if (act.fit) app.setLocal({ view: null });
    else if (act.keep) app.keep({ focus: at.row, target: at.col });
    else if (act.back) {
      app.escape();
      clear();
    } else reach(/** @type {Place} */ (act));
  }
  /** Move the keyboard's cell and bring it into view. @param {Place} place */
  function reach({ row, col }) {
    const { view, area } = now;
    const inside = (/** @type {number} */ at, /** @type {number} */ start, /** @type {number} */ room) =>
      at < start ? at : Math.max(start, at + 1 - room / view.scale);
    const next = { ...view, q: inside(row, view.q, area.h), k: inside(col, view.k, area.w) };
    if (next.q !== view.q || next.k !== view.k) setView(clampView(next, now.range, area));
    const [box, scale] = [canvas.getBoundingClientRect(), enlargement(canvas)];
    const x = clamp((col - next.k + 1) * view.scale, 0, area.w) + area.x;
    const y = clamp((row - next.q + 1) * view.scale, 0, area.h) + area.y;
    point({ row, col }, { clientX: x * scale + box.left, clientY: y * scale + box.top });
    app.announce(lines({ row, col })[0]);
  }
  /** Return the visible part for export. */
  function print() {
    if (!now?.tiles.length) return null;
    return printedMatrix(now, canvasPen(contextOf(canvas), printTheme().family, 1), say);
  }
  return {
    el,
    draw,
    print,
    zoomIn: () => now && zoom(1.6),
    zoomOut: () => now && zoom(1 / 1.6),
    fit: () => app.setLocal({ view: null }),
  };
}
