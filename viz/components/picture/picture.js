// The image view of a vision transformer.
//
// Meaning of each mark:
//   photo      brightness: the attention of the shown token to a patch (or from it) in the chosen head, as the square
//              root of its share of the largest patch. Framed: the token's patch, if it has one.
//   chips      tokens without a patch, such as CLS and registers, each with its weight.
//   heads      a small map for each head, layers downwards, of the shown token; each from 0 to its largest weight.
//              Accent: the chosen head.
// Hover previews, a click keeps, Escape returns to the kept selection. Arrays come from a PictureSource.

import { readTheme } from "../shared/colours.js";
import { createTip, h, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { saveMenu } from "../shared/save_menu.js";
import { _ } from "../shared/words.js";
import { createChips } from "./picture_chips.js";
import { drawDimmed, framePatch } from "./picture_drawing.js";
import { createHeads } from "./picture_heads.js";
import { isLatest, patchKey, tokenUnder } from "./picture_looks.js";
import { onPicturePasted } from "./picture_pasting.js";
import { savePhoto, saveRow } from "./picture_saving.js";
import { FORGOTTEN, keeper, lookOf, ofFile, routes } from "./picture_source.js";
import { createStage } from "./picture_stage.js";
import { lookSaid, tokenName } from "./picture_words.js";

/** @import { PatchGrid, Weights } from "./picture_looks.js" */
/** @import { EveryHead, Inside, PictureSource } from "./picture_source.js" */
/** @typedef {{layer: number, head: number, token: number, facing: "out"|"in", by: "head"|"norms"|"rollout"}} Kept */
/**
 * @typedef {object} PictureData Made by viz/components/picture/content.py.
 * @property {string} base prefix of every address
 * @property {string} view query string of every address
 * @property {string} title
 * @property {[string, string][]} about written into every saved file
 * @property {{width: number, height: number}} picture
 * @property {PatchGrid} grid
 * @property {{at: number, name: string}[]} others tokens without a patch
 * @property {string[]} tokens every token's name, for a saved row
 * @property {number} layers
 * @property {number} heads
 * @property {boolean} values true if the trace has values, so that weights can be scaled by value norms
 * @property {Kept} selection
 * @property {Inside|null} inside the arrays of a file without a server
 * @property {PictureSource} [source] the arrays on a page without a server
 * @property {Record<string, string>} [words]
 */

const SETTLED = 400; // ms without a change before a screen reader announces it
const KINDS_OF_PICTURE = /** @type {const} */ (["head", "norms", "rollout"]);
const FACINGS_OF_PICTURE = /** @type {const} */ (["out", "in"]);

/** @param {Element|ShadowRoot} root */
function createPicture(root) {
  const view = createStage({
    onkeydown: moves,
    onpointermove: points,
    onpointerleave: leaves,
    onclick: keepsPatch,
    onfocusin: begins,
  }, { share: 0.72, most: 620 });
  const { photo, stage } = view;
  const everyHead = createHeads({
    keep: keepHead,
    over: (name, x, y) => tip.show([name], x, y),
    leave: () => tip.hide(),
    redraw,
  });
  const alone = createChips((at) => keep({ token: at }), hover);
  const facing = h("select", { onchange: () => keep({ facing: FACINGS_OF_PICTURE[facing.selectedIndex] }) });
  facing.append(h("option", {}, _("looks at")), h("option", {}, _("is looked at by")));
  const by = h("select", { onchange: () => keep({ by: KINDS_OF_PICTURE[by.selectedIndex] }) });
  by.append(
    ...[_("Weights"), _("Weights × value norm"), _("Attention rollout")].map((text) => h("option", {}, text)),
  );
  const said = h("p", { class: "said", dir: "auto" });
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const fault = h("p", { class: "note", role: "alert", hidden: true });
  const again = h("button", { type: "button", class: "plain", onclick: () => keep({}) }, _("Run again"));
  const menu = saveMenu([
    [_("Save as PNG"), () => withLook((look) => savePhoto(look, "PNG"))],
    [_("Save as SVG"), () => withLook((look) => savePhoto(look, "SVG"))],
    [`${_("Save as CSV")} (zip)`, () => withLook((look) => saveRow(look))],
  ]);
  const el = h(
    "figure",
    { class: "hl picture" },
    h(
      "div",
      { class: "bar" },
      h("label", { class: "picker" }, _("Token"), facing),
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
        h("p", { class: "note" }, _("Special tokens and their weight")),
        alone.chips,
      ),
      h("section", { class: "every" }, h("h2", {}, _("Every head")), everyHead.pad, h("p", { class: "note" }, note())),
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
  /** @type {(typeof kept)[]} the selections whose echo from the server is still awaited */
  const sent = [];
  let report = (/** @type {unknown} */ _value) => {};
  /** @type {number|null} the token under the pointer */
  let hovered = null;
  let problem = false; // true after a failed request
  let begun = false; // true after the first interaction; from then on the chosen head's whole map is fetched
  let [frame, saying, stamp] = [0, 0, ""];
  /** @type {EveryHead|null} the last drawn token's rows in every head */
  let lastEvery = null;
  /** @type {Weights|null} */
  let lastLook = null;
  let rows = keeper(48, redraw, failed);
  let maps = keeper(4, redraw, failed);

  function note() {
    return _("Rows: layers; columns: heads. Each map has its own scale.");
  }
  const token = () => hovered ?? kept.token;
  const chosen = () => kept.layer * data.heads + kept.head;
  /** Return the kind of the small pictures, which have no rollout. @returns {"head"|"norms"} */
  const plainKind = () => (kept.by === "norms" ? "norms" : "head");
  const nameOf = (/** @type {number} */ at) => tokenName(data.grid, data.others, at);
  function headName() {
    if (kept.by === "rollout") return _("Attention rollout");
    return _("Head {layer}-{head}", { layer: kept.layer, head: kept.head });
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
    if (data.inside) return;
    if (data.source) return report(kept);
    sent.push(kept);
    report(kept);
  }
  /** @param {MouseEvent} event */
  function under(event) {
    return tokenUnder(data.grid, ...view.place(event));
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
  function keepHead(id) {
    keep({ layer: Math.floor(id / data.heads), head: id % data.heads, by: plainKind() });
  }
  /** Return the shown token's weights from the best available array, and every head's if they are cached. */
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
  /**
   * Return the rollout, or the chosen head's map after the first interaction, so that any patch is drawn immediately.
   */
  function wholeMap() {
    const { layer, head, by } = kept;
    const key = by === "rollout" ? by : `${by} ${layer} ${head}`;
    return begun || by === "rollout" ? maps.get(key, () => source.map(layer, head, by)) : null;
  }
  function paint() {
    frame = 0;
    if (!data || !view.ready() || !el.clientWidth) return;
    const { every, look, exact } = looks();
    lastEvery = every ?? lastEvery;
    lastLook = look ?? lastLook;
    fault.hidden = !problem || look !== null;
    const { ctx, ratio } = view.fit(data.picture);
    drawDimmed(ctx, photo, ctx.canvas.width, ctx.canvas.height, data.grid, lastLook);
    framePatch(ctx, ctx.canvas.width, ctx.canvas.height, data.grid, token(), ratio);
    const shown = { data, every: lastEvery, chosen: chosen(), framed: kept.by !== "rollout", name: headName() };
    everyHead.paint({ ...shown, width: el.clientWidth }, readTheme(el));
    if (look && exact) tell(look);
    const { layer, head, facing: way, by: kind } = kept;
    if (look) setAttribute(el, "data-painted", [data.base, layer, head, token(), way, kind].join("|"));
    if (look && every) setAttribute(el, "data-whole", [layer, head, token(), way, kind].join("|"));
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
    alone.tell(data.others, look, kept.token);
    clearTimeout(saying);
    saying = setTimeout(() => setText(live, sentence), SETTLED);
  }
  /** @param {(look: import("./picture_saving.js").SavedLook) => void} save */
  function withLook(save) {
    if (lastLook) save({ data, photo, weights: lastLook, kept, head: headName(), token: nameOf(kept.token) });
  }
  /** @param {PictureData} given @param {(value: unknown) => void} send */
  function update(given, send) {
    [data, report] = [given, send];
    if (isLatest(sent, given.selection)) kept = given.selection;
    const now = `${data.base} ${data.view}`;
    if (now !== stamp) {
      stamp = now;
      [lastEvery, lastLook, hovered] = [null, null, null];
      [rows, maps] = [keeper(48, redraw, failed), keeper(4, redraw, failed)];
      source = data.source ?? (data.inside ? ofFile(data.inside) : routes(data));
      view.show(source.photo, redraw);
      alone.name(data.others);
    }
    facing.selectedIndex = FACINGS_OF_PICTURE.indexOf(kept.facing);
    by.selectedIndex = KINDS_OF_PICTURE.indexOf(kept.by);
    by.options[1].disabled = !data.values;
    setAttribute(
      stage,
      "aria-label",
      _("{title}. Arrow keys move, Enter keeps, Escape returns.", { title: data.title }),
    );
    redraw();
  }
  const unlisten = onPicturePasted(() => !data?.inside && !data?.source, (pasted) => report({ pasted }));
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  return {
    update,
    close() {
      unlisten();
      watch.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(saying);
    },
  };
}

const picture = mounting("picture", createPicture);

export default picture; // the name is used by viz/components/picture/content.py
