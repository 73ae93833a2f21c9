// One number per head, as words: each row of the payload says what it is called and how it is written.

import { short } from "./numbers.js";
import { fill } from "../shared/words.js";

/** @import { Measure, Payload, Words } from "./types.js" */

/** A measure's number for a head. @param {Measure} measure @param {number} layer @param {number} head */
export function written({ digits, values }, layer, head) {
  const value = values[layer][head];
  return digits === 2 ? short(value) : value.toFixed(digits);
}

/**
 * Each measure of a head: "entropy 1.90 bits".
 * @param {Payload} data @param {Words} say @param {number} layer @param {number} head
 */
export function measuresOf({ measures }, say, layer, head) {
  return measures.map((measure) => {
    const { label, unit } = measure;
    return fill(say.measure, { label, value: written(measure, layer, head), unit }).trim();
  });
}

/**
 * What a head does when no word is asked about, in a sentence.
 * @param {Payload} data @param {Words} say @param {string} name @param {number} layer @param {number} head
 */
export function headInWords({ measures }, say, name, layer, head) {
  const clauses = measures.filter(({ clause }) => clause)
    .map((measure) => fill(measure.clause, { value: written(measure, layer, head) }));
  return fill(clauses.length ? say.noFocus : say.noFocusBare, { head: name, clauses: clauses.join(say.and) });
}

/**
 * One number per head, (layer * heads + head,), of the measure of this name; null where there is none.
 * @param {Payload} data @param {string} name
 */
export function measured({ measures }, name) {
  return measures.find((measure) => measure.name === name)?.values.flat() ?? null;
}
