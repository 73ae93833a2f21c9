// The lines of the chosen and the pinned heads: drawing, hover and scrolling.

import { clamp, printTheme } from "../shared/colours.js";
import { enlargement, h, placeIn, setAttribute, setText } from "../shared/elements.js";
import { windowOn } from "../shared/moves.js";
import { visible } from "../shared/texts.js";
import { filterRange, quote } from "./cells.js";
import { createHeadNames, lineHeads } from "./line_heads.js";
import { drawLines, LEAST_LINE, PAPER, printedLines } from "./lines_picture.js";
import { gutters } from "./matrix_picture.js";
import { short, tileAt } from "./numbers.js";
import { canvasPen, cleared, contextOf } from "../shared/pens.js";
import { ends } from "./selection.js";
import { linesTile } from "./tiles.js";
import { fill } from "../shared/words.js";

/** @import { App, Pen, Print, Range, Theme } from "./types.js" */
/** @import { Followed, LinesFigure } from "./lines_picture.js" */

/** @typedef {LinesFigure & {range: Range, count: number}} Drawn */
/** @typedef {"left"|"right"|"both"} Side */

/** @param {App} app */
export function createLines(app) {
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
    onpointercancel: onpointerup,
    onpointerleave,
  }, canvas);
  pad.addEventListener("wheel", onwheel, { passive: false });
  const heads = createHeadNames(app);
  const note = h("p", { class: "note" });
  const place = h("span", { class: "place" });
  const turn = (sign) => () => now && scroll(sign * now.count, "both");
  const pager = h(
    "div",
    { class: "pager" },
    h("button", { type: "button", class: "plain", "aria-label": say.earlier, onclick: turn(-1) }, "‹"),
    place,
    h("button", { type: "button", class: "plain", "aria-label": say.later, onclick: turn(1) }, "›"),
  );
  const el = h("div", { class: "lines" }, pad, pager, heads.el, note);
  /** @type {Drawn} undefined until the first drawing */
  let now;
  /** @type {Followed|null} */
  let follow = null;
  /** @type {{y: number, side: Side, moved: number}|null} */
  let drag = null;
  let seen = "";

  /** Return the visible rows of each column; they include the kept focus and target. */
  function windows(height, step, range) {
    const count = Math.max(4, Math.floor((height - 26) / step));
    const { kept } = app.store.state;
    const link = app.linkOf(kept);
    const stored = app.store.state.scroll ?? { q: range.q0, k: range.k0 };
    const key = [app.stamp, kept.focus, kept.target, kept.facing, Object.values(range)].join();
    const side = (at, from, to, must) => {
      const length = to - from;
      const inside = must !== null && must >= from && must < to && key !== seen ? must - from : null;
      return from + windowOn(inside, at - from, Math.min(count, length), length);
    };
    const q = side(stored.q, range.q0, range.q1, link.focus);
    const k = side(stored.k, range.k0, range.k1, link.target);
    if ((link.focus === null) === (link.target === null)) seen = key;
    app.store.state.scroll = { q, k };
    return { left: [q, Math.min(q + count, range.q1)], right: [k, Math.min(k + count, range.k1)], count };
  }
  function specOf(width, height, theme, pen, step) {
    const keys = app.keys();
    const range = filterRange(app.data.queries, keys, app.shown().filter);
    const { left, right, count } = windows(height, step, range);
    const shown = app.shown();
    const label = gutters(
      pen,
      app.data.queries,
      keys,
      { q0: left[0], q1: left[1], k0: right[0], k1: right[1] },
      14,
      width * 0.32,
    );
    const [x1, x2] = [label.left + 8, width - label.top - 8];
    const link = app.linkOf(shown);
    const [side, index, window] = shown.facing === "out"
      ? /** @type {const} */ (["left", shown.focus, left])
      : /** @type {const} */ (["right", shown.target, right]);
    const asked = index !== null && index >= window[0] && index < window[1] ? { side, index } : null;
    return {
      range,
      count,
      theme,
      step,
      size: 14,
      top: 22,
      names: [say.linesLeft, say.linesRight],
      scale: shown.scale,
      focus: link.focus,
      target: link.target,
      facing: shown.facing,
      left: { cells: app.data.queries, start: left[0], end: left[1], x: x1, room: label.left },
      right: { cells: keys, start: right[0], end: right[1], x: x2, room: label.top },
      emphasis: follow ?? asked,
      layers: lineHeads(app, theme).flatMap(({ layer, head, colour }) => {
        const tile = linesTile(app, { layer, head }, left, right);
        return tile ? [{ layer, head, colour, tile }] : [];
      }),
    };
  }
  function draw(width, height) {
    const family = app.theme.family;
    const step = app.coarse() ? 26 : 21;
    const wide = Math.min(width, 620);
    now = specOf(wide, height, app.theme, canvasPen(contextOf(canvas), family, 1), step);
    const rows = Math.max(now.left.end - now.left.start, now.right.end - now.right.start);
    drawLines(cleared(canvas, wide, rows * step + 26, family), now);
    pad.classList.toggle("skeleton", now.layers.length === 0);
    const part = (side, count) => fill(say.range, { from: side.start, to: side.end - 1, count });
    pager.hidden = !scrolls();
    setText(place, `${part(now.left, app.data.queries.length)} → ${part(now.right, app.keys().length)}`);
    setText(note, fill(app.data.signed ? say.linesNoteSigned : say.linesNote, { least: LEAST_LINE }));
    setAttribute(pad, "aria-label", fill(say.linesLabel, { head: app.name(app.shown().layer, app.shown().head) }));
    heads.draw();
  }
  const scrolls = () => now.range.q1 - now.range.q0 > now.count || now.range.k1 - now.range.k0 > now.count;
  /** @param {MouseEvent} event */
  function under(event) {
    const [x, y] = placeIn(canvas, event);
    /** @type {"left"|"right"|null} */
    const near = x < now.left.x + 24 ? "left" : x > now.right.x - 24 ? "right" : null;
    const side = now[near ?? "left"];
    const index = side.start + Math.floor((y - now.top) / now.step);
    return {
      near,
      index,
      inside: near !== null && index >= side.start && index < side.end,
    };
  }
  /** @param {PointerEvent} event */
  function onpointermove(event) {
    if (!now) return;
    if (drag) {
      const step = now.step * enlargement(canvas);
      const steps = Math.trunc((drag.y - event.clientY) / step);
      drag.moved = Math.max(drag.moved, Math.abs(drag.y - event.clientY));
      const pages = event.pointerType === "touch"; // a finger scrolls the page
      if (steps && scrolls() && !pages) {
        scroll(steps, drag.side);
        drag.y -= steps * step;
        drag.moved = 99;
      }
      return;
    }
    const at = under(event);
    pad.style.cursor = at.inside ? "pointer" : "";
    const next = at.near && at.inside && event.pointerType !== "touch" ? { side: at.near, index: at.index } : null;
    if (next?.side === follow?.side && next?.index === follow?.index) return;
    follow = next;
    const { facing } = app.store.state.kept;
    const asks = next?.side === (facing === "out" ? "left" : "right");
    app.preview(next && asks ? (facing === "out" ? { focus: next.index } : { target: next.index }) : null);
    if (next) app.tip.show(strongest(next), event.clientX, event.clientY);
    else app.tip.hide();
    app.redraw();
  }
  /** Return the three strongest links of the hovered token for each head. */
  function strongest({ side, index }) {
    const [mine, theirs] = side === "left" ? [now.left, now.right] : [now.right, now.left];
    const text = [quote(mine.cells, index)];
    for (const { tile, layer, head } of now.layers) {
      const links = [];
      for (let i = theirs.start; i < theirs.end; i++) {
        links.push([i, (side === "left" ? tileAt(tile, index, i) : tileAt(tile, i, index))?.value ?? 0]);
      }
      links.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      const names = links.slice(0, 3).map(([i, weight]) => `${visible(theirs.cells[i].text)} ${short(weight)}`);
      text.push(`${app.name(layer, head)} ${side === "left" ? "→" : "←"} ${names.join(", ")}`);
    }
    return text;
  }
  function onpointerleave() {
    if (drag || !follow) return;
    follow = null;
    app.preview(null);
    app.tip.hide();
    app.redraw();
  }
  /** @param {PointerEvent} event */
  function onpointerdown(event) {
    if (!now) return;
    drag = { y: event.clientY, side: under(event).near ?? "both", moved: 0 };
    if (event.pointerType !== "touch") pad.setPointerCapture(event.pointerId);
  }
  /** @param {PointerEvent} event */
  function onpointerup(event) {
    const clicked = drag && drag.moved < 5 && event.type === "pointerup";
    drag = null;
    const at = clicked ? under(event) : null;
    if (!at?.inside) return;
    const picks = event.altKey || app.store.state.picking;
    const end = picks ? ends(app.store.state.kept)[1] : at.near === "right" ? "target" : "focus";
    app.keep({ [end]: at.index });
    app.setLocal({ picking: false });
  }
  function scroll(steps, side) {
    const { q, k } = app.store.state.scroll ?? { q: now.range.q0, k: now.range.k0 };
    const { range, count } = now;
    app.setLocal({
      scroll: {
        q: side === "right" ? q : clamp(q + steps, range.q0, range.q1 - count),
        k: side === "left" ? k : clamp(k + steps, range.k0, range.k1 - count),
      },
    });
  }
  /** @param {WheelEvent} event */
  function onwheel(event) {
    if (!now || !scrolls() || event.ctrlKey) return;
    const before = JSON.stringify(app.store.state.scroll);
    scroll(Math.sign(event.deltaY) * 3, under(event).near ?? "both");
    if (JSON.stringify(app.store.state.scroll) !== before) event.preventDefault();
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const [pivot] = ends(app.store.state.kept);
    const [start, end] = pivot === "focus" ? [now.range.q0, now.range.q1] : [now.range.k0, now.range.k1];
    const at = app.store.state.kept[pivot];
    if (step) app.keep({ [pivot]: clamp((at ?? start - step) + step, start, end - 1) }, true);
    else if (event.key === "PageUp" || event.key === "PageDown") {
      scroll(event.key === "PageUp" ? -now.count : now.count, "both");
    } else if (event.key === "Escape") {
      follow = null;
      app.escape();
    } else if (event.key === "Enter") app.flush();
    else return;
    event.preventDefault();
  }
  function print() {
    if (!now?.layers.length) return null;
    const theme = printTheme(app.theme.signed);
    const ink = canvasPen(contextOf(canvas), theme.family, 1);
    const spec = specOf(PAPER.width, (now.count + 0.5) * PAPER.step + 26, theme, ink, PAPER.step);
    return printedLines(spec, app.name);
  }
  return { el, draw, print };
}
