// The export menu: pictures made here, numbers from the server or from the file itself.

import { h, save_as, setAttribute, setText } from "../shared/elements.js";
import { csv } from "../shared/texts.js";
import { isExact } from "./numbers.js";
import { saveFigure } from "./paper.js";
import { fill } from "./words.js";

/** Addresses of the numbers on the server. @param {Payload} data @param {Selection} selection @param {string} format */
export function exportAddress(data, selection, format) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(selection)) {
    if (value !== null && name !== "pinned") query.set(name, String(value));
  }
  if (selection.pinned.length) query.set("pinned", selection.pinned.map((pin) => pin.join(".")).join("-"));
  return `${data.base}/export.${format}?${data.view ? `${data.view}&` : ""}${query}`;
}

export function createExport(app, current) {
  const say = app.say;
  const button = (text, act) =>
    h("button", {
      type: "button",
      class: "item",
      onclick: () => {
        close();
        act();
      },
    }, text);
  const figureButtons = ["PNG", "SVG"].map((format) => button("", () => saveFigure(app, current(), format)));
  const grid = ["PNG", "SVG"].map((format) =>
    button(
      fill(say.exportFigure, { figure: say.gridName, format }),
      () => saveFigure(app, app.parts.grid.print(), format),
    )
  );
  const links = ["csv", "json", "html"].map((format) =>
    h("a", {
      class: "item",
      download: true,
      href: "#",
      "data-format": format,
      onclick: (event) => numbers(event, format),
    }, format === "html" ? say.page_html : fill(say.numbers, { format: format.toUpperCase() }))
  );
  const el = h(
    "details",
    {
      class: "menu",
      onkeydown: (event) => {
        if (event.key === "Escape") {
          close();
          event.stopPropagation();
          el.firstElementChild.focus();
        }
      },
      onfocusout: (event) => {
        if (!el.contains(event.relatedTarget)) {
          setTimeout(() => {
            if (!el.contains(el.getRootNode().activeElement)) close();
          });
        }
      },
    },
    h("summary", {}, say.export),
    h("div", { class: "items" }, ...figureButtons, ...grid, ...links),
  );
  function close() {
    el.open = false;
  }
  /** In a file without a server the numbers come from the embedded source. */
  async function numbers(event, format) {
    close();
    if (app.data.base) return;
    event.preventDefault();
    const { layer, head } = app.store.state.kept;
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    const tile = await app.source.tile({ layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: Math.max(rows, cols) });
    const weights = Array.from(
      { length: tile.rows },
      (_, r) => Array.from(tile.data.subarray(r * tile.cols, (r + 1) * tile.cols)),
    );
    const from = (r) => (isExact(tile) ? app.data.queries[r].text : String(r));
    const to = (c) => (isExact(tile) ? app.keys()[c].text : String(c));
    const body = format === "csv"
      ? `\ufeff${csv([["", ...weights[0].map((_, c) => to(c))], ...weights.map((row, r) => [from(r), ...row])])}`
      : JSON.stringify({
        model: app.data.model,
        text: app.data.text,
        pair: app.data.pair,
        layer,
        head,
        queries: app.data.queries.map((c) => c.text),
        keys: app.keys().map((c) => c.text),
        weights,
      });
    save_as(
      `headlight-${layer}-${head}.${format}`,
      new Blob([body], { type: format === "csv" ? "text/csv" : "application/json" }),
    );
  }
  function draw() {
    const { tab } = app.store.state.kept;
    figureButtons.forEach((b, i) =>
      setText(b, fill(say.exportFigure, { figure: say[tab], format: ["PNG", "SVG"][i] }))
    );
    for (const link of links) {
      link.hidden = !app.data.base && link.dataset.format === "html";
      if (app.data.base) setAttribute(link, "href", exportAddress(app.data, app.store.state.kept, link.dataset.format));
    }
  }
  return { el, draw };
}
