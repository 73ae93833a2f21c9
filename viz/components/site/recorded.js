// Attention weights from recorded queries and keys, computed in the browser; viz/site_entries.py writes the files.
//
//   header  {payload, said, layers: Layer[], summed, sampled, habits, words}; said has the fields of the payload that
//           differ in another language, words those that differ with whole words, or null
//   arrays  query.L (head, query, channel), multiplied by the scale, and key.L (key-value head, key, channel), in whole
//           numbers of query.step.L (head, query) and key.step.L (key-value head, key), if there are steps;
//           bias.L (1 or head, query, key); sinks.L (head); hidden.L (query, key), 255 for a masked pair;
//           maps.L (head, query, key) of a layer without recorded queries;
//           means (layer, head, key) and counts (layer, key) of the column means; words.means and words.counts

import { poolMax } from "../explore/numbers.js";
import { mergeMap } from "./merging.js";

/** @import { Frame, Habits, Decoded } from "../shared/frames.js" */
/** @import { Payload, Source } from "../explore/types.js" */
/**
 * The rules of a layer's mask, as in attention/mask.py, and the soft cap of its scores.
 * @typedef {{causal?: boolean, left?: number|null, right?: number|null, softcap?: number|null}} Layer
 */
/** @typedef {Record<string, Partial<Payload>>} Said fields of a payload by language */
/** @typedef {{payload: Payload, said: Said, layers: Layer[], summed: number[]|null, sampled: boolean,
 *   habits: Habits|null, words: {payload: Partial<Payload>, said: Said}|null}} About */

/**
 * Return the payload of a text in a language, of tokens or of whole words.
 * @param {About} header @param {string} language @param {boolean} words
 * @returns {Payload}
 */
export function payloadOf({ payload, said, words: merged }, language, words) {
  const plain = { ...payload, ...said[language] };
  return words && merged ? { ...plain, ...merged.payload, ...merged.said[language] } : plain;
}

/**
 * Return whether a query can see a key by the rules of a layer.
 * @param {Layer} layer @param {number} ahead position of the key minus that of the query
 */
const inSight = ({ causal, left, right }, ahead) =>
  !(causal && ahead > 0) && !(left != null && ahead < -left) && !(right != null && ahead > right);

/**
 * Replace a row of scores by its softmax; -Infinity is a masked key. A sink takes a share of the row.
 * @param {Float64Array} scores @param {number|null} sink
 */
export function softmaxRow(scores, sink = null) {
  let most = sink ?? -Infinity;
  for (const score of scores) most = Math.max(most, score);
  if (most === -Infinity) return void scores.fill(0);
  let sum = sink === null ? 0 : Math.exp(sink - most);
  for (let key = 0; key < scores.length; key++) sum += scores[key] = Math.exp(scores[key] - most);
  for (let key = 0; key < scores.length; key++) scores[key] /= sum;
}

/**
 * Return the weights of a head, (query, key), row by row.
 * @param {Record<string, Decoded>} arrays @param {Layer} rules @param {number} layer @param {number} head
 * @returns {Float32Array}
 */
export function headWeights(arrays, rules, layer, head) {
  const whole = arrays[`maps.${layer}`];
  if (whole) {
    const [, rows, columns] = whole.shape;
    return Float32Array.from(whole.data.subarray(head * rows * columns, (head + 1) * rows * columns));
  }
  const [query, key] = [arrays[`query.${layer}`], arrays[`key.${layer}`]];
  const [heads, rows, channels] = query.shape;
  const [groups, columns] = key.shape;
  const names = ["query.step", "key.step", "bias", "sinks", "hidden"];
  const [queryStep, keyStep, bias, sinks, hidden] = names.map((name) => arrays[`${name}.${layer}`]);
  const group = Math.floor(head / (heads / groups));
  const weights = new Float32Array(rows * columns);
  const scores = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    const step = queryStep?.data[head * rows + row] ?? 1;
    for (let column = 0; column < columns; column++) {
      let score = 0;
      const [from, to] = [(head * rows + row) * channels, (group * columns + column) * channels];
      for (let channel = 0; channel < channels; channel++) score += query.data[from + channel] * key.data[to + channel];
      score *= step * (keyStep?.data[group * columns + column] ?? 1);
      if (rules.softcap != null) score = Math.tanh(score / rules.softcap) * rules.softcap;
      if (bias) score += bias.data[((head % bias.shape[0]) * rows + row) * columns + column];
      const seen = inSight(rules, column - (row + columns - rows)) && !hidden?.data[row * columns + column];
      scores[column] = seen ? score : -Infinity;
    }
    softmaxRow(scores, sinks ? sinks.data[head] : null);
    weights.set(scores, row * columns);
  }
  return weights;
}

