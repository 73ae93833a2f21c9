// A status line, with a button if there is an action.

import { h } from "../shared/elements.js";

export function createNotice() {
  const el = h("div", { class: "notice", role: "status", hidden: true });
  return {
    el,
    says: (/** @type {string} */ text) => el.textContent === text,
    /** @param {boolean} failed */
    mark: (failed) => el.classList.toggle("failed", failed),
    /** @param {string} text @param {{label: string, act: () => void}|null} [way] */
    tell(text, way = null) {
      el.hidden = !text;
      el.replaceChildren(
        ...(text ? [h("span", {}, text)] : []),
        ...(way ? [h("button", { type: "button", class: "plain", onclick: way.act }, way.label)] : []),
      );
    },
  };
}
