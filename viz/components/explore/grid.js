// The grid of all heads' thumbnails, its order and its pages.

import { printTheme } from "../shared/colours.js";
import { h, placeIn, setAttribute, setText } from "../shared/elements.js";
import { gridKey, gridLayout, orderHeads, pageOf, slotUnder } from "./grid_layout.js";
import { drawGrid, gridPicture, leftWidth } from "./grid_picture.js";
import { measured, measuresOf } from "./measures.js";
import { short } from "./numbers.js";
import { cleared } from "../shared/pens.js";
import { picker } from "./picker.js";
import { LEGENDS } from "./legend.js";
import { attends, textOf, togglePin } from "./selection.js";
import { THUMB } from "./source.js";
import { fill } from "../shared/words.js";
import { aboveZero } from "./words.js";

/** @import { App, Grid, GridLayout, Head, Print, Theme } from "./types.js" */

/** @param {App} app */
export function createGrid(app) {
  const say = app.say;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", {
    class: "pad",
    tabindex: 0,
    role: "application",
    onkeydown,
    onfocusin,
    onpointermove,
    onpointerleave,
    onclick,
  }, canvas);
  const order = picker(app, "order");
  const focusOrder = app.data.options.order.choices.findIndex(({ value }) => value === "focus");
  const before = h(
    "button",
    { type: "button", class: "plain", "aria-label": say.pageBefore, onclick: () => turn(-1) },
    "‹",
  );
  const after = h(
    "button",
    { type: "button", class: "plain", "aria-label": say.pageAfter, onclick: () => turn(1) },
    "›",
  );
  const place = h("span", { class: "place" });
  const pager = h("div", { class: "pager" }, before, place, after);
  const note = h("p", { class: "note" });
  const ways = h("span", { class: "muted" }, say.layersDown);
  const el = h(
    "section",
    { class: "grid", "aria-label": say.grid },
    h("header", {}, h("h2", {}, say.grid), ways, order.el),
    pad,
    pager,
    note,
  );
  /** @type {GridLayout} */
  let layout;
  /** @type {number[]} */
  let slots = [];
  /** @type {{key: string, grid: Grid, canvas: HTMLCanvasElement}|null} */
  let picture = null;
  /** @type {Head|null} */
  let anchor = null;
  let last = "";

  const kept = () => app.store.state.kept;
  const idOf = (/** @type {Head} */ { layer, head }) => layer * app.data.heads + head;
  const ordered = () => (kept().order === "layer" ? null : values(kept().order));
  /** @param {number} slot @returns {Head} */
  const headAt = (slot) => ({ layer: Math.floor(slots[slot] / app.data.heads), head: slots[slot] % app.data.heads });
  /** @param {MouseEvent} event */
  const under = (event) => {
    return layout ? slotUnder(layout, kept().order, ...placeIn(canvas, event)) : -1;
  };
  /** @param {number} step */
  function turn(step) {
    app.setLocal({ page: layout.page + step });
  }
  function onfocusin() {
    anchor = { layer: kept().layer, head: kept().head };
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = gridKey(event.key, slots.indexOf(idOf(kept())), layout, kept().order);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    if (act.keep) {
      anchor = { layer: kept().layer, head: kept().head };
      if (event.shiftKey) app.pin();
      app.flush();
    } else if (act.back) {
      app.escape();
      if (anchor) app.keep(anchor, true);
    } else if (act.slot !== undefined) app.keep(headAt(act.slot), true);
  }
  /** @param {PointerEvent} event */
  function onpointermove(event) {
    const slot = under(event);
    pad.style.cursor = slot < 0 ? "" : "pointer";
    if (event.pointerType === "touch") return;
    if (slot < 0) return onpointerleave();
    const { layer } = headAt(slot);
    if (!attends(app.data, layer)) {
      app.preview(null);
      pad.style.cursor = "";
      const text = fill(say.layerWithout, { layer });
      return app.tip.show([text], event.clientX, event.clientY);
    }
    app.preview(headAt(slot));
    app.tip.show(describe(headAt(slot)), event.clientX, event.clientY);
  }
  function onpointerleave() {
    app.preview(null);
    app.tip.hide();
  }
  /** @param {MouseEvent} event */
  function onclick(event) {
    const slot = under(event);
    if (slot < 0) return;
    const { layer, head } = headAt(slot);
    if (!attends(app.data, layer)) return;
    anchor = { layer, head };
    if (event.shiftKey) app.keep({ pinned: togglePin(kept().pinned, layer, head) });
    else app.keep({ layer, head });
  }
  /** Return a head's name and its measures. @param {Head} head */
  function describe({ layer, head }) {
    const lines = [app.name(layer, head), ...measuresOf(app.data, say, layer, head)];
    const link = app.linkWeights();
    if (link) lines.push(fill(say.link, { ...app.linkNames(), weight: short(link[idOf({ layer, head })]) }));
    return lines;
  }
  /** Return the name of the measure by which the heads are ordered. */
  function orderName() {
    const { order: kind, by } = kept();
    return app.data.measures.find(({ name }) => name === kind)?.label ?? textOf(app.data, "by", by);
  }
  /** Return the values of an order, (layer * heads + head,). @param {string} kind */
  function values(kind) {
    return kind === "focus" ? app.linkStrengths() : measured(app.data, kind);
  }
  function arrange() {
    const { order: kind } = kept();
    const { layers, heads } = app.data;
    const descending = app.data.measures.find(({ name }) => name === kind)?.descending ?? kind === "focus";
    const all = orderHeads(layers * heads, ordered(), descending);
    slots = kind === "layer" ? all : all.filter((id) => attends(app.data, Math.floor(id / heads)));
    const coarse = app.width() < 600 || globalThis.matchMedia?.("(pointer: coarse)").matches;
    const frame = {
      width: pad.clientWidth - 4,
      height: app.wide() ? app.room() - 92 : 420,
      layers,
      heads,
      least: coarse ? 24 : 15,
      left: leftWidth(ordered(), app.theme.family),
    };
    layout = gridLayout({ ...frame, page: app.store.state.page });
    const where = [app.stamp, idOf(kept()), kind, layout.perPage].join();
    if (where !== last) { // the chosen head moved, so show its page
      last = where;
      const page = pageOf(layout, kind, slots.indexOf(idOf(kept())));
      if (page !== layout.page) layout = gridLayout({ ...frame, page });
      app.store.state.page = layout.page;
    }
  }
  /** @param {Grid|null} grid */
  function notes(grid) {
    const { layers } = app.data;
    ways.hidden = kept().order !== "layer";
    pager.hidden = layout.pages < 2;
    before.disabled = layout.page === 0;
    after.disabled = layout.page === layout.pages - 1;
    setText(
      place,
      fill(say.page, {
        from: layout.firstLayer,
        to: layout.firstLayer + layout.shownLayers - 1,
        count: layers,
      }),
    );
    setText(
      note,
      fill(app.data.signed ? say.gridSigned : say.gridNote, {
        scale: say[LEGENDS[kept().scale]],
        above: aboveZero(app),
      }) +
        (ordered() ? ` ${fill(say.gridOrdered, { measure: orderName() })}` : "") +
        (grid?.sampled || app.data.sampled ? ` ${say.gridSampled}` : ""),
    );
    order.select.value = kept().order;
    const names = app.linkNames();
    setText(
      order.select.options[focusOrder],
      names
        ? fill(say.orderFocus, { focus: names.from, target: names.to })
        : app.data.options.order.choices[focusOrder].text,
    );
    const title = fill(say.clauses, { names: say.allHeads, then: describe(kept()).join(", ") });
    setAttribute(pad, "aria-label", fill(say.gridLabel, { title }));
  }
  function draw() {
    const grid = app.feed.get("grid", THUMB);
    arrange();
    notes(grid);
    const shown = app.shown();
    const pen = cleared(canvas, layout.width + 3, layout.height + 3, app.theme.family);
    pad.classList.toggle("skeleton", !grid);
    if (!grid) return;
    const key = [
      layout.cell,
      layout.page,
      layout.perLine,
      slots.length > 0 && kept().order !== "layer" ? slots : "",
      kept().scale,
      app.theme.name,
      pen.ratio,
    ].join();
    if (picture?.key !== key || picture.grid !== grid) {
      const canvas = gridPicture(grid, layout, slots, kept().order, app.theme, kept().scale, pen.ratio);
      picture = { key, grid, canvas };
    }
    drawGrid(pen, figure(picture.canvas, app.theme, idOf(shown) === idOf(kept()) ? -1 : idOf(shown)));
  }
  /** @param {HTMLCanvasElement} canvas @param {Theme} theme @param {number} hovered */
  const figure = (canvas, theme, hovered) => ({
    layout,
    order: slots,
    kind: kept().order,
    heads: app.data.heads,
    values: ordered(),
    theme,
    selected: idOf(kept()),
    hovered,
    pinned: kept().pinned.map(([layer, head]) => layer * app.data.heads + head),
    without: slots.filter((id) => !attends(app.data, Math.floor(id / app.data.heads))),
    picture: canvas,
  });
  /** Return the whole grid for export. @returns {Print|null} */
  function print() {
    const grid = app.feed.peek("grid", THUMB);
    if (!grid) return null;
    const { layers, heads } = app.data;
    const theme = printTheme(app.theme.signed);
    const left = leftWidth(ordered(), theme.family);
    const paper = gridLayout({ width: 900, height: 26 + 60 * layers, layers, heads, least: 12, most: 60, left });
    const drawn = gridPicture(grid, paper, slots, kept().order, theme, kept().scale, 4);
    return {
      name: "grid",
      width: paper.width + 4,
      height: paper.height + 4,
      draw: (pen) => drawGrid(pen, { ...figure(drawn, theme, -1), layout: paper }),
    };
  }
  return { el, draw, print };
}