/**
 * Return a Source over the queries and keys of a text; every map is computed once, when it is first needed.
 * @param {Frame & {header: About}} frame @param {boolean} [words] whether tokens are merged to words @returns {Source}
 */
export function recordedSource({ header, arrays }, words = false) {
  const { layers, heads } = header.payload;
  const [tokens, cells] = [header.payload, payloadOf(header, "", words)];
  const [rows, columns] = [cells.queries.length, (cells.keys ?? cells.queries).length];
  const [all, wide] = [tokens.queries.length, (tokens.keys ?? tokens.queries).length];
  const merges = words && header.words !== null;
  const named = /** @param {string} name */ (name) => arrays[merges ? `words.${name}` : name];
  /** @type {Map<number, Float32Array>} */
  const computed = new Map();
  /** @param {number} id layer × heads + head */
  function mapOf(id) {
    const layer = Math.floor(id / heads);
    const absent = !arrays[`query.${layer}`] && !arrays[`maps.${layer}`];
    const known = computed.get(id);
    if (known) return known;
    const plain = absent ? new Float32Array(all * wide) : headWeights(arrays, header.layers[layer], layer, id % heads);
    const weights = merges ? mergeMap(plain, wide, cells.queries, cells.keys ?? cells.queries) : plain;
    computed.set(id, weights);
    return weights;
  }
  /**
   * Return `count` weights of every head, the i-th at place(i).
   * @param {number} count @param {(at: number) => number} place
   */
  function everyHead(count, place) {
    const data = new Float32Array(layers * heads * count);
    for (let id = 0; id < layers * heads; id++) {
      const weights = mapOf(id);
      for (let at = 0; at < count; at++) data[id * count + at] = weights[place(at)];
    }
    return { layers, heads, count, data };
  }
  return {
    grid(size) {
      const [tall, wide] = [Math.min(size, rows), Math.min(size, columns)];
      const data = new Uint8Array(layers * heads * tall * wide);
      for (let id = 0; id < layers * heads; id++) {
        const pooled = poolMax(mapOf(id), columns, [0, rows], [0, columns], tall, wide);
        pooled.forEach((weight, at) => data[id * tall * wide + at] = Math.round(255 * Math.sqrt(weight)));
      }
      return Promise.resolve({
        ...{ layers, heads, rows: tall, cols: wide, data, sampled: header.sampled, habits: header.habits },
        means: /** @type {Float32Array} */ (named("means").data),
        counts: /** @type {Float32Array} */ (named("counts").data),
        summed: header.summed && new Set(header.summed),
      });
    },
    rows: (query) => Promise.resolve(everyHead(columns, (key) => query * columns + key)),
    columns: (key) => Promise.resolve(everyHead(rows, (query) => query * columns + key)),
    tile({ layer, head, q0, q1, k0, k1, size }) {
      const [tall, wide] = [Math.min(size, q1 - q0), Math.min(size, k1 - k0)];
      const data = poolMax(mapOf(layer * heads + head), columns, [q0, q1], [k0, k1], tall, wide);
      return Promise.resolve({ q0, q1, k0, k1, rows: tall, cols: wide, data });
    },
  };
}
