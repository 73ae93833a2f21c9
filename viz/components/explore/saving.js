// The menu Download: images and data from the server; pictures of the browser and data of the standalone file.

import { h, save_as, setAttribute, setText } from "../shared/elements.js";
import { imageForm } from "../shared/image_form.js";
import { columnNames, fileStemOf, saveTable, tableOf } from "../shared/tables.js";
import { cellName } from "./cells.js";
import { isExact } from "./numbers.js";
import { saveFigure } from "./paper.js";
import { textOf } from "./selection.js";
import { fill } from "../shared/words.js";

/** @import { App, Payload, PictureFormat, Print, Selection } from "./types.js" */

/** @type {PictureFormat[]} */
const PICTURES = ["PNG", "SVG"];
const FORMATS = ["csv", "parquet", "json", "html", "ipynb"]; // formats of the numbers
const SERVED = ["parquet", "html", "ipynb"]; // formats that need the server
/** @type {Record<string, string>} */
const NAMES = { csv: "CSV", parquet: "Parquet", json: "JSON" }; // of the tables

/**
 * Return the server's address of an exported file.
 * @param {Payload} data @param {Selection} selection @param {string} format
 */
export function exportAddress(data, selection, format) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(selection)) {
    if (value !== null && name !== "pinned") query.set(name, String(value));
  }
  if (selection.pinned.length) query.set("pinned", selection.pinned.map((pin) => pin.join(".")).join("-"));
  return `${data.base}/export.${format}?${data.view ? `${data.view}&` : ""}${query}`;
}

/** @param {App} app @param {() => Print|null} current the visible figure */
export function createExport(app, current) {
  const say = app.say;
  /** @param {string} text @param {() => void} act */
  const button = (text, act) =>
    h("button", {
      type: "button",
      class: "item",
      onclick: () => {
        close();
        act();
      },
    }, text);
  const figureButtons = PICTURES.map((format) => button("", () => saveFigure(app, current(), format)));
  const grid = PICTURES.map((format) =>
    button(
      fill(say.exportFigure, { figure: say.gridName, format }),
      () => saveFigure(app, app.parts.grid.print(), format),
    )
  );
  const links = FORMATS.map((format) =>
    h(
      "a",
      {
        class: "item",
        download: true,
        href: "#",
        "data-format": format,
        onclick: (/** @type {Event} */ event) => numbers(event, format),
      },
      format === "html"
        ? say.page_html
        : format === "ipynb"
        ? say.notebook
        : fill(say.numbers, { format: format === "csv" && !app.data.base ? "CSV (zip)" : NAMES[format] }),
    )
  );
  const title = h("summary", {}, say.export);
  const image = imageForm();
  image.link.addEventListener("click", close);
  // The index lets a click between two entries keep the focus inside the menu.
  const methods = h("pre", { class: "methods", "aria-label": say.methods, hidden: true, tabindex: "0" });
  const items = h("div", { class: "items", tabindex: "-1" }, image.el, ...figureButtons, ...grid, ...links, methods);
  const el = h("details", { class: "menu files", onkeydown, onfocusout, ontoggle }, title, items);

  function close() {
    el.open = false;
  }
  /** Show the methods sentence and the citation of the selected head, from the server. */
  async function ontoggle() {
    if (!el.open || !app.data.base) return;
    const answer = await fetch(exportAddress(app.data, app.store.state.kept, "txt")).catch(() => null);
    methods.hidden = !answer?.ok;
    if (answer?.ok) setText(methods, await answer.text());
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape") return;
    close();
    event.stopPropagation();
    title.focus();
  }
  /** @param {FocusEvent} event */
  function onfocusout(event) {
    if (el.contains(/** @type {Node|null} */ (event.relatedTarget))) return;
    setTimeout(() => {
      const { activeElement } = /** @type {Document|ShadowRoot} */ (el.getRootNode());
      if (!el.contains(activeElement)) close();
    });
  }
  /**
   * Save the numbers of the embedded source, in a file without a server.
   * @param {Event} event @param {string} format
   */
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
    const from = (/** @type {number} */ r) => (isExact(tile) ? cellName(app.data.queries, r) : String(r));
    const to = (/** @type {number} */ c) => (isExact(tile) ? cellName(app.keys(), c) : String(c));
    const { model, text, pair } = app.data;
    const about = {
      model: model.name,
      revision: model.revision,
      weights_sha256: model.weights,
      text,
      pair,
      layer,
      head,
    };
    if (format === "csv") {
      const queries = columnNames(weights.map((_, r) => from(r)));
      const names = ["query", ...weights[0].map((_, c) => to(c))];
      return saveTable("headlight-attention", tableOf(names, weights.map((row, r) => [queries[r], ...row])), about);
    }
    const body = JSON.stringify({
      model: app.data.model,
      text: app.data.text,
      pair: app.data.pair,
      layer,
      head,
      queries: app.data.queries.map((_, i) => cellName(app.data.queries, i)),
      keys: app.keys().map((_, i) => cellName(app.keys(), i)),
      weights,
    });
    save_as(
      `${fileStemOf("headlight-attention", about)}.json`,
      new Blob([body], { type: "application/json" }),
    );
  }
  function draw() {
    const { tab } = app.store.state.kept;
    const served = Boolean(app.data.base) && tab === "matrix";
    image.el.hidden = !served;
    if (served) image.draw(exportAddress(app.data, app.store.state.kept, "image"));
    figureButtons.forEach((b, i) => {
      b.hidden = served;
      setText(b, fill(say.exportFigure, { figure: textOf(app.data, "tab", tab), format: PICTURES[i] }));
    });
    links.forEach((link, i) => {
      link.hidden = !app.data.base && SERVED.includes(FORMATS[i]);
      if (app.data.base) setAttribute(link, "href", exportAddress(app.data, app.store.state.kept, FORMATS[i]));
    });
  }
  return { el, draw };
}
