// Two baselines for a link's weight: the mean weight of the text's other words on the key, and the positional prior.

import { THUMB } from "./source.js";

/** @import { App, Grid, Payload, Cell } from "./types.js" */

/** @typedef {{layer: number, head: number, query: number, key: number, weight: number}} Link */
/** @typedef {{usual: number, placed: number|null}} Doubts NaN and null are unknown */

/**
 * Return the mean weight of the text's other words on a key in a head (attention/excess.py), NaN without such words.
 * Other words exclude special tokens, the query and the key, and must be able to attend to the key.
 * @param {Grid} grid with the column means @param {Payload} data @param {Link} link
 */
export function usual({ heads, means, counts, summed }, data, { layer, head, query, key, weight }) {
  const keys = (data.keys ?? data.queries).length;
  const count = counts[layer * keys + key];
  const mean = means[(layer * heads + head) * keys + key];
  // A weight above zero implies that the query may attend to the key.
  const counted = !data.queries[query].special && (data.keys !== null || query !== key) && weight > 0 &&
    (summed === null || summed.has(query));
  const others = count - Number(counted);
  return others > 0 ? Math.max(0, mean * count - (counted ? weight : 0)) / others : NaN;
}

/**
 * Return the index of a token's position relative to another token, as in attention/excess.py.
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
 * Return the head's mean weight for the key's position in other texts, or null if it is unknown.
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
 * Return a function that computes both baselines of a link, or null before the arrays are there. Signed maps have no
 * baselines, since their means are not shares of attention.
 * @param {App} app @returns {((link: Link) => Doubts)|null}
 */
export function doubtsIn({ feed, data }) {
  const grid = data.signed ? null : feed.peek("grid", THUMB);
  return grid && ((link) => ({ usual: usual(grid, data, link), placed: placed(grid, data, link) }));
}

/**
 * Return a weight minus the larger baseline; unknown baselines count as 0.
 * @param {number} weight @param {Doubts} doubts
 */
export const beyond = (weight, { usual, placed }) => weight - Math.max(usual || 0, placed ?? 0);

/**
 * Return the columns of a link's baselines, null if unknown: column mean, positional prior, and the weight above the
 * larger. The names are those of the messages.
 * @param {number} weight @param {Doubts} doubts
 */
export function baselinesOf(weight, doubts) {
  return {
    columnMean: Number.isNaN(doubts.usual) ? null : doubts.usual,
    prior: doubts.placed,
    aboveBaseline: beyond(weight, doubts),
  };
}
