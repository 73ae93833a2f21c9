// Tokens (or words) as they are shown: chips, quotes in a sentence, the segments of a pair.

import { BYTE, PIECE, RTL, visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { FILTERS } from "./contract.js";

/** @import { Cell, Filter, Range } from "./types.js" */

/** Whether cell i continues the word of the cell before it. @param {Cell[]} cells @param {number} i */
export function continues(cells, i) {
  const [before, here] = [cells[i - 1], cells[i]];
  return Boolean(before && here && here.word !== null && before.word === here.word && before.segment === here.segment);
}

/**
 * Whether the vocabulary lacks what the reader wrote; a part of a character it knows, by its bytes.
 * @param {string} [unknown]
 */
const lacking = (unknown) => Boolean(unknown && !unknown.includes(BYTE));

/**
 * A token's name where it stands alone, as attention/tokens.py writes it: ## before a piece that goes on with the word
 * of the one before it, and what the model read where it does not know the word.
 * @param {Cell[]} cells @param {number} i
 */
export const cellName = (cells, i) =>
  (continues(cells, i) ? PIECE : "") + visible(cells[i].text) +
  (lacking(cells[i].unknown) ? ` ${cells[i].unknown}` : "");

/**
 * A token in a sentence: “it”; isolated where its direction differs, with its position where the text repeats it.
 * @param {Cell[]} cells @param {number} i
 */
export function quote(cells, i) {
  const text = visible(cells[i].text);
  const repeated = !cells[i].special && cells.some((cell, j) => j !== i && cell.text === cells[i].text);
  if (cells[i].special) return text;
  const token = RTL.test(text) ? `“\u2068${text}\u2069”` : `“${text}”`;
  return repeated ? _("{token} at position {position}", { token, position: i }) : token;
}

/** Consecutive cells of a segment, [start, end). @param {Cell[]} cells @param {number} segment */
export function segmentRange(cells, segment) {
  const start = cells.findIndex((cell) => cell.segment === segment);
  if (start < 0) return [0, cells.length];
  let end = cells.length;
  while (cells[end - 1].segment !== segment) end--;
  return [start, end];
}

/**
 * Which rows and columns a pair filter leaves.
 * @param {Cell[]} queries @param {Cell[]} keys @param {Filter} filter @returns {Range}
 */
export function filterRange(queries, keys, filter) {
  const { segments } = FILTERS[filter];
  if (!segments) return { q0: 0, q1: queries.length, k0: 0, k1: keys.length };
  const [q0, q1] = segmentRange(queries, segments[0]);
  const [k0, k1] = segmentRange(keys, segments[1]);
  return { q0, q1, k0, k1 };
}

/** @param {Cell[]} cells */
export const isPair = (cells) => cells.some((cell) => cell.segment === 0) && cells.some((cell) => cell.segment === 1);
