// Matrices as coloured cells, a cell for each number; several matrices are side by side or stacked. The marks are
// explained in sheet_picture.js. Labels reach the page only through text nodes and fillText.

import { clamp, readTheme } from "../shared/colours.js";
import { createTip, h, placeIn, setAttribute, setText } from "../shared/elements.js";
import { decodeFrame } from "../shared/frames.js";
import { cellKey } from "../shared/moves.js";
import { cleared } from "../shared/pens.js";
import { saveMenu } from "../shared/save_menu.js";
import { _, speak } from "../shared/words.js";
import { arrange, said, scaleEnd } from "./sheet.js";
import { paint, paintLegend } from "./sheet_picture.js";
import { saveCsv, savePicture } from "./sheet_saving.js";

/** @typedef {import("./sheet.js").Sheet} Sheet */
/** @typedef {import("./sheet.js").Values} Values */
/**
 * @typedef {{sheets: Sheet[], picks: boolean, numbers: boolean|null, about: [string, string][], words?: Record<string,
 * string>}} MatricesData The header of a frame; `about` is written into every saved file.
 */

// -- a single matrix

/** @param {(row: number, col: number) => void} report */
function createSheet(report) {
  const name = h("span", { class: "sheet-name" });
  const menu = saveMenu([
    [`${_("Save as CSV")} (zip)`, () => saveCsv(sheet, values, about)],
    [_("Save as PNG"), () => savePicture(sheet, values, numbers, about, "PNG")],
    [_("Save as SVG"), () => savePicture(sheet, values, numbers, about, "SVG")],
  ]);
  const canvas = h("canvas", { "aria-hidden": "true" });
  const frame = h("div", { class: "cell", hidden: true });
  const pad = h(
    "div",
    {
      class: "pad",
      tabindex: 0,
      role: "application",
      onkeydown,
      onfocusin,
      onfocusout,
      onpointermove,
      onpointerleave,
      onclick,
      onscroll: fade,
    },
    canvas,
    frame,
  );
  const legend = h("canvas", { class: "legend", "aria-hidden": "true" });
  const note = h("p", { class: "note" });
  const live = h("p", { class: "unseen", "aria-live": "polite" });
  const el = h("figure", { class: "sheet" }, h("figcaption", {}, name, menu), pad, legend, note, live);
  const tip = createTip(el);
  /** @type {Sheet} */
  let sheet;
  /** @type {[string, string][]} */
  let about = [];
  /** @type {Values} */
  let values;
  let numbers = null;
  let picks = false;
  let place = null;
  let cursor = { row: 0, col: 0 };

  function under(event) {
    const [x, y] = placeIn(canvas, event);
    const [row, col] = [Math.floor((y - place.top) / place.h), Math.floor((x - place.left) / place.w)];
    return row >= 0 && row < values.tall && col >= 0 && col < values.wide ? { row, col } : null;
  }
  function point(at) {
    frame.hidden = !at;
    if (!at) return tip.hide();
    const size = (cells) => `${Math.max(cells, 4)}px`;
    Object.assign(frame.style, {
      left: `${place.left + at.col * place.w}px`,
      top: `${place.top + at.row * place.h}px`,
      width: size(place.w),
      height: size(place.h),
    });
  }
  function onpointermove(event) {
    if (!place) return;
    const at = under(event);
    point(at);
    if (at) tip.show(said(sheet, values, at), event.clientX, event.clientY);
  }
  function onpointerleave() {
    point(null);
  }
  function onclick(event) {
    const at = place && under(event);
    if (!at) return;
    cursor = at;
    if (picks) report(at.row, at.col);
  }
  function onkeydown(event) {
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = cellKey(event.key, cursor, { q0: 0, q1: values.tall, k0: 0, k1: values.wide });
    if (to) show(to);
    else if (picks && (event.key === "Enter" || event.key === " ")) report(cursor.row, cursor.col);
    else return;
    event.preventDefault();
  }
  function show(to) {
    cursor = to;
    point(cursor);
    frame.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { left, bottom } = frame.getBoundingClientRect();
    const lines = said(sheet, values, cursor);
    tip.show(lines, left - 14, bottom - 12);
    setText(live, lines.join(": "));
  }
  function onfocusin() {
    if (place && pad.matches(":focus-visible")) show(cursor);
  }
  function onfocusout() {
    point(null);
  }

  /** Fade the right edge while columns are hidden behind it. */
  function fade() {
    pad.classList.toggle("more", pad.scrollLeft + pad.clientWidth < pad.scrollWidth - 1);
  }

  function draw(room) {
    const theme = readTheme(el);
    const end = sheet.limit ?? scaleEnd(values.data);
    const empty = values.tall * values.wide === 0;
    pad.hidden = legend.hidden = menu.hidden = empty;
    place = empty ? null : arrange(sheet, values, room, numbers, theme.family);
    if (!place) return;
    paint(cleared(canvas, place.width, place.height, theme.family), { sheet, values, end, theme, place });
    paintLegend(cleared(legend, 124, 24, theme.family), { sheet, end, theme }, 1, 1, 120);
    el.style.maxWidth = `${room}px`;
    note.style.maxWidth = `${Math.max(place.width, 220)}px`;
    fade();
  }
  /** @param {Sheet} given @param {Values} array */
  function update(given, array, header) {
    [sheet, values, numbers, picks, about] = [given, array, header.numbers, header.picks, header.about];
    cursor = {
      row: clamp(cursor.row, 0, Math.max(0, values.tall - 1)),
      col: clamp(cursor.col, 0, Math.max(0, values.wide - 1)),
    };
    setText(name, sheet.name);
    setText(note, sheet.note);
    note.hidden = !sheet.note;
    pad.classList.toggle("picks", picks);
    setAttribute(/** @type {Element} */ (menu.firstElementChild), "aria-label", _("Save {name}", { name: sheet.name }));
    const size = { name: sheet.name, rows: values.tall, columns: values.wide };
    setAttribute(
      pad,
      "aria-label",
      picks
        ? _("{name}, {rows} by {columns}. Arrow keys move, Enter picks.", size)
        : _("{name}, {rows} by {columns}. Arrow keys move.", size),
    );
    point(null);
  }
  return { el, update, draw };
}

