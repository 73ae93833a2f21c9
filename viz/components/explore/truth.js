// Numbers into words: the sentence of truth, and the strongest links.

import { quote } from "./cells.js";
import { argmax, short, slice } from "./numbers.js";
import { fill } from "./words.js";

/** @import { Cell, Rows, Words } from "./types.js" */

/**
 * In how many other heads the token has less weight.
 * @param {Rows} rows @param {number} layer @param {number} head @param {number} token
 */
export function headsBelow(rows, layer, head, token) {
  const mine = slice(rows, layer, head)[token];
  let below = 0;
  for (let id = 0; id < rows.layers * rows.heads; id++) if (rows.data[id * rows.count + token] < mine) below++;
  return below;
}

/**
 * "Layer 3 · head 1" with the index base the data asks for.
 * @param {Words} say @param {number} base @param {number} layer @param {number} head
 */
export const headName = (say, base, layer, head) => fill(say.head, { layer: layer + base, head: head + base });

/**
 * The sentence of truth: where the focus looks (or who looks at it) in the chosen head, in the numbers shown.
 * @param {{say: Words, base: number, layer: number, head: number, facing: "out"|"in", pivot: number, pivots: Cell[],
 *   others: Cell[], same: boolean, values: Float32Array|null, rows: Rows|null}} facts values: weights of this head
 */
export function truth(facts) {
  const { say, base, pivot, pivots, others, values, rows, layer, head } = facts;
  const name = headName(say, base, layer, head);
  if (!values) return `${name}.`;
  const focus = quote(pivots, pivot, base);
  const top = argmax(values);
  const word = argmax(values, (i) => !others[i].special);
  const called = (/** @type {number} */ i) => (facts.same && i === pivot ? say.itself : quote(others, i, base));
  const template = facts.facing === "in"
    ? say.received
    : values[top] > 0.5 && others[top].special
    ? say.mostly
    : say.most;
  let text = fill(template, { head: name, focus, key: called(top), weight: short(values[top]) });
  const said = others[top].special && word >= 0 ? word : top;
  if (said !== top) text += fill(say.among, { key: called(said), weight: short(values[said]) });
  if (rows && rows.layers * rows.heads > 1) {
    const below = headsBelow(rows, layer, head, said);
    const rest = rows.layers * rows.heads - 1;
    text += fill(below === rest ? say.rankFirst : say.rank, { below, others: rest });
  }
  return `${text}.`;
}

/**
 * The strongest links of a focus over all heads, strongest first.
 * @param {Rows} rows @param {number} most @param {(token: number) => boolean} allowed
 */
export function topLinks(rows, most, allowed = () => true) {
  /** @type {{layer: number, head: number, token: number, weight: number}[]} */
  const best = [];
  for (let id = 0, at = 0; id < rows.layers * rows.heads; id++) {
    for (let token = 0; token < rows.count; token++, at++) {
      const weight = rows.data[at];
      if (!(weight > 0) || (best.length === most && weight <= best[most - 1].weight) || !allowed(token)) continue;
      let place = best.length;
      while (place > 0 && best[place - 1].weight < weight) place--;
      best.splice(place, 0, { layer: Math.floor(id / rows.heads), head: id % rows.heads, token, weight });
      if (best.length > most) best.pop();
    }
  }
  return best;
}

/**
 * The key that a focus looks at most: words before special tokens, itself last.
 * @param {ArrayLike<number>} weights (key,) @param {Cell[]} keys @param {number} focus @param {boolean} same
 */
export function strongestTarget(weights, keys, focus, same) {
  const word = argmax(weights, (i) => !keys[i].special && !(same && i === focus));
  return word >= 0 ? word : argmax(weights);
}
