// The measures of a head as text; the payload contains each measure's name and format.

import { short } from "./numbers.js";
import { fill } from "../shared/words.js";

/** @import { Measure, Payload, Words } from "./types.js" */

/** Return a head's value of a measure as text. @param {Measure} measure @param {number} layer @param {number} head */
export function written({ digits, values }, layer, head) {
  const value = values[layer][head];
  return digits === 2 ? short(value) : value.toFixed(digits);
}

/**
 * Return all measures of a head as text, such as "entropy 1.90 bits".
 * @param {Payload} data @param {Words} say @param {number} layer @param {number} head
 */
export function measuresOf({ measures }, say, layer, head) {
  return measures.map((measure) => {
    const { label, unit } = measure;
    return fill(say.measure, { label, value: written(measure, layer, head), unit }).trim();
  });
}

/**
 * Describe a head in a sentence, for a view without a focus.
 * @param {Payload} data @param {Words} say @param {string} name @param {number} layer @param {number} head
 */
export function headInWords({ measures }, say, name, layer, head) {
  const clauses = measures.filter(({ clause }) => clause)
    .map((measure) => fill(measure.clause, { value: written(measure, layer, head) }));
  const named = clauses.length ? fill(say.noFocus, { head: name, clauses: clauses.join(say.and) }) : name;
  return fill(say.askHint, { head: named });
}

/**
 * Return the values of the named measure, (layer * heads + head,), or null without it.
 * @param {Payload} data @param {string} name
 */
export function measured({ measures }, name) {
  return measures.find((measure) => measure.name === name)?.values.flat() ?? null;
}
