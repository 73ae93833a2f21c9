// Cells of a text that the browser tokenises: words, subwords and special tokens, as inference/text/tokenizer.py.
//
// The tokenizer of the package @huggingface/tokenizers returns subwords without their places in the text. A text's
// words are therefore found again by BERT's rules: white space, punctuation, and every Chinese character.

/** @import { Cell } from "../explore/types.js" */
/**
 * @typedef {{ids: number[], tokens: string[], token_type_ids: number[]}} Encoded
 * @typedef {{encode: (text: string, options: object) => Encoded,
 *   tokenize: (text: string, options?: object) => string[]}} Tokenizer
 */
/** @typedef {{text: string, start: number, end: number}} Word a word and its place in the text */
/**
 * @typedef {object} Reading
 * @property {number[]} ids @property {number[]} types @property {Cell[]} cells
 * @property {number[]} written number of the written word of each token: "didn", "'" and "t" share one
 */

const UNKNOWN = "[UNK]";
const IDEOGRAPHS = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}";
const MARKS = "\\p{P}$+<=>^`|~";
const WORD = new RegExp(`\\[(?:PAD|UNK|CLS|SEP|MASK)\\]|[${IDEOGRAPHS}]|[${MARKS}]|[^\\s${MARKS}${IDEOGRAPHS}]+`, "gu");

/**
 * Return the words of a text as BERT's pre-tokenizer splits them.
 * @param {string} text @returns {Word[]}
 */
export const wordsOf = (text) =>
  [...text.matchAll(WORD)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));

/** Return true if a subword continues a word. @param {string} token */
const goesOn = (token) => token.startsWith("##") && token.length > 2;

/**
 * Return true if two words of a text belong to the same written word, as in attention/excess.py.
 * @param {string} text @param {Word|undefined} left @param {Word|undefined} right
 */
function adjoin(text, left, right) {
  if (!left || !right || left.end !== right.start) return false;
  return !/\p{Lo}$/u.test(text.slice(Math.max(0, left.end - 2), left.end)) && !/^\p{Lo}/u.test(text.slice(right.start));
}

/**
 * Return the tokens of a text, or of a pair, for the model and as cells of the view.
 * @param {Tokenizer} tokenizer @param {string} text @param {string|null} [pair] @returns {Reading}
 */
export function readText(tokenizer, text, pair = null) {
  const { ids, tokens, token_type_ids: types } = tokenizer.encode(text, {
    text_pair: pair,
    return_token_type_ids: true,
  });
  /** @type {Reading} */
  const reading = { ids: [], types: [], cells: [], written: [] };
  const sizes = [text, ...(pair === null ? [] : [pair])].map((one) => tokenizer.tokenize(one).length);
  let number = -1; // of the word in all texts
  let at = 0;
  /** @param {Partial<Cell>} cell @param {boolean} joined */
  const add = (cell, joined = false) => {
    const written = reading.written.length ? /** @type {number} */ (reading.written.at(-1)) + Number(!joined) : 0;
    reading.cells.push({ text: tokens[at], special: true, segment: 0, word: null, at: [at, at + 1], ...cell });
    reading.ids.push(ids[at]);
    reading.types.push(types[at]);
    reading.written.push(written);
    at++;
  };
  add({});
  sizes.forEach((size, segment) => {
    const given = segment ? pair ?? "" : text;
    const words = wordsOf(given);
    let place = -1;
    for (const end = at + size; at < end;) {
      const inside = goesOn(tokens[at]) && place >= 0;
      if (!inside) [place, number] = [place + 1, number + 1];
      const unknown = tokens[at] === UNKNOWN && words[place] && words[place].text !== UNKNOWN;
      const shown = unknown ? words[place].text : goesOn(tokens[at]) ? tokens[at].slice(2) : tokens[at];
      const cell = { text: shown, special: false, segment, word: number, ...(unknown ? { unknown: UNKNOWN } : {}) };
      add(cell, inside || (place > 0 && adjoin(given, words[place - 1], words[place])));
    }
    add({ segment });
  });
  return reading;
}
