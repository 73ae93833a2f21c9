// A labelled choice.

import { h } from "../shared/elements.js";

/**
 * Create a <select> with a label.
 * @template {string} Value
 * @param {string} label @param {{value: Value, text: string}[]} choices @param {(value: Value) => void} onchange
 */
export function picker(label, choices, onchange) {
  /** @type {HTMLSelectElement} */
  const select = h(
    "select",
    { onchange: () => onchange(/** @type {Value} */ (select.value)) },
    ...choices.map(({ value, text }) => h("option", { value }, text)),
  );
  return { el: h("label", { class: "picker" }, h("span", {}, label), select), select };
}
