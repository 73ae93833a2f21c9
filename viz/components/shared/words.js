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

/**
 * A sentence in the reader's language. Its places, such as {layer}, are filled from `values`.
 * @param {string} sentence as it stands in the code, a plain string: tools/words.py gathers it
 * @param {Record<string, string|number>} values
 */
export function _(sentence, values = {}) {
  return (wordings[sentence] ?? sentence).replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}