// -- all matrices

/**
 * Create the list of matrices. `update` takes a frame of matrices.py, and `show` the same decoded.
 * @param {Element|ShadowRoot} root
 */
export function createMatrices(root) {
  const el = h("div", { class: "hl matrices" });
  root.replaceChildren(el);
  /** @type {ReturnType<typeof createSheet>[]} */
  let sheets = [];
  let send = (_) => {};
  let [width, spoken] = [0, ""];

  function draw() {
    width = el.clientWidth;
    if (width) { for (const sheet of sheets) sheet.draw(width); }
  }
  /** @param {Uint8Array} bytes @param {(place: number[]) => void} report */
  function update(bytes, report) {
    const frame = decodeFrame(bytes.slice().buffer);
    const header = /** @type {MatricesData} */ (/** @type {unknown} */ (frame.header));
    const tongue = speak(header.words);
    if (tongue !== spoken) sheets = [];
    spoken = tongue;
    show(header, frame.arrays, report);
  }
  /**
   * @param {MatricesData} header @param {Record<string, import("../shared/frames.js").Decoded>} arrays
   * @param {(place: number[]) => void} report
   */
  function show(header, arrays, report) {
    send = report;
    while (sheets.length < header.sheets.length) {
      const index = sheets.length;
      sheets.push(createSheet((row, col) => send([index, row, col])));
    }
    sheets = sheets.slice(0, header.sheets.length);
    header.sheets.forEach((sheet, index) => {
      const { shape: [tall, wide], data } = arrays[index];
      sheets[index].update(sheet, { tall, wide, data: /** @type {Float32Array} */ (data) }, header);
    });
    if (el.lastElementChild !== sheets.at(-1)?.el) el.replaceChildren(...sheets.map((sheet) => sheet.el));
    draw();
  }
  const watch = new ResizeObserver(() => {
    if (el.clientWidth !== width) draw();
  });
  watch.observe(el);
  return { update, show, close: () => watch.disconnect() };
}
