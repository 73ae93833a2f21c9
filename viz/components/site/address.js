// The part of a site's address behind "#": the language, the text and its selection, or the lesson and its step.

/** @import { Selection } from "../explore/types.js" */
/** @typedef {{lang?: string, text?: string, words?: string, lesson?: string, step?: string, own?: string,
 * pair?: string, off?: string, similar?: string, masked?: string}} Where own to similar: the fields of a live text;
 * with a lesson, own and pair are the reader's text in its step; masked: the text with masked words */

const NUMBERS = ["layer", "head", "focus", "target"];
const PLACES = ["lang", "text", "words", "lesson", "step", "own", "pair", "off", "similar", "masked"];

/**
 * Return the part of an address behind "#" for a place and a selection; empty fields are left out.
 * @param {Where} where @param {Partial<Selection>} [selection]
 */
export function toHash(where, selection = {}) {
  const fields = Object.entries(selection).filter(([name]) => name !== "pinned");
  const places = PLACES.map((name) => [name, where[/** @type {keyof Where} */ (name)]]);
  const known = [...places, ...fields].filter(
    ([name, value]) => value != null && (value !== "" || name === "lesson"),
  );
  return `#${new URLSearchParams(known.map(([name, value]) => [String(name), String(value)]))}`;
}

/**
 * Return the place and the selection of an address; unknown fields are kept, since the view checks the values.
 * @param {string} hash @returns {{where: Where, selection: Partial<Selection>}}
 */
export function fromHash(hash) {
  const fields = [...new URLSearchParams(hash.replace(/^#/, ""))];
  const where = Object.fromEntries(fields.filter(([name]) => PLACES.includes(name)));
  const rest = fields.filter(([name]) => !PLACES.includes(name)).map(([name, value]) =>
    NUMBERS.includes(name) ? [name, /^\d{1,6}$/.test(value) ? Number(value) : null] : [name, value]
  );
  return { where, selection: Object.fromEntries(rest) };
}
