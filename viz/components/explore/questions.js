// Derived values that several parts need, computed for the current selection.

import { meaningOf } from "../shared/frames.js";
import { quote, wordRange } from "./cells.js";
import { beyond, doubtsIn } from "./crowd.js";
import { headInWords } from "./measures.js";
import { argmax, niceTop, overAllHeads, slice } from "./numbers.js";
import { ends } from "./selection.js";
import { THUMB, TILE } from "./source.js";
import { doubt, strongestHead, strongestTarget, truth } from "./truth.js";

/** @import { App, Facing, Grid, Questions, Rows, Selection, StripRole } from "./types.js" */
/** @import { Facts, Strength } from "./truth.js" */

/**
 * Compute a value for an immutable object once, and cache it.
 * @template {WeakKey} Of @template Key @template Answer
 * @param {WeakMap<Of, Map<Key, Answer>>} known @param {Of} of @param {Key} key @param {() => Answer} make @returns
 * {Answer}
 */
function once(known, of, key, make) {
  /** @type {Map<Key, Answer>} */
  const answers = known.get(of) ?? new Map();
  known.set(of, answers);
  const found = answers.get(key) ?? make();
  answers.set(key, found);
  return found;
}

/** @param {App} app @returns {Questions} */
export function questions(app) {
  /** @type {WeakMap<Grid, Map<number, number>>} */
  const tops = new WeakMap();
  /** @type {WeakMap<Rows, Map<string, number>>} */
  const partners = new WeakMap();
  /** @type {WeakMap<Rows, Map<number, Float32Array>>} */
  const linked = new WeakMap();
  const cross = () => Boolean(app.data.keys);
  const cellsOf = (/** @type {"focus"|"target"} */ end) => (end === "focus" ? app.data.queries : app.keys());
  /**
   * Return a word's weights to all others (or from all others) in all heads, if they are cached.
   * @param {Facing} facing @param {number} pivot
   */
  const peek = (facing, pivot) => app.feed.peek(facing === "out" ? "rows" : "columns", pivot);
  /**
   * Return rows or columns over all heads: immediately for the kept selection, for a preview after the pointer rests.
   * @param {"rows"|"columns"} kind @param {number} index
   */
  function overHeads(kind, index) {
    const found = app.feed.peek(kind, index);
    if (found) return app.feed.get(kind, index);
    const { kept, preview } = app.store.state;
    if (!preview || index === (kind === "rows" ? kept.focus : kept.target)) return app.feed.get(kind, index);
    app.waits = true;
    return app.rested() ? app.feed.get(kind, index) : null;
  }
  /** @param {number} layer @param {number} head */
  function wholeTile(layer, head) {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    return rows <= TILE && cols <= TILE
      ? app.feed.peek("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE })
      : null;
  }
  /**
   * Return the link between the pivot and a token, with the query and the key in their roles.
   * @param {number} id layer * heads + head @param {number} pivot @param {number} token @param {Facing} facing
   * @param {number} weight
   */
  function link(id, pivot, token, facing, weight) {
    const { heads } = app.data;
    const [query, key] = facing === "out" ? [pivot, token] : [token, pivot];
    return { layer: Math.floor(id / heads), head: id % heads, query, key, weight };
  }
  /**
   * Return a function for the strength of the pivot's links beyond both baselines, or null before the arrays are there.
   * @param {number} pivot @param {Facing} facing @returns {Strength|null}
   */
  function strengthOf(pivot, facing) {
    const doubts = doubtsIn(app);
    return doubts && ((id, token, weight) => beyond(weight, doubts(link(id, pivot, token, facing, weight))));
  }
  /**
   * Return the weights of all heads for each token of the pivot's word; those of the chosen head only (as a single
   * head), or null, before they are there.
   * @param {Selection} shown @param {number} pivot
   */
  function wordRows(shown, pivot) {
    const [start, end] = wordRange(cellsOf(ends(shown)[0]), pivot);
    const kind = shown.facing === "out" ? "rows" : "columns";
    const own = app.weights();
    const found = Array.from({ length: end - start }, (_, i) => overHeads(kind, start + i));
    if (found.every(Boolean)) return { rows: /** @type {Rows[]} */ (found), complete: true };
    if (end - start > 1 || !own) return { rows: null, complete: false };
    const { layer, head } = shown;
    const data = new Float32Array((layer * app.data.heads + head + 1) * own.length);
    data.set(own, data.length - own.length);
    return { rows: [{ layers: layer + 1, heads: app.data.heads, count: own.length, data }], complete: false };
  }
  /** Return what the sentence and its note need, or null without a word in question. @returns {Facts|null} */
  function facts() {
    const shown = app.shown();
    const [asked, answers] = ends(shown);
    const [pivot, { layer, head, facing }] = [shown[asked], shown];
    if (pivot === null) return null;
    const doubts = doubtsIn(app);
    return {
      say: app.say,
      model: app.data.model.name.split("/").at(-1) ?? "",
      layer,
      head,
      facing,
      pivot,
      picked: app.linkOf(shown)[answers],
      pivots: cellsOf(asked),
      others: cellsOf(answers),
      same: !cross(),
      ...wordRows(shown, pivot),
      ...(app.data.attending ? { attending: app.data.attending } : {}),
      signed: app.data.signed,
      rest: app.data.rest ?? null,
      strength: app.store.state.kept.by === "weight" ? null : strengthOf(pivot, facing),
      doubts: (token, weight) => doubts && doubts(link(layer * app.data.heads + head, pivot, token, facing, weight)),
    };
  }
  return {
    strengthOf,
    cellsOf,
    /** Return the end of the chosen head's colour scale. */
    scaleTop() {
      if (app.shown().upto === "one") return 1;
      const grid = app.feed.peek("grid", THUMB);
      if (!grid) return 1;
      const { layer, head } = app.shown();
      const id = layer * app.data.heads + head;
      const cells = grid.rows * grid.cols;
      const map = grid.data.subarray(id * cells, (id + 1) * cells);
      const furthest = () => Math.abs(meaningOf(grid.data)(map[argmax(map)]));
      return once(tops, grid, id, () => niceTop(furthest()));
    },
    /**
     * Return both ends of the link in question; an end that is not chosen is the strongest.
     * @param {Selection} selection
     */
    linkOf(selection) {
      const { focus, target } = selection;
      const [pivot, partner] = ends(selection);
      const at = selection[pivot];
      const all = app.data.quiet || at === null || selection[partner] !== null ? null : peek(selection.facing, at);
      if (!all || at === null) return { focus, target };
      const { layer, head, order } = app.store.state.kept; // the kept head, not a previewed head
      const still = order === "focus"; // an order by the link must not change with the head
      const weights = () => (still ? overAllHeads(all) : slice(all, layer, head));
      const key = still ? "any head" : `${layer} ${head}`;
      const found = once(partners, all, key, () => strongestTarget(weights(), cellsOf(partner), at, !cross()));
      return { focus, target, [partner]: found };
    },
    /** Return the weights (layer * heads + head) of the kept link. */
    linkWeights() {
      const { kept } = app.store.state;
      const [pivot, partner] = ends(kept);
      const [at, to] = [kept[pivot], app.linkOf(kept)[partner]];
      const all = at === null ? null : peek(kept.facing, at);
      if (!all || to === null) return null;
      const { layers, heads, count, data } = all;
      const make = () => Float32Array.from({ length: layers * heads }, (_, id) => data[id * count + to]);
      return once(linked, all, to, make);
    },
    linkStrengths() {
      const { kept } = app.store.state;
      const [pivot, partner] = ends(kept);
      const [weights, to] = [app.linkWeights(), app.linkOf(kept)[partner]];
      if (!weights || to === null || kept.by === "weight") return weights;
      const strength = strengthOf(kept[pivot] ?? 0, kept.facing);
      return strength && weights.map((weight, id) => strength(id, to, weight));
    },
    linkNames() {
      const { focus, target } = app.linkOf(app.store.state.kept);
      if (focus === null || target === null) return null;
      return { from: quote(app.data.queries, focus), to: quote(app.keys(), target) };
    },
    /** Return the token that the shades and the sentence describe. */
    pivot() {
      const shown = app.shown();
      return shown[ends(shown)[0]];
    },
    /** Return the weights between the pivot and every other token in the chosen head, or null. */
    weights() {
      const [pivot, { layer, head, facing }] = [app.pivot(), app.shown()];
      if (pivot === null) return null;
      const out = facing === "out";
      const tile = wholeTile(layer, head);
      const all = overHeads(out ? "rows" : "columns", pivot);
      if (all) return slice(all, layer, head);
      if (!tile) return null;
      app.waits = false; // the numbers on screen are complete; only the comparison over heads is not
      if (out) return tile.data.subarray(pivot * tile.cols, (pivot + 1) * tile.cols);
      return Float32Array.from({ length: tile.rows }, (_, r) => tile.data[r * tile.cols + pivot]);
    },
    /** Return the weights that shade a row of chips. @param {StripRole} role */
    shades(role) {
      if (app.data.quiet) return null;
      return role === (app.shown().facing === "out" ? "query" : "key") ? null : app.weights();
    },
    sentence() {
      if (app.data.quiet) return "";
      const { layer, head } = app.shown();
      const known = facts();
      return known ? truth(known) : headInWords(app.data, app.say, app.name(layer, head), layer, head);
    },
    strongestHead() {
      const known = app.data.quiet || app.data.asks_head ? null : facts();
      return known && strongestHead(known);
    },
    doubt() {
      const known = app.data.quiet ? null : facts();
      return known ? doubt(known) : "";
    },
  };
}
