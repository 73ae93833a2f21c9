// What several parts ask of the numbers, each answered for what is shown now.

import { sqrt8 } from "../shared/frames.js";
import { quote } from "./cells.js";
import { niceTop, overAllHeads, short, slice } from "./numbers.js";
import { THUMB, TILE } from "./source.js";
import { strongestTarget, truth } from "./truth.js";
import { fill } from "./words.js";

/** What several parts ask of the numbers, each answered for what is shown now. */
export function questions(app, rested) {
  /** @type {WeakMap<Grid, Map<number, number>>} */
  const tops = new WeakMap();
  /** @type {WeakMap<Rows, Map<string, any>>} */
  const known = new WeakMap();
  const once = (rows, key, make) => {
    const of = known.get(rows) ?? new Map();
    known.set(rows, of);
    if (!of.has(key)) of.set(key, make());
    return of.get(key);
  };
  const cross = () => Boolean(app.data.keys);
  /** Rows or columns over all heads: for what is kept at once, for a preview when the pointer rests and they are small. */
  function overHeads(kind, index) {
    const found = app.feed.peek(kind, index);
    if (found) return app.feed.get(kind, index);
    const { kept, preview } = app.store.state;
    if (!preview || index === (kind === "rows" ? kept.focus : kept.target)) return app.feed.get(kind, index);
    app.waits = true;
    return rested() ? app.feed.get(kind, index) : null;
  }
  function wholeTile(layer, head) {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    return rows <= TILE && cols <= TILE
      ? app.feed.peek("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE })
      : null;
  }
  return {
    /** The end of the chosen head's colour scale. */
    scaleTop() {
      const grid = app.feed.peek("grid", THUMB);
      if (!grid) return 1;
      const { layer, head } = app.shown();
      const of = tops.get(grid) ?? new Map();
      tops.set(grid, of);
      const id = layer * app.data.heads + head;
      const cells = grid.rows * grid.cols;
      if (!of.has(id)) {
        of.set(
          id,
          niceTop(sqrt8(grid.data.subarray(id * cells, (id + 1) * cells).reduce((a, b) => Math.max(a, b), 0))),
        );
      }
      return of.get(id);
    },
    /** The key that links and dashes are about: the chosen one, else the strongest. */
    target(selection) {
      if (selection.target !== null || selection.focus === null) return selection.target;
      const rows = app.feed.peek("rows", selection.focus);
      if (!rows) return null;
      const { layer, head, order } = app.store.state.kept; // not the head that is only looked at in passing
      const still = order === "focus"; // an order by the target must not change with the head
      return once(
        rows,
        still ? "target" : `target ${layer} ${head}`,
        () =>
          strongestTarget(still ? overAllHeads(rows) : slice(rows, layer, head), app.keys(), selection.focus, !cross()),
      );
    },
    /** (layer * heads + head) weights from the kept focus to its target. */
    linkWeights() {
      const { kept } = app.store.state;
      const rows = kept.focus === null ? null : app.feed.peek("rows", kept.focus);
      const target = app.target(kept);
      if (!rows || target === null) return null;
      return once(
        rows,
        `to ${target}`,
        () => Float32Array.from({ length: rows.layers * rows.heads }, (_, id) => rows.data[id * rows.count + target]),
      );
    },
    linkNames() {
      const { kept } = app.store.state;
      const target = app.target(kept);
      if (kept.focus === null || target === null) return null;
      const base = app.data.indexBase;
      return { from: quote(app.data.queries, kept.focus, base), to: quote(app.keys(), target, base) };
    },
    /** The token that shades and sentence are about: (index, which row of tokens it stands in). */
    pivot() {
      const shown = app.shown();
      return app.store.state.facing === "in" && cross() ? app.target(shown) : shown.focus;
    },
    /** Weights between the pivot and every other token in the chosen head, or null. */
    weights() {
      const [pivot, { layer, head }] = [app.pivot(), app.shown()];
      if (pivot === null) return null;
      const out = app.store.state.facing === "out";
      const tile = wholeTile(layer, head);
      const all = overHeads(out ? "rows" : "columns", pivot);
      if (all) return slice(all, layer, head);
      if (!tile) return null;
      app.waits = false; // the numbers shown are complete; only the comparison over heads is not
      if (out) return tile.data.subarray(pivot * tile.cols, (pivot + 1) * tile.cols);
      return Float32Array.from({ length: tile.rows }, (_, r) => tile.data[r * tile.cols + pivot]);
    },
    /** What to shade a row of chips with. @param {"both"|"query"|"key"} role */
    shades(role) {
      const out = app.store.state.facing === "out";
      if (role === (out ? "query" : "key")) return null;
      return app.weights();
    },
    sentence() {
      const { layer, head } = app.shown();
      const { entropy, distance } = app.data.measures ?? {};
      const pivot = app.pivot();
      if (pivot === null) {
        const values = {
          head: app.name(layer, head),
          entropy: short(entropy?.[layer]?.[head] ?? 0),
          distance: (distance?.[layer]?.[head] ?? 0).toFixed(1),
        };
        return fill(entropy?.[layer] && distance?.[layer] ? app.say.noFocus : app.say.noFocusBare, values);
      }
      const out = app.store.state.facing === "out";
      return truth({
        say: app.say,
        base: app.data.indexBase,
        layer,
        head,
        facing: out ? "out" : "in",
        pivot,
        same: !cross(),
        pivots: out ? app.data.queries : app.keys(),
        others: out ? app.keys() : app.data.queries,
        values: app.weights(),
        rows: app.feed.peek(out ? "rows" : "columns", pivot),
      });
    },
  };
}
