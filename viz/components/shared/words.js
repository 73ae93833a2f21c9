// What a component says, in the reader's language: the server sends the sentences, where they are not English.

/** @type {Record<string, string>} English sentence to what is said instead */
let wordings = {};

/**
 * From now on say it so. Gives a key that is another one in another language.
 * @param {Record<string, string>|undefined} words
 */
export function speak(words) {
  wordings = words ?? {};
  return JSON.stringify(wordings);
}

/** A sentence of a constant, to be told later by `_`. @param {string} text */
export const sentence = (text) => text;

const IDEOGRAPH = /[\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const FULL_WIDTH = /[，。、；：！？（）《》「」『』【】…]/u; // marks that bring their own space
const HOLE = /\{(\w+)\}/g;

/**
 * Whether a space stands between two letters, as i18n/cjk_spacing.py has it.
 * @param {string} left @param {string} right
 */
function apart(left, right) {
  if (FULL_WIDTH.test(left) || FULL_WIDTH.test(right)) return false;
  const chinese = [IDEOGRAPH.test(left), IDEOGRAPH.test(right)];
  const among = [left, right].every((letter, at) => chinese[at] || "“”‘’".includes(letter));
  return !(among && chinese.includes(true));
}

/**
 * A template with its values. In a translation, a space beside a value goes where the letters that meet take none.
 * @param {string} template @param {Record<string, unknown>} values
 */
export function fill(template, values = {}) {
  /** @param {string} place @param {string} name */
  const given = (place, name) => String(values[name] ?? place);
  if (!Object.keys(wordings).length) return template.replace(HOLE, given);
  let whole = "";
  let due = ""; // a space of the template that waits for what comes next
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
 * A sentence in the reader's language. Its places, such as {layer}, are filled from `values`.
 * @param {string} sentence as it stands in the code, a plain string: tools/words.py gathers it
 * @param {Record<string, string|number>} values
 */
export const _ = (sentence, values = {}) => fill(wordings[sentence] ?? sentence, values);

/** Sentences one after another, without those that are empty. @param {string[]} said */
export const together = (...said) =>
  said.filter(Boolean).reduce((whole, then) => whole ? _("{first} {then}", { first: whole, then }) : then, "");
