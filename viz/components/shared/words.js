// Translation of messages in components; the server sends the translations if the language is not English.

/** @type {Record<string, string>} English message to its translation */
let wordings = {};

/**
 * Set the translations. Return a key that differs between languages.
 * @param {Record<string, string>|undefined} words
 */
export function speak(words) {
  wordings = words ?? {};
  return JSON.stringify(wordings);
}

/** Mark a constant's message for translation; `_` translates it later. @param {string} text */
export const sentence = (text) => text;

const IDEOGRAPH = /[\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const FULL_WIDTH = /[，。、；：！？（）《》「」『』【】…]/u; // marks with built-in space
const HOLE = /\{(\w+)\}/g;

/**
 * Return true if two letters are separated by a space, as in i18n/translation.py.
 * @param {string} left @param {string} right
 */
function apart(left, right) {
  if (FULL_WIDTH.test(left) || FULL_WIDTH.test(right)) return false;
  const chinese = [IDEOGRAPH.test(left), IDEOGRAPH.test(right)];
  const among = [left, right].every((letter, at) => chinese[at] || "“”‘’".includes(letter));
  return !(among && chinese.includes(true));
}

/**
 * Fill a template. In a translation, a space next to a value is removed if the adjacent letters take none.
 * @param {string} template @param {Record<string, unknown>} values
 */
export function fill(template, values = {}) {
  /** @param {string} place @param {string} name */
  const given = (place, name) => String(values[name] ?? place);
  if (!Object.keys(wordings).length) return template.replace(HOLE, given);
  let whole = "";
  let due = ""; // a space of the template, pending until the next part
  for (const part of template.split(/(\{\w+\}|(?<=\}) | (?=\{))/)) {
    const text = part.replace(HOLE, given);
    if (part === " ") due += part;
    else if (text) {
      const [left, right] = [[...whole.slice(-2)].at(-1), [...text.slice(0, 2)][0]];
      whole += (due === " " && left && !apart(left, right) ? "" : due) + text;
      due = "";
    }
  }
  return whole + due;
}

/**
 * Translate a message and fill its placeholders, such as {layer}, from `values`.
 * @param {string} sentence as in the code, a plain string: tools/words.py gathers it
 * @param {Record<string, string|number>} values
 */
export const _ = (sentence, values = {}) => fill(wordings[sentence] ?? sentence, values);

/** Join sentences, without empty ones. @param {string[]} said */
export const together = (...said) =>
  said.filter(Boolean).reduce((whole, then) => whole ? _("{first} {then}", { first: whole, then }) : then, "");
