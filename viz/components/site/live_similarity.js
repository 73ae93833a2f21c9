// The cosine of two texts as a table of word pairs; attention/similarity.py computes the same.

/** @import { Cell } from "../explore/types.js" */
/** @import { Numbers } from "./live_model.js" */
/** @typedef {"mean"|"first"|"last"} Pooling of the states to the vector of a text */
/** @typedef {{cosine: number, table: Float32Array}} Similarity the table, (token of A, token of B), sums to it */

/**
 * Return the share of a token in the vector of a text.
 * @param {Pooling} pooling @param {number} at @param {number} size
 */
function shareOf(pooling, at, size) {
  if (pooling === "mean") return 1 / size;
  return Number(at === (pooling === "first" ? 0 : size - 1));
}

/**
 * Return the contribution of each token to the vector of a text, (token, channel).
 * @param {Numbers} states @param {Pooling} pooling
 */
function contributions({ shape: [size, channels], data }, pooling) {
  return Array.from({ length: size }, (_one, at) => {
    const share = shareOf(pooling, at, size);
    return Float64Array.from(data.subarray(at * channels, (at + 1) * channels), (value) => value * share);
  });
}

/** @param {Float64Array} one @param {Float64Array} other */
const product = (one, other) => one.reduce((sum, value, at) => sum + value * other[at], 0);

/** Return the sum of some vectors. @param {Float64Array[]} vectors */
const total = (vectors) => vectors[0].map((_one, channel) => vectors.reduce((sum, vector) => sum + vector[channel], 0));

/**
 * Return the cosine of two texts with its table; 0 for a zero vector.
 * @param {Numbers} a @param {Numbers} b states of the last layer @param {Pooling} pooling @returns {Similarity}
 */
export function similarityOf(a, b, pooling) {
  const [left, right] = [contributions(a, pooling), contributions(b, pooling)];
  const [one, other] = [total(left), total(right)];
  const lengths = Math.sqrt(product(one, one) * product(other, other));
  const table = Float32Array.from(
    left.flatMap((vector) => right.map((second) => lengths ? product(vector, second) / lengths : 0)),
  );
  return { cosine: lengths ? product(one, other) / lengths : 0, table };
}

/** Return the words of a text as groups of neighbouring tokens, with their texts. @param {Cell[]} cells */
function wordGroups(cells) {
  /** @type {{name: string, tokens: number[]}[]} */
  const groups = [];
  cells.forEach(({ text, word }, at) => {
    const before = at > 0 ? cells[at - 1].word : null;
    if (word !== null && word === before) {
      const group = groups[groups.length - 1];
      group.name += text;
      group.tokens.push(at);
    } else groups.push({ name: text, tokens: [at] });
  });
  return groups;
}

/**
 * Return a table of tokens summed over words, with the words.
 * @param {Float32Array} table @param {Cell[]} a @param {Cell[]} b
 */
export function tableOfWords(table, a, b) {
  const [rows, columns] = [wordGroups(a), wordGroups(b)];
  const data = new Float32Array(rows.length * columns.length);
  rows.forEach(({ tokens: from }, row) =>
    columns.forEach(({ tokens: to }, column) => {
      for (const one of from) {
        for (const other of to) data[row * columns.length + column] += table[one * b.length + other];
      }
    })
  );
  return { rows: rows.map(({ name }) => name), columns: columns.map(({ name }) => name), data };
}
