// The files that a figure offers, as a menu that closes when one is taken, at Escape, and when the focus leaves it.

import { h } from "./elements.js";
import { _ } from "./words.js";

/** @param {[string, () => void][]} entries  what each file is called, and what saves it */
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
