// A labelled choice.

import { h } from "../shared/elements.js";

/** @import { App, Options } from "./types.js" */

/**
 * Create a <select> for a view option, with its label, help and choices.
 * @param {App} app @param {keyof Options} name
 */
export function picker(app, name) {
  const { label, help, choices } = app.data.options[name];
  /** @type {HTMLSelectElement} */
  const select = h(
    "select",
    { title: help || null, onchange: () => app.keep({ [name]: select.value }) },
    ...choices.map(({ value, text }) => h("option", { value }, text)),
  );
  return { el: h("label", { class: "picker" }, h("span", {}, label), select), select };
}
