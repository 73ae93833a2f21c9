// Answers to the checks of a lesson for a text that the browser ran, as lessons/checks.py and lessons/score_checks.py
// compute them. Every token attends to every token.

import { cellName } from "../explore/cells.js";
import { minus } from "../explore/numbers.js";
import { _, fill } from "../shared/words.js";

/** @import { Cell } from "../explore/types.js" */
/** @typedef {{maps: Float32Array[], heads: number, cells: Cell[]}} Weighed maps by layer × heads + head */
/** @typedef {{layer: number, head: number, word: string, to: string, over: string, offset: number, special?: boolean}}
 *   Given the arguments of a check; each check has some of them */
/** @typedef {Record<string, number|string>} Values of the placeholders in a check's message */
/** @typedef {{name: string, given: Partial<Given>, template: string}} Check made by headlight/site_lessons.py */

/**
 * Return the index of a word's cell, ignoring case; "bank#2" is the second "bank". Throw an error without the word.
 * @param {Cell[]} cells @param {string} word
 */
export function placeOfWord(cells, word) {
  const [, name, number] = /^(.+)#(\d{1,4})$/su.exec(word) ?? [word, word, "1"];
  const plain = (/** @type {string} */ text) => text.trim().toUpperCase();
  const found = cells.flatMap((_cell, at) => plain(cellName(cells, at)) === plain(name) ? [at] : []);
  const at = found[Number(number) - 1];
  if (at === undefined) {
    throw new Error(_("The text has no “{word}”.", { word }));
  }
  return at;
}

/** Return the index of the first of the largest numbers. @param {ArrayLike<number>} numbers */
function indexOfLargest(numbers) {
  let best = 0;
  for (let at = 1; at < numbers.length; at++) if (numbers[at] > numbers[best]) best = at;
  return best;
}

/** @param {number[]} numbers */
const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Return the layer and the head of a map. @param {number} id @param {Weighed} text */
const headOf = (id, { heads }) => ({ layer: Math.floor(id / heads), head: id % heads });

/** Return the row of a word in the head of a check. @param {Weighed} text @param {Given} given */
function rowOf({ maps, heads, cells }, { layer, head, word }) {
  const start = placeOfWord(cells, word) * cells.length;
  return maps[layer * heads + head].subarray(start, start + cells.length);
}

/**
 * Return the weight from a word to another in every head, and the mean weight of the other words, 0 without any.
 * @param {Weighed} text @param {Given} given
 */
function linksOf({ maps, cells }, { word, to }) {
  const [query, key] = [placeOfWord(cells, word), placeOfWord(cells, to)];
  const others = cells.flatMap(({ special }, at) => special || at === query || at === key ? [] : [at]);
  return maps.map((map) => ({
    weight: map[query * cells.length + key],
    usual: others.length ? meanOf(others.map((at) => map[at * cells.length + key])) : 0,
  }));
}

/** @type {Record<string, (text: Weighed, given: Given) => Values>} */
const ANSWERS = {
  weight: (text, given) => ({ weight: rowOf(text, given)[placeOfWord(text.cells, given.to)] }),
  usual: (text, given) => linksOf(text, given)[given.layer * text.heads + given.head],
  weight_rank(text, given) {
    const row = rowOf(text, given);
    const weight = row[placeOfWord(text.cells, given.to)];
    const best = cellName(text.cells, indexOfLargest(row));
    return { best, rank: 1 + row.filter((other) => other > weight).length, count: row.length };
  },
  head_linking(text, given) {
    const links = linksOf(text, given);
    const excess = links.map(({ weight, usual }) => weight - usual);
    const best = indexOfLargest(excess);
    return { ...headOf(best, text), ...links[best], beyond: 100 * excess[best] };
  },
  head_giving_most(text, given) {
    const weights = linksOf(text, given).map(({ weight }) => weight);
    const best = indexOfLargest(weights);
    return { ...headOf(best, text), weight: weights[best] };
  },
  head_at_offset(text, { offset }) {
    const { maps, cells } = text;
    const isWord = (/** @type {number} */ at) => cells[at]?.special === false;
    const rows = cells.flatMap((_cell, at) => isWord(at) && isWord(at + offset) ? [at] : []);
    if (!rows.length) throw new Error(_("The text is too short for that distance."));
    const shares = maps.map((map) => meanOf(rows.map((at) => map[at * cells.length + at + offset])));
    const best = indexOfLargest(shares);
    const others = shares.filter((_share, id) => id !== best);
    return { ...headOf(best, text), share: shares[best], next: Math.max(0, ...others) };
  },
  most_looked_at(text, given) {
    const { special = true } = given;
    const row = rowOf(text, given).map((weight, at) => !special && text.cells[at].special ? -1 : weight);
    const best = indexOfLargest(row);
    return { to: cellName(text.cells, best), weight: row[best] };
  },
  most_to_later({ maps, cells: { length: size } }) {
    const later = maps.map((map) =>
      map.reduce((most, weight, at) => at % size > at / size ? Math.max(most, weight) : most, 0)
    );
    return { weight: Math.max(...later) };
  },
  preferred(text, given) {
    const row = rowOf(text, given);
    const [one, other] = [given.to, given.over].map((word) => row[placeOfWord(text.cells, word)]);
    return { one, other };
  },
  heads_preferring(text, given) {
    const others = linksOf(text, { ...given, to: given.over });
    return { many: linksOf(text, given).filter(({ weight }, id) => weight > others[id].weight).length };
  },
};

/**
 * Fill a template with numbers that may have a precision, such as {weight:.3f} or {weight:.1%}.
 * @param {string} template @param {Values} values
 */
export function fillNumbers(template, values) {
  const shown = { ...values };
  const plain = template.replace(/\{(\w+):\.(\d)([f%])\}/g, (_spec, name, digits, unit) => {
    const number = Number(values[name]);
    shown[name] = unit === "%" ? `${(100 * number).toFixed(Number(digits))}%` : number.toFixed(Number(digits));
    return `{${name}}`;
  });
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "number") shown[name] = minus(String(shown[name]));
  }
  return fill(plain, shown);
}

/**
 * Return a check's sentence about a text; throw an error without an answer.
 * @param {Check} check @param {Weighed} text
 */
export function checkSentence({ name, given, template }, text) {
  const found = ANSWERS[name](text, /** @type {Given} */ (given));
  return fillNumbers(template, {
    .../** @type {Values} */ (/** @type {unknown} */ (given)),
    heads: text.maps.length,
    ...found,
  });
}
