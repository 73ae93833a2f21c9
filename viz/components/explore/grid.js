// Every head: the grid of small maps, its order and its pages.

import { h, setAttribute, setText } from "../shared/elements.js";
import { gridKey, gridLayout, orderHeads, pageOf, slotUnder } from "./grid_layout.js";
import { drawGrid, gridPicture } from "./grid_picture.js";
import { short } from "./numbers.js";
import { printTheme, sheet } from "./pens.js";
import { picker } from "./picker.js";
import { togglePin } from "./selection.js";
import { THUMB } from "./source.js";
import { fill } from "./words.js";

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
  const order = picker(say.order, [["layer", say.orderLayer], ["entropy", say.orderEntropy], [
    "distance",
    say.orderDistance,
  ], ["focus", say.orderFocusBare]], (value) => app.keep({ order: value }));
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
  let layout = /** @type {any} */ (null);
  let slots = /** @type {number[]} */ ([]);
  let picture = { key: "", canvas: /** @type {any} */ (null), grid: /** @type {any} */ (null) };
  let anchor = /** @type {Partial<Selection>|null} */ (null);
  let last = "";

  const kept = () => app.store.state.kept;
  const idOf = (selection) => selection.layer * app.data.heads + selection.head;
  const headAt = (slot) => ({ layer: Math.floor(slots[slot] / app.data.heads), head: slots[slot] % app.data.heads });
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return layout ? slotUnder(layout, kept().order, event.clientX - box.left, event.clientY - box.top) : -1;
  };
  function turn(step) {
    app.setLocal({ page: layout.page + step });
  }
  function onfocusin() {
    anchor = { layer: kept().layer, head: kept().head };
  }
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
    } else app.keep(headAt(act.slot), true);
  }
  function onpointermove(event) {
    const slot = under(event);
    pad.style.cursor = slot < 0 ? "" : "pointer";
    if (event.pointerType === "touch") return;
    if (slot < 0) return onpointerleave();
    app.preview(headAt(slot));
    app.tip.show(describe(headAt(slot)), event.clientX, event.clientY);
  }
  function onpointerleave() {
    app.preview(null);
    app.tip.hide();
  }
  function onclick(event) {
    const slot = under(event);
    if (slot < 0) return;
    const { layer, head } = headAt(slot);
    anchor = { layer, head };
    if (event.shiftKey) app.keep({ pinned: togglePin(kept().pinned, layer, head) });
    else app.keep({ layer, head });
  }
  function describe({ layer, head }) {
    const { entropy, distance } = app.data.measures ?? {};
    const lines = [app.name(layer, head)];
    if (entropy?.[layer]) lines.push(fill(say.entropy, { value: short(entropy[layer][head]) }));
    if (distance?.[layer]) lines.push(fill(say.distance, { value: distance[layer][head].toFixed(1) }));
    const link = app.linkWeights();
    if (link) lines.push(fill(say.link, { ...app.linkNames(), weight: short(link[layer * app.data.heads + head]) }));
    return lines;
  }
  function values(kind) {
    if (kind === "focus") return app.linkWeights();
    return app.data.measures?.[kind]?.flat();
  }
  function arrange() {
    const { order: kind } = kept();
    const { layers, heads } = app.data;
    slots = orderHeads(kind, layers, heads, values(kind));
    const coarse = app.width() < 600 || globalThis.matchMedia?.("(pointer: coarse)").matches;
    const frame = {
      width: pad.clientWidth - 4,
      height: app.wide() ? app.room() - 92 : 420,
      layers,
      heads,
      least: coarse ? 24 : 15,
    };
    layout = gridLayout({ ...frame, page: app.store.state.page ?? 0 });
    const where = [app.stamp, idOf(kept()), kind, layout.perPage].join();
    if (where !== last) { // the chosen head moved: show its page
      last = where;
      const page = pageOf(layout, kind, slots.indexOf(idOf(kept())));
      if (page !== layout.page) layout = gridLayout({ ...frame, page });
      app.store.state.page = layout.page;
    }
  }
  function notes(grid) {
    const { indexBase: base, layers } = app.data;
    ways.hidden = kept().order !== "layer";
    pager.hidden = layout.pages < 2;
    before.disabled = layout.page === 0;
    after.disabled = layout.page === layout.pages - 1;
    setText(
      place,
      fill(say.page, {
        from: layout.firstLayer + base,
        to: layout.firstLayer + layout.shownLayers - 1 + base,
        count: layers,
      }),
    );
    setText(
      note,
      fill(say.gridNote, { scale: kept().scale === "sqrt" ? say.sqrtScale : say.linearScale }) +
        (kept().order === "layer" || !values(kept().order) ? "" : ` ${say.gridOrdered}`) +
        (grid?.sampled || app.data.sampled ? ` ${say.gridSampled}` : ""),
    );
    order.select.value = kept().order;
    const names = app.linkNames();
    setText(
      order.select.options[3],
      names ? fill(say.orderFocus, { focus: names.from, target: names.to }) : say.orderFocusBare,
    );
    setAttribute(pad, "aria-label", fill(say.gridLabel, { head: describe(kept()).join(", ") }));
  }
  function draw() {
    const grid = app.feed.get("grid", THUMB);
    arrange();
    notes(grid);
    const shown = app.shown();
    const pen = sheet(canvas, layout.width + 3, layout.height + 3, app.theme.family);
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
    if (picture.key !== key || picture.grid !== grid) {
      picture = {
        key,
        grid,
        canvas: gridPicture(grid, layout, slots, kept().order, app.theme, kept().scale, pen.ratio),
      };
    }
    drawGrid(pen, figure(picture.canvas, app.theme, idOf(shown) === idOf(kept()) ? -1 : idOf(shown)));
  }
  const figure = (canvas, theme, hovered) => ({
    layout,
    order: slots,
    kind: kept().order,
    values: kept().order === "layer" ? null : values(kept().order),
    theme,
    selected: idOf(kept()),
    hovered,
    pinned: kept().pinned.map(([layer, head]) => layer * app.data.heads + head),
    base: app.data.indexBase,
    picture: canvas,
  });
  /** The whole grid for paper. */
  function print() {
    const grid = app.feed.peek("grid", THUMB);
    if (!grid) return null;
    const { layers, heads } = app.data;
    const paper = gridLayout({ width: 900, height: 26 + 60 * layers, layers, heads, least: 12, most: 60 });
    const theme = printTheme();
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
