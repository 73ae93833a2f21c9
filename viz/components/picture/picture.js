// A picture as a vision transformer looks at it.
//
// What each mark means
//   photo      bright: what the shown token attends to in the chosen head (or who attends to it); dark: what gets
//              little, as the root of its share of the largest patch. Framed: the token, where it is a patch.
//   chips      tokens without a patch, such as CLS and registers, each with its weight.
//   heads      a small map per head, layers downwards, of the token that is shown; each from 0 to its own largest
//              weight. Accent: the chosen head.
// Hover shows, a click keeps, Escape goes back to what is kept. Numbers come from a PictureSource.

import { readTheme } from "../shared/colours.js";
import { createTip, h, pageTop, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { contextOf } from "../shared/pens.js";
import { saveMenu } from "../shared/save_menu.js";
import { visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { drawDimmed, drawHeads, framePatch } from "./picture_drawing.js";
import { headKey, headSheet, headUnder, patchKey, tokenUnder } from "./picture_looks.js";
import { savePhoto, saveRow } from "./picture_saving.js";
import { FORGOTTEN, inBase64, keeper, lookOf, ofFile, routes } from "./picture_source.js";
import { inTwoDigits, lookSaid, tokenName } from "./picture_words.js";

/** @import { HeadSheet, PatchGrid, Weights } from "./picture_looks.js" */
/** @import { EveryHead, Inside, PictureSource } from "./picture_source.js" */
/** @typedef {{layer: number, head: number, token: number, facing: "out"|"in", by: "head"|"norms"|"rollout"}} Kept */
/**
 * @typedef {object} PictureData  Made by viz/components/picture/content.py.
 * @property {string} base           what every address begins with
 * @property {string} view           and what it asks with
 * @property {string} title
 * @property {[string, string][]} about  stands in every file
 * @property {{width: number, height: number}} picture
 * @property {PatchGrid} grid
 * @property {{at: number, name: string}[]} others  tokens without a patch
 * @property {string[]} tokens       every token's name, for a saved row
 * @property {number} layers
 * @property {number} heads
 * @property {boolean} values        whether values are there, so that weights can be weighed by them
 * @property {number} indexBase
 * @property {Kept} selection
 * @property {Inside|null} inside    the numbers, where there is no server
 * @property {Record<string, string>} [words]
 */

const SMALL = 640; // pixels below which the heads stand under the picture
const LARGEST_PASTED = 30e6; // bytes of a pasted file, as of any that is brought
const SETTLED = 400; // ms without a change before a screen reader is told
const KINDS_OF_PICTURE = /** @type {const} */ (["head", "norms", "rollout"]);
const FACINGS_OF_PICTURE = /** @type {const} */ (["out", "in"]);

/** @param {Element|ShadowRoot} root */
function createPicture(root) {
  const photo = new Image();
  const canvas = h("canvas", { "aria-hidden": "true" });
  const stage = h("div", {
    class: "stage",
    tabindex: 0,
    role: "application",
    onkeydown: moves,
    onpointermove: points,
    onpointerleave: leaves,
    onclick: keepsPatch,
    onfocusin: begins,
  }, canvas);
  const headsCanvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", {
    class: "pad",
    tabindex: 0,
    role: "application",
    onkeydown: movesHead,
    onpointermove: pointsHead,
    onpointerleave: () => hoverHead(-1),
    onclick: keepsHead,
  }, headsCanvas);
  const chips = h("div", { class: "chips", role: "group" });
  const facing = h("select", { onchange: () => keep({ facing: FACINGS_OF_PICTURE[facing.selectedIndex] }) });
  facing.append(h("option", {}, _("looks at")), h("option", {}, _("is looked at by")));
  const by = h("select", { onchange: () => keep({ by: KINDS_OF_PICTURE[by.selectedIndex] }) });
  by.append(
    ...[_("Weights"), _("Weights × length of values"), _("Rollout of all layers")].map((text) => h("option", {}, text)),
  );
  const said = h("p", { class: "said", dir: "auto" });
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const fault = h("p", { class: "note", role: "alert", hidden: true });
  const again = h("button", { type: "button", class: "plain", onclick: () => keep({}) }, _("Read it again"));
  const menu = saveMenu([
    [_("Picture as PNG"), () => withLook((look) => savePhoto(look, "PNG"))],
    [_("Picture as SVG"), () => withLook((look) => savePhoto(look, "SVG"))],
    [_("Weights as CSV"), () => withLook((look) => saveRow(look))],
  ]);
  const el = h(
    "figure",
    { class: "hl picture" },
    h(
      "div",
      { class: "bar" },
      h("label", { class: "picker" }, _("The token"), facing),
      h("label", { class: "picker" }, _("Shown"), by),
      menu,
    ),
    said,
    fault,
    h(
      "div",
      { class: "halves" },
      h(
        "div",
        { class: "left" },
        stage,
        h("p", { class: "note" }, _("Tokens without a patch, and their weight")),
        chips,
      ),
      h("section", { class: "every" }, h("h2", {}, _("Every head")), pad, h("p", { class: "note" }, note())),
    ),
    live,
  );
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {PictureData} */
  let data;
  /** @type {PictureSource} */
  let source;
  /** @type {Kept} */
  let kept;
  /** @type {HeadSheet} */
  let sheet;
  let report = (/** @type {unknown} */ _value) => {};
  /** @type {number|null} the token under the pointer */
  let hovered = null;
  let hoveredHead = -1;
  let problem = false; // whether something could not be fetched
  let begun = false; // whether the picture was ever touched: from then on the chosen head's whole map is fetched
  let [frame, saying, stamp] = [0, 0, ""];
  /** @type {EveryHead|null} of the token that was drawn last in every head */
  let lastEvery = null;
  /** @type {Weights|null} */
  let lastLook = null;
  let rows = keeper(48, redraw, failed);
  let maps = keeper(4, redraw, failed);

  function note() {
    return _("Layers downwards, heads to the right; each small picture from 0 to its own largest patch.");
  }
  const token = () => hovered ?? kept.token;
  const chosen = () => kept.layer * data.heads + kept.head;
  /** What small pictures show, which have no rollout. @returns {"head"|"norms"} */
  const plainKind = () => (kept.by === "norms" ? "norms" : "head");
  const nameOf = (/** @type {number} */ at) => tokenName(data.grid, data.others, at);
  function headName() {
    if (kept.by === "rollout") return _("Rollout of all layers");
    return _("Layer {layer} · head {head}", { layer: kept.layer + data.indexBase, head: kept.head + data.indexBase });
  }
  function redraw() {
    if (!frame) frame = requestAnimationFrame(paint);
  }
  /** @param {Error} error */
  function failed(error) {
    if (error === FORGOTTEN) return report({ again: Date.now() });
    fault.replaceChildren(error.message, " ", again);
    problem = true;
    redraw();
  }
  /** @param {Partial<Kept>} change */
  function keep(change) {
    problem = false;
    kept = { ...kept, ...change };
    redraw();
    if (!data.inside) report(kept);
  }
  /** @param {MouseEvent} event */
  function under(event) {
    const box = canvas.getBoundingClientRect();
    return tokenUnder(data.grid, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }
  /** @param {number|null} at */
  function hover(at) {
    if (at === hovered) return;
    hovered = at;
    redraw();
  }
  function begins() {
    if (begun) return;
    begun = true;
    redraw();
  }
  /** @param {PointerEvent} event */
  function points(event) {
    begins();
    if (event.pointerType === "touch") return;
    const at = under(event);
    hover(at);
    if (at === null) return tip.hide();
    tip.show([nameOf(at)], event.clientX, event.clientY);
  }
  function leaves() {
    hover(null);
    tip.hide();
  }
  /** @param {MouseEvent} event */
  function keepsPatch(event) {
    const at = under(event);
    hovered = null;
    if (at !== null) keep({ token: at });
  }
  /** @param {KeyboardEvent} event */
  function moves(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = patchKey(event.key, token(), data.grid);
    if (to !== null) hover(to);
    else if (event.key === "Enter" || event.key === " ") {
      const at = token();
      hovered = null;
      keep({ token: at });
    } else if (event.key === "Escape") hover(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** @param {number} id */
  function hoverHead(id) {
    if (id < 0) tip.hide();
    if (id === hoveredHead) return;
    hoveredHead = id;
    redraw();
  }
  /** @param {MouseEvent} event */
  function headAt(event) {
    const box = headsCanvas.getBoundingClientRect();
    return headUnder(sheet, event.clientX - box.left, event.clientY - box.top);
  }
  /** @param {PointerEvent} event */
  function pointsHead(event) {
    const id = headAt(event);
    hoverHead(id);
    if (id < 0) return;
    const [layer, head] = [Math.floor(id / data.heads) + data.indexBase, id % data.heads + data.indexBase];
    tip.show([_("Layer {layer} · head {head}", { layer, head })], event.clientX, event.clientY);
  }
  /** @param {number} id */
  const keepHead = (id) => keep({ layer: Math.floor(id / data.heads), head: id % data.heads, by: plainKind() });
  /** @param {MouseEvent} event */
  function keepsHead(event) {
    const id = headAt(event);
    if (id >= 0) keepHead(id);
  }
  /** @param {KeyboardEvent} event */
  function movesHead(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = headKey(event.key, chosen(), sheet);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    keepHead(to);
  }
  /** What the shown token gives or gets, as well as it is known now, and every head's where that is here. */
  function looks() {
    const [at, way, kind, map] = [token(), kept.facing, plainKind(), wholeMap()];
    const asked = () => source.every(way, at, kind);
    const every = /** @type {EveryHead|null} */ (rows.get(`${kind} ${way} ${at}`, asked));
    if (every && kept.by !== "rollout") {
      const from = chosen() * every.count;
      return { every, look: every.data.subarray(from, from + every.count), exact: true };
    }
    return { every, look: map ? lookOf(map, way, at) : null, exact: kept.by === "rollout" || data.inside !== null };
  }
  /** The rollout, or the chosen head's map once the picture was touched: then any patch is drawn at once. */
  function wholeMap() {
    const { layer, head, by } = kept;
    const key = by === "rollout" ? by : `${by} ${layer} ${head}`;
    return begun || by === "rollout" ? maps.get(key, () => source.map(layer, head, by)) : null;
  }
  function paint() {
    frame = 0;
    if (!data || !photo.complete || !photo.naturalWidth || !el.clientWidth) return;
    const theme = readTheme(el);
    const { every, look, exact } = looks();
    lastEvery = every ?? lastEvery;
    lastLook = look ?? lastLook;
    fault.hidden = !problem || look !== null;
    paintPhoto();
    paintHeads(theme);
    if (look && exact) tell(look);
    const { layer, head, facing: way, by: kind } = kept;
    if (look) setAttribute(el, "data-painted", [data.base, layer, head, token(), way, kind].join("|"));
    if (look && every) setAttribute(el, "data-whole", [layer, head, token(), way, kind].join("|"));
  }
  function paintPhoto() {
    const ratio = globalThis.devicePixelRatio || 1;
    const most = Math.min(0.72 * globalThis.innerHeight, 620);
    const { width, height } = data.picture;
    const wide = Math.round(Math.min(stage.clientWidth, most * width / height));
    const tall = Math.round(wide * height / width);
    sized(canvas, wide, tall, ratio);
    const ctx = contextOf(canvas);
    drawDimmed(ctx, photo, canvas.width, canvas.height, data.grid, lastLook);
    framePatch(ctx, canvas.width, canvas.height, data.grid, token(), ratio);
  }
  /** @param {ReturnType<typeof readTheme>} theme */
  function paintHeads(theme) {
    const coarse = el.clientWidth < SMALL || globalThis.matchMedia?.("(pointer: coarse)").matches;
    const { layers, heads, grid } = data;
    const height = coarse ? Infinity : globalThis.innerHeight - pageTop(pad) - 40;
    const frame = { layers, heads, rows: grid.rows, columns: grid.columns, width: pad.clientWidth, height };
    sheet = headSheet({ ...frame, least: coarse ? 28 : 24, most: 64 });
    const ratio = globalThis.devicePixelRatio || 1;
    sized(headsCanvas, sheet.left + heads * sheet.wide + 2, sheet.top + layers * sheet.tall + 2, ratio);
    const ctx = contextOf(headsCanvas);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, headsCanvas.width, headsCanvas.height);
    ctx.scale(ratio, ratio);
    const marks = { chosen: kept.by === "rollout" ? -1 : chosen(), hovered: hoveredHead, indexBase: data.indexBase };
    if (lastEvery) drawHeads(ctx, sheet, grid, lastEvery, theme, marks);
    setAttribute(pad, "aria-label", _("Every head; chosen: {head}. Arrow keys choose another.", { head: headName() }));
  }
  /** @param {Weights} look */
  function tell(look) {
    const sentence = lookSaid({
      head: headName(),
      token: nameOf(token()),
      facing: kept.facing,
      by: kept.by,
      grid: data.grid,
      weights: look,
    });
    setText(said, sentence);
    const places = /** @type {HTMLElement[]} */ ([...chips.children]);
    data.others.forEach(({ at, name }, i) => {
      setText(places[i], `${visible(name)} ${inTwoDigits(look[at])}`);
      setAttribute(places[i], "aria-pressed", at === kept.token);
    });
    clearTimeout(saying);
    saying = setTimeout(() => setText(live, sentence), SETTLED);
  }
  /** @param {(look: import("./picture_saving.js").SavedLook) => void} save */
  function withLook(save) {
    if (lastLook) save({ data, photo, weights: lastLook, kept, head: headName(), token: nameOf(kept.token) });
  }
  /** @param {PictureData} given @param {(value: unknown) => void} send */
  function update(given, send) {
    [data, report, kept] = [given, send, given.selection];
    const now = `${data.base} ${data.view}`;
    if (now !== stamp) {
      stamp = now;
      [lastEvery, lastLook, hovered] = [null, null, null];
      [rows, maps] = [keeper(48, redraw, failed), keeper(4, redraw, failed)];
      source = data.inside ? ofFile(data.inside) : routes(data);
      photo.onload = redraw;
      photo.src = source.photo;
      chips.replaceChildren(...data.others.map(({ at, name }) =>
        h("button", {
          type: "button",
          class: "plain chip",
          onclick: () => keep({ token: at }),
          onpointerenter: () => hover(at),
          onpointerleave: () => hover(null),
        }, visible(name))
      ));
    }
    facing.selectedIndex = FACINGS_OF_PICTURE.indexOf(kept.facing);
    by.selectedIndex = KINDS_OF_PICTURE.indexOf(kept.by);
    by.options[1].disabled = !data.values;
    setAttribute(chips, "aria-label", _("Tokens without a patch"));
    setAttribute(
      stage,
      "aria-label",
      _("{title}. Arrow keys move over its patches, Enter keeps one, Escape goes back.", { title: data.title }),
    );
    redraw();
  }
  /**
   * A picture from the clipboard goes to the server, which opens it as it opens a file.
   * @param {ClipboardEvent} event
   */
  async function pastes(event) {
    const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith("image/"));
    if (!file || data.inside || file.size > LARGEST_PASTED) return;
    event.preventDefault();
    report({ pasted: inBase64(new Uint8Array(await file.arrayBuffer())) });
  }
  document.addEventListener("paste", pastes);
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  return {
    update,
    close() {
      document.removeEventListener("paste", pastes);
      watch.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(saying);
    },
  };
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {number} ratio */
function sized(canvas, width, height, ratio) {
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width === wide && canvas.height === tall) return;
  [canvas.width, canvas.height] = [wide, tall];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

const picture = mounting("picture", createPicture);

export default picture; // by its name too, for a file of its own: viz/components/picture/picture_page.py
