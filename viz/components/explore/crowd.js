// What the text's other words give a key, and what a head gives a place in other texts: the two doubts about a link.

import { THUMB } from "./source.js";

/** @import { App, Grid, Payload, Cell } from "./types.js" */

/** @typedef {{layer: number, head: number, query: number, key: number, weight: number}} Link */
/** @typedef {{usual: number, placed: number|null}} Doubts NaN and null where nothing is known */

/**
 * The mean weight that the text's other words give a key in a head, NaN where there are none: attention/excess.py.
 * Other words are no special tokens, neither the query nor the key, and they may look at the key.
 * @param {Grid} grid with what all words give together @param {Payload} data @param {Link} link
 */
export function usual({ heads, means, counts, summed }, data, { layer, head, query, key, weight }) {
  const keys = (data.keys ?? data.queries).length;
  const count = counts[layer * keys + key];
  const mean = means[(layer * heads + head) * keys + key];
  // A weight that is not zero is of a key that may be looked at.
  const counted = !data.queries[query].special && (data.keys !== null || query !== key) && weight > 0 &&
    (summed === null || summed.has(query));
  const others = count - Number(counted);
  return others > 0 ? Math.max(0, mean * count - (counted ? weight : 0)) / others : NaN;
}

/**
 * The place of a token as seen from another, counted as attention/excess.py counts them.
 * @param {NonNullable<Grid["habits"]>} habits @param {number} from @param {number} to @param {boolean} special
 * @param {boolean} cross
 */
function placeOf({ reach, first }, from, to, special, cross) {
  if (!cross && from === to) return reach + 1;
  if (to === 0 && first) return 2 * reach + 3;
  if (special) return 2 * reach + 4;
  return Math.max(-reach - 1, Math.min(reach + 1, to - from)) + reach + 1;
}

/**
 * What the head gives the place of a key in other texts, whatever stands there; null where that is not known.
 * @param {Pick<Grid, "habits">} grid @param {Payload} data @param {Omit<Link, "weight">} link
 */
export function placed({ habits }, { queries, keys }, { layer, head, query, key }) {
  if (!habits) return null;
  /** @param {Cell} cell */
  const pieces = ({ at: [start, end] }) => Array.from({ length: end - start }, (_, i) => start + i);
  const [from, to] = [queries[query], (keys ?? queries)[key]];
  const means = habits.means[layer][head];
  let sum = 0;
  for (const p of pieces(from)) {
    for (const k of pieces(to)) sum += means[placeOf(habits, p, k, to.special, keys !== null)] ?? 0;
  }
  return sum / pieces(from).length;
}

/**
 * What tells both doubts about any link of the text that is shown, or null before the numbers are there; never of
 * numbers with signs, whose means say nothing about who is looked at.
 * @param {App} app @returns {((link: Link) => Doubts)|null}
 */
export function doubtsIn({ feed, data }) {
  const grid = data.signed ? null : feed.peek("grid", THUMB);
  return grid && ((link) => ({ usual: usual(grid, data, link), placed: placed(grid, data, link) }));
}

/**
 * What is left of a weight beyond both doubts; what is not known is no doubt.
 * @param {number} weight @param {Doubts} doubts
 */
export const beyond = (weight, { usual, placed }) => weight - Math.max(usual || 0, placed ?? 0);
