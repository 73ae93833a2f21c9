// A menu of the files that a figure offers; it closes after a choice, at Escape, and when it loses the focus.

import { h } from "./elements.js";
import { _ } from "./words.js";

/** @param {[string, () => void][]} entries label of each file, and the function that saves it */
export function saveMenu(entries) {
  const items = entries.map(([text, act]) =>
    h("button", {
      type: "button",
      class: "item",
      onclick: () => {
        menu.open = false;
        act();
      },
    }, text)
  );
  const summary = h("summary", {}, _("Save"));
  const menu = h(
    "details",
    { class: "menu", onkeydown: closes, onfocusout: leaves },
    summary,
    h("div", { class: "items" }, ...items),
  );

  function closes(event) {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    summary.focus();
  }
  function leaves(event) {
    if (!menu.contains(event.relatedTarget)) menu.open = false;
  }
  return menu;
}
