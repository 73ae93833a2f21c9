// Tokens (or words) on screen: chips, quotations in a sentence, and the segments of a pair.

import { BYTE, PIECE, RTL, visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";

/** @import { Cell, Filter, Range } from "./types.js" */

/** Segments of the queries and of the keys that a filter keeps; null for all. @type {Record<Filter, number[]|null>} */
const SEGMENTS = { all: null, aa: [0, 0], ab: [0, 1], ba: [1, 0], bb: [1, 1] };

/** Return true if cell i continues the word of the previous cell. @param {Cell[]} cells @param {number} i */
export function continues(cells, i) {
  const [before, here] = [cells[i - 1], cells[i]];
  return Boolean(before && here && here.word !== null && before.word === here.word && before.segment === here.segment);
}

/**
 * Return true if the vocabulary lacks the text; bytes of a character are not counted as lacking.
 * @param {string} [unknown]
 */
const lacking = (unknown) => Boolean(unknown && !unknown.includes(BYTE));

/**
 * Return a token's name outside its text, as attention/tokens.py writes it: ## before a subword that continues the
 * previous word, and the unknown token after a word that the vocabulary lacks.
 * @param {Cell[]} cells @param {number} i
 */
export const cellName = (cells, i) =>
  (continues(cells, i) ? PIECE : "") + visible(cells[i].text) +
  (lacking(cells[i].unknown) ? ` ${cells[i].unknown}` : "");

/**
 * Quote a token in a sentence: “it”, “##ed” for a subword that continues a word. Right-to-left text is isolated; a
 * repeated token gets its position.
 * @param {Cell[]} cells @param {number} i
 */
export function quote(cells, i) {
  const text = (continues(cells, i) ? PIECE : "") + visible(cells[i].text);
  const repeated = !cells[i].special && cells.some((cell, j) => j !== i && cell.text === cells[i].text);
  if (cells[i].special) return text;
  const token = RTL.test(text) ? `“\u2068${text}\u2069”` : `“${text}”`;
  return repeated ? _("{token} at position {position}", { token, position: i }) : token;
}

/**
 * Return the tokens of the word of cell i, [start, end).
 * @param {Cell[]} cells @param {number} i @returns {[number, number]}
 */
export function wordRange(cells, i) {
  let [start, end] = [i, i + 1];
  while (continues(cells, start)) start--;
  while (end < cells.length && continues(cells, end)) end++;
  return [start, end];
}

const CUT = /\s*◌?(\S) (\d)(?:–\d)?\/\d/gu; // bytes of a character, as inference/text/pieces.py names them: “天 1–2/3”

/**
 * Return the text of the tokens of a word; tokens that are bytes of a character are joined to the character.
 * @param {Cell[]} cells
 */
function joinTokens(cells) {
  const join = (/** @type {Cell} */ { text, unknown }) =>
    unknown?.includes(BYTE) ? text.replace(CUT, (_all, character, first) => first === "1" ? character : "") : text;
  return cells.map(join).join("") || cells.map((cell) => cell.text).join("");
}

/** Quote the whole word of a token in a sentence. @param {Cell[]} cells @param {number} i */
export function quoteWord(cells, i) {
  const [start, end] = wordRange(cells, i);
  const text = joinTokens(cells.slice(start, end));
  return quote([...cells.slice(0, start), { ...cells[start], text }, ...cells.slice(end)], start);
}

/** Return the cells of a segment, [start, end). @param {Cell[]} cells @param {number} segment */
export function segmentRange(cells, segment) {
  const start = cells.findIndex((cell) => cell.segment === segment);
  if (start < 0) return [0, cells.length];
  let end = cells.length;
  while (cells[end - 1].segment !== segment) end--;
  return [start, end];
}

/**
 * Return the rows and columns that a pair filter keeps.
 * @param {Cell[]} queries @param {Cell[]} keys @param {Filter} filter @returns {Range}
 */
export function filterRange(queries, keys, filter) {
  const segments = SEGMENTS[filter];
  if (!segments) return { q0: 0, q1: queries.length, k0: 0, k1: keys.length };
  const [q0, q1] = segmentRange(queries, segments[0]);
  const [k0, k1] = segmentRange(keys, segments[1]);
  return { q0, q1, k0, k1 };
}

/** @param {Cell[]} cells */
export const isPair = (cells) => cells.some((cell) => cell.segment === 0) && cells.some((cell) => cell.segment === 1);
