// The form for live texts of a static site: two texts, and heads to ablate. A text runs while the reader types.

import { h, setText } from "../shared/elements.js";
import { _, together } from "../shared/words.js";
import { largestDifference } from "./live_payload.js";
import { createRuns, createTimer, textBox } from "./live_runs.js";
import { createSimilarity } from "./live_table.js";

/** @import { Payload, Selection, Source } from "../explore/types.js" */
/** @import { Manifest, Model, Pass } from "./live_model.js" */
/** @import { Page } from "./live_runs.js" */
/** @typedef {{own: string, pair: string, off: string, similar: string}} Fields of the address: both texts, the
 * ablated heads, and "1" with the table of similarity */
/** @typedef {Page & {show: (payload: Payload, source: Source, fields: Fields) => void}} Host draws a text */

/** Return a head's name. @param {number} id layer × heads + head @param {{heads: number}} sizes */
const nameOf = (id, { heads }) => `${Math.floor(id / heads)}-${id % heads}`;

/**
 * Create the form, which replaces the content of `root` when it is opened.
 * @param {HTMLElement} root @param {Manifest} manifest @param {Model} model @param {number} difference from
 * the Python app @param {Host} host
 */
export function createForm(root, manifest, model, difference, host) {
  const timer = createTimer(run);
  const runs = createRuns(manifest, model, host);
  const [text, pair] = [textBox(timer.wait), textBox(timer.wait)];
  const ablate = h("button", {
    type: "button",
    class: "choice",
    onclick: () => toggle(selectedHead()),
    title: _("Zero this head's output"),
  });
  const compare = h("button", {
    type: "button",
    class: "choice",
    title: _("Cosine similarity"),
    onclick: () => {
      similar = !similar;
      run();
    },
  }, _("Similarity"));
  const similarity = createSimilarity(manifest.name);
  const removed = h("span", { role: "group", "aria-label": _("Ablated heads") });
  const said = h("p", { role: "status" });
  /** @type {Set<number>} */
  let ablated = new Set();
  let similar = false;

  function draw() {
    root.replaceChildren(
      h(
        "div",
        { class: "own" },
        h("label", {}, _("Text"), text),
        h("label", {}, _("Second text (optional)"), pair),
      ),
      h("div", { class: "own-heads" }, ablate, removed, compare),
      ...[runs.wrong, said, similarity.el],
    );
  }
  function selectedHead() {
    const { layer = 0, head = 0 } = host.selection();
    return layer * manifest.heads + head;
  }
  /** @param {number} id */
  function toggle(id) {
    if (!ablated.delete(id)) ablated.add(id);
    run();
  }
  function drawHeads() {
    const id = selectedHead();
    setText(ablate, _("Ablate {layer}-{head}", { layer: Math.floor(id / manifest.heads), head: id % manifest.heads }));
    ablate.setAttribute("aria-pressed", String(ablated.has(id)));
    const others = [...ablated].filter((other) => other !== id).sort((one, other) => one - other);
    removed.replaceChildren(
      ...others.map((other) =>
        h("button", {
          type: "button",
          class: "choice",
          "aria-pressed": "true",
          onclick: () => toggle(other),
        }, nameOf(other, manifest))
      ),
    );
  }
  function run() {
    timer.cancel();
    const typedNow = { text: text.value.trim(), pair: pair.value.trim(), ablated: [...ablated] };
    return runs.run(typedNow, ({ view, plain, edited, isLatest }) => {
      setText(said, status(edited.pass, plain.pass));
      host.show(view.payload, view.source, typed());
      drawHeads();
      return drawSimilarity(plain.text, plain.pair, isLatest);
    });
  }
  /** @param {string} first @param {string|null} second @param {() => boolean} isLatest */
  async function drawSimilarity(first, second, isLatest) {
    compare.hidden = second === null || manifest.pooling === null;
    compare.setAttribute("aria-pressed", String(similar));
    if (!similar || second === null || manifest.pooling === null) return similarity.hide();
    const encoded = [];
    for (const text of [first, second]) {
      const reading = model.read(text);
      encoded.push({ text, reading, states: (await model.run(reading, [...ablated])).states });
    }
    if (isLatest()) similarity.show(encoded[0], encoded[1], manifest.pooling);
  }
  /** Return the content of the form. @returns {Fields} */
  function typed() {
    const off = [...ablated].join(",");
    return { own: text.value.trim(), pair: pair.value.trim(), off, similar: similar ? "1" : "" };
  }
  /**
   * Draw the form with texts and heads.
   * @param {Fields} fields @param {Partial<Selection>|null} selection
   */
  function fill(fields, selection) {
    if (!text.isConnected) draw();
    const recorded = fields.own ? null : host.recorded();
    const starts = recorded && !recorded.pair && recorded.queries.length <= manifest.longest ? recorded : null;
    runs.select(fields.own ? selection : null);
    text.value = fields.own || starts?.text || manifest.check.text;
    pair.value = fields.pair;
    similar = fields.similar === "1";
    const count = manifest.layers * manifest.heads;
    const heads = fields.off.split(",").filter((id) => /^\d{1,4}$/.test(id)).map(Number);
    ablated = new Set(heads.filter((id) => id < count));
    drawHeads();
  }
  /** @param {Pass} pass @param {Pass} without without ablated heads */
  function status({ maps, milliseconds }, without) {
    const time = _("{milliseconds} ms. Largest difference from the app: {difference}.", {
      milliseconds: Math.round(milliseconds),
      difference: difference.toFixed(4),
    });
    if (!ablated.size) return time;
    const change = largestDifference(maps, without.maps);
    return together(time, _("Largest change by ablation: {change}.", { change: change.toFixed(2) }));
  }
  return {
    typed,
    fill,
    /**
     * Show the text of an address with its selection, or run the recorded text that is shown.
     * @param {Fields} fields @param {Partial<Selection>|null} selection
     */
    open(fields, selection) {
      fill(fields, selection);
      run();
    },
    selected: drawHeads,
  };
}
