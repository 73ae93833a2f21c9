// The frame around matrix and lines: tabs, the head's name, scale, filter, zoom and export.

import { freshId, h, setAttribute, setText } from "../shared/elements.js";
import { foldMenu } from "../shared/save_menu.js";
import { isPair } from "./cells.js";
import { createLines } from "./lines.js";
import { createMatrix } from "./matrix.js";
import { picker } from "./picker.js";
import { createExport } from "./saving.js";

/** @import { App } from "./types.js" */

/** View options with a menu above the figure. */
const MENUS = /** @type {const} */ (["filter", "scale", "upto"]);

const TALLEST = 760; // px, the height of a matrix
const LABELS = 20; // px, by which the labels above a matrix may be higher than those at its left are wide

/** @param {App} app */
export function createFigure(app) {
  const say = app.say;
  const figures = { matrix: createMatrix(app), lines: createLines(app) };
  const { matrix } = figures;
  const { options } = app.data;
  const order = options.tab.choices.map(({ value }) => value);
  const panelId = freshId("panel");
  const idOf = new Map(order.map((tab) => [tab, freshId("tab")]));
  const tabs = options.tab.choices.map(({ value: tab, text }) =>
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
    }, text)
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
  const menus = MENUS.map((name) => ({ name, ...picker(app, name) }));
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
  const [pairs, ...display] = menus.map(({ el }) => el);
  const menu = createExport(app, () => figures[app.store.state.kept.tab].print());
  const panel = h("div", { class: "panel", role: "tabpanel", id: panelId });
  const el = h(
    "section",
    { class: "figure" },
    h(
      "header",
      {},
      h("div", { role: "tablist", class: "tabs", "aria-label": options.tab.label }, ...tabs),
      h("span", { class: "chosen" }, name, step(-1, say.headBefore, "◂"), step(1, say.headAfter, "▸"), pin),
      h("span", { class: "end" }, pairs, foldMenu(options.scale.label, [...display, zoom]), menu.el),
    ),
    panel,
  );
  let open = "";

  /** @param {Event} event */
  function switchTab(event) {
    event.preventDefault();
    const at = order.indexOf(app.store.state.kept.tab);
    app.keep({ tab: order[(at + 1) % order.length] });
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
    pin.hidden = tab !== "lines" && !isPinned;
    const absent = { scale: false, upto: tab !== "matrix", filter: !(isPair(app.data.queries) && isPair(app.keys())) };
    for (const { name, el, select } of menus) {
      select.value = shown[name];
      el.hidden = absent[name];
    }
    zoom.hidden = tab !== "matrix";
    if (open !== tab) panel.replaceChildren(figures[tab].el);
    open = tab;
    const width = Math.max(180, panel.clientWidth);
    const room = app.wide() ? app.room(580) - 132 : Math.min(560, app.width() + 90);
    // A square map as wide as its column may be taller than the window.
    const height = tab === "matrix" && app.wide() ? Math.max(room, Math.min(width + LABELS, TALLEST)) : room;
    figures[tab].draw(width, Math.max(240, height));
    menu.draw();
  }
  return { el, draw };
}
