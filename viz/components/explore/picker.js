// A choice with a label before it.

import { h } from "../shared/elements.js";

/** A <select> with a label before it. @param {[string, string][]} choices value, text */
export function picker(label, choices, onchange) {
  const select = h(
    "select",
    { onchange: (event) => onchange(event.target.value) },
    ...choices.map(([value, text]) => h("option", { value }, text)),
  );
  return { el: h("label", { class: "picker" }, h("span", {}, label), select), select };
}
