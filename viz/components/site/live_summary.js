// Measures, column means and the default link of maps that the browser computed; attention/measures.py and
// attention/excess.py compute the same. Every token attends to every token, and all tokens are shown. A measure that
// measureHead does not return is not offered.

import { placed } from "../explore/crowd.js";

/** @import { Habits } from "../shared/frames.js" */
/** @import { Cell, Payload } from "../explore/types.js" */
/** @typedef {(layer: number, head: number) => Float32Array} Maps weights of a head, (query, key) */
/** @typedef {{layers: number, heads: number}} Sizes */
/** @typedef {{layer: number, head: number, focus: number}} Default */

const TINY = 1.1754943508222875e-38; // the smallest normal float32
const LINKS = 3; // links of a head that can become the default
const HABITUAL = 0.4; // mean weight at an offset from which a head counts as positional

/** Return true if a cell has punctuation only. @param {Cell} cell */
const isPunctuation = ({ text, special }) => !special && /^\p{P}+$/u.test(text.trim());

/** Return true if a cell has a letter or a digit. @param {Cell} cell */
const isWord = ({ text, special }) => !special && /[\p{L}\p{N}]/u.test(text);

/**
 * Return the value of every measure of a head by its name.
 * @param {Float32Array} weights @param {Cell[]} cells
 */
export function measureHead(weights, cells) {
  const size = cells.length;
  const marks = cells.map(isPunctuation);
  const words = cells.map((cell) => cell.special ? "" : cell.text.trim().toLowerCase());
  const sums = { entropy: 0, distance: 0, punctuation: 0, same: 0 };
  let repeated = 0; // rows whose word occurs again
  for (let query = 0; query < size; query++) {
    let again = false;
    for (let key = 0; key < size; key++) {
      const weight = weights[query * size + key];
      sums.entropy -= weight * Math.log2(weight + TINY);
      sums.distance += weight * Math.abs(key - query);
      if (marks[key]) sums.punctuation += weight;
      if (key === query || !words[query] || words[key] !== words[query]) continue;
      again = true;
      sums.same += weight;
    }
    repeated += Number(again);
  }
  return {
    entropy: sums.entropy / size,
    distance: sums.distance / size,
    punctuation: sums.punctuation / size,
    same: repeated ? sums.same / repeated : 0,
  };
}

/**
 * Return the sum of the weights that the words other than the key give each key, (key,).
 * @param {Float32Array} weights @param {Cell[]} cells
 */
function columnSums(weights, cells) {
  const sums = new Float64Array(cells.length);
  cells.forEach((cell, query) => {
    if (cell.special) return;
    for (let key = 0; key < cells.length; key++) if (key !== query) sums[key] += weights[query * cells.length + key];
  });
  return sums;
}

/**
 * Return the links with the largest excess of a head, at most LINKS: the strongest word of each key.
 * @param {Float32Array} weights @param {Cell[]} cells @param {number[]} written @param {Float64Array} sums
 * @param {Float32Array} counts
 */
function linksOfHead(weights, cells, written, sums, counts) {
  const size = cells.length;
  const found = [];
  for (let key = 0; key < size; key++) {
    if (!isWord(cells[key]) || counts[key] <= 1) continue;
    let [query, weight] = [-1, -1];
    for (let at = 0; at < size; at++) {
      const linked = isWord(cells[at]) && written[at] !== written[key];
      if (linked && weights[at * size + key] > weight) [query, weight] = [at, weights[at * size + key]];
    }
    if (query >= 0) found.push({ query, key, weight, excess: weight - (sums[key] - weight) / (counts[key] - 1) });
  }
  return found.sort((one, other) => other.excess - one.excess).slice(0, LINKS);
}

/**
 * Return true if a head mostly attends to a fixed offset.
 * @param {Habits|null} habits @param {number} id @param {Sizes} sizes
 */
function isPositional(habits, id, { heads }) {
  const means = habits?.means[Math.floor(id / heads)][id % heads] ?? [];
  return Math.max(...means.slice(1, 2 * (habits?.reach ?? 0) + 2).map((mean) => mean ?? 0), 0) >= HABITUAL;
}

/**
 * Return the measures of every head, the column means with their counts, and the link that is selected at first.
 * @param {Maps} maps @param {Sizes} sizes @param {Cell[]} cells @param {number[]} written @param {Habits|null} habits
 */
export function summarize(maps, sizes, cells, written, habits) {
  const { layers, heads } = sizes;
  const size = cells.length;
  const words = cells.filter((cell) => !cell.special).length;
  const counted = Float32Array.from(cells, (cell) => words - Number(!cell.special));
  const [means, counts] = [new Float32Array(layers * heads * size), new Float32Array(layers * size)];
  /** @type {Record<string, number[][]>} */
  const measures = {};
  const data = /** @type {Payload} */ (/** @type {Partial<Payload>} */ ({ queries: cells, keys: null }));
  /** @type {{free: boolean, beyond: number, place: Default}|null} */
  let best = null;
  for (let id = 0; id < layers * heads; id++) {
    const [layer, head] = [Math.floor(id / heads), id % heads];
    const weights = maps(layer, head);
    for (const [name, value] of Object.entries(measureHead(weights, cells))) {
      measures[name] ??= Array.from({ length: layers }, () => []);
      measures[name][layer].push(value);
    }
    const sums = columnSums(weights, cells);
    counts.set(counted, layer * size);
    sums.forEach((sum, key) => means[id * size + key] = counted[key] > 0 ? sum / counted[key] : 0);
    const free = !isPositional(habits, id, sizes);
    for (const { query, key, weight, excess } of linksOfHead(weights, cells, written, sums, counted)) {
      const usual = placed({ habits }, data, { layer, head, query, key });
      const beyond = Math.min(excess, weight - (usual ?? 0));
      const place = { layer, head, focus: query };
      if (!best || (free && !best.free) || (free === best.free && beyond > best.beyond)) best = { free, beyond, place };
    }
  }
  return { measures, means, counts, best: best?.place ?? null };
}
