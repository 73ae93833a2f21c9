// The frame around matrix and lines: tabs, the head's name, scale, filter, zoom and export.

import { h, setAttribute, setText } from "../shared/elements.js";
import { isPair } from "./cells.js";
import { createLines } from "./lines.js";
import { createMatrix } from "./matrix.js";
import { picker } from "./picker.js";
import { createExport } from "./saving.js";

export function createFigure(app) {
  const say = app.say;
  const [matrix, lines] = [createMatrix(app), createLines(app)];
  const tabs = ["matrix", "lines"].map((tab) =>
    h("button", {
      type: "button",
      role: "tab",
      id: `tab-${tab}`,
      "aria-controls": "figure-panel",
      "data-tab": tab,
      onclick: () => app.keep({ tab }),
      onkeydown: (event) => {
        if (["ArrowLeft", "ArrowRight"].includes(event.key)) switchTab(event);
      },
    }, say[tab])
  );
  const name = h("strong", { class: "name" });
  const pin = h("button", { type: "button", class: "plain", title: say.pinHint, onclick: () => app.pin() }, say.pin);
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
    [["sqrt", say.scaleSqrt], ["linear", say.scaleLinear]],
    (value) => app.keep({ scale: value }),
  );
  const filter = picker(say.filter, [["all", say.filterAll], ["aa", say.filterAA], ["ab", say.filterAB], [
    "ba",
    say.filterBA,
  ], ["bb", say.filterBB]], (value) => app.keep({ filter: value }));
  const zoomButton = (label, mark, act) =>
    h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick: act }, mark);
  const zoom = h(
    "span",
    { class: "zoom" },
    zoomButton(say.zoomOut, "−", matrix.zoomOut),
    zoomButton(say.zoomFit, "⤢", matrix.fit),
    zoomButton(say.zoomIn, "+", matrix.zoomIn),
  );
  const menu = createExport(app, () => (app.store.state.kept.tab === "matrix" ? matrix : lines).print());
  const panel = h("div", { class: "panel", role: "tabpanel", id: "figure-panel" });
  const el = h(
    "section",
    { class: "figure" },
    h(
      "header",
      {},
      h("div", { role: "tablist", class: "tabs", "aria-label": say.views }, ...tabs),
      h("span", { class: "chosen" }, name, step(-1, say.headBefore, "◂"), step(1, say.headAfter, "▸"), pin),
    ),
    h("div", { class: "tools" }, filter.el, scale.el, h("span", { class: "end" }, zoom, menu.el)),
    panel,
  );
  let open = "";

  function switchTab(event) {
    event.preventDefault();
    app.keep({ tab: app.store.state.kept.tab === "matrix" ? "lines" : "matrix" });
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
    setAttribute(panel, "aria-labelledby", `tab-${tab}`);
    setText(name, app.name(shown.layer, shown.head));
    const isPinned = pinned.some(([l, hd]) => l === layer && hd === head);
    setText(pin, isPinned ? say.unpin : say.pin);
    setAttribute(pin, "aria-pressed", isPinned);
    scale.select.value = shown.scale;
    filter.select.value = shown.filter;
    filter.el.hidden = !(isPair(app.data.queries) && isPair(app.keys()));
    zoom.hidden = tab !== "matrix";
    if (open !== tab) panel.replaceChildren((tab === "matrix" ? matrix : lines).el);
    open = tab;
    const height = app.wide() ? app.room(580) - 132 : Math.min(560, app.width() + 90);
    (tab === "matrix" ? matrix : lines).draw(Math.max(240, panel.clientWidth), Math.max(240, height));
    menu.draw();
  }
  return { el, draw };
}
