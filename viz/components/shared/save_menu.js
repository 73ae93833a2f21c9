// Menus of a figure, such as that of its files.

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
  const menu = foldMenu(_("Save"), items);
  menu.classList.add("files");
  return menu;
}

/**
 * Create a menu that closes at Escape and when it loses the focus.
 * @param {string} label @param {Element[]} entries
 */
export function foldMenu(label, entries) {
  const summary = h("summary", {}, label);
  // The index lets a click between two entries keep the focus inside the menu.
  const items = h("div", { class: "items", tabindex: "-1" }, ...entries);
  const menu = h("details", { class: "menu", onkeydown: closes, onfocusout: leaves }, summary, items);

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
