// The frame around matrix and lines: tabs, the head's name, scale, filter, zoom and export.

import { freshId, h, setAttribute, setText } from "../shared/elements.js";
import { isPair } from "./cells.js";
import { FILTERS, SCALES, TABS, TOPS } from "./contract.js";
import { createLines } from "./lines.js";
import { createMatrix } from "./matrix.js";
import { picker } from "./picker.js";
import { createExport } from "./saving.js";

/** @import { App } from "./types.js" */

/** @param {App} app */
export function createFigure(app) {
  const say = app.say;
  const figures = { matrix: createMatrix(app), lines: createLines(app) };
  const { matrix } = figures;
  const { choices } = app.data;
  const panelId = freshId("panel");
  const idOf = new Map(choices.tab.map((tab) => [tab, freshId("tab")]));
  const tabs = choices.tab.map((tab) =>
    h("button", {
      type: "button",
      role: "tab",
      id: idOf.get(tab),
      "aria-controls": panelId,
      "data-tab": tab,
      onclick: () => app.keep({ tab }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (["ArrowLeft", "ArrowRight"].includes(event.key)) switchTab(event);
      },
    }, say[TABS[tab]])
  );
  const name = h("strong", { class: "name" });
  const pin = h("button", { type: "button", class: "plain", title: say.pinHint, onclick: () => app.pin() }, say.pin);
  /** @param {number} sign @param {string} label @param {string} mark */
  const step = (sign, label, mark) =>
    h("button", {
      type: "button",
      class: "plain arrow",
      "aria-label": label,
      title: `${label} ${sign < 0 ? "[" : "]"}`,
      onclick: () => app.stepHead(sign),
    }, mark);
  const scale = picker(
    say.scale,
    choices.scale.map((value) => ({ value, text: say[SCALES[value].label] })),
    (value) => app.keep({ scale: value }),
  );
  const top = picker(
    say.scaleTop,
    choices.upto.map((value) => ({ value, text: say[TOPS[value].label] })),
    (value) => app.keep({ upto: value }),
  );
  const filter = picker(
    say.filter,
    choices.filter.map((value) => ({ value, text: say[FILTERS[value].label] })),
    (value) => app.keep({ filter: value }),
  );
  /** @param {string} label @param {string} mark @param {() => void} act */
  const zoomButton = (label, mark, act) =>
    h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick: act }, mark);
  const zoom = h(
    "span",
    { class: "zoom" },
    zoomButton(say.zoomOut, "−", matrix.zoomOut),
    zoomButton(say.zoomFit, "⤢", matrix.fit),
    zoomButton(say.zoomIn, "+", matrix.zoomIn),
  );
  const menu = createExport(app, () => figures[app.store.state.kept.tab].print());
  const panel = h("div", { class: "panel", role: "tabpanel", id: panelId });
  const el = h(
    "section",
    { class: "figure" },
    h(
      "header",
      {},
      h("div", { role: "tablist", class: "tabs", "aria-label": say.views }, ...tabs),
      h("span", { class: "chosen" }, name, step(-1, say.headBefore, "◂"), step(1, say.headAfter, "▸"), pin),
    ),
    h("div", { class: "tools" }, filter.el, scale.el, top.el, h("span", { class: "end" }, zoom, menu.el)),
    panel,
  );
  let open = "";

  /** @param {Event} event */
  function switchTab(event) {
    event.preventDefault();
    const at = choices.tab.indexOf(app.store.state.kept.tab);
    app.keep({ tab: choices.tab[(at + 1) % choices.tab.length] });
    app.flushDraw();
    tabs.find((tab) => tab.getAttribute("aria-selected") === "true")?.focus();
  }
  function draw() {
    const shown = app.shown();
    const { tab, pinned, layer, head } = app.store.state.kept;
    for (const one of tabs) {
      setAttribute(one, "aria-selected", one.dataset.tab === tab);
      one.tabIndex = one.dataset.tab === tab ? 0 : -1;
    }
    setAttribute(panel, "aria-labelledby", idOf.get(tab));
    setText(name, app.name(shown.layer, shown.head));
    const isPinned = pinned.some(([l, hd]) => l === layer && hd === head);
    setText(pin, isPinned ? say.unpin : say.pin);
    setAttribute(pin, "aria-pressed", isPinned);
    scale.select.value = shown.scale;
    top.select.value = shown.upto;
    top.el.hidden = tab !== "matrix";
    filter.select.value = shown.filter;
    filter.el.hidden = !(isPair(app.data.queries) && isPair(app.keys()));
    zoom.hidden = tab !== "matrix";
    if (open !== tab) panel.replaceChildren(figures[tab].el);
    open = tab;
    const height = app.wide() ? app.room(580) - 132 : Math.min(560, app.width() + 90);
    figures[tab].draw(Math.max(180, panel.clientWidth), Math.max(240, height));
    menu.draw();
  }
  return { el, draw };
}
