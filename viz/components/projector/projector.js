// The projector view: the page at 1.6 times its size (assets/app.css) without the sidebar. The key P or the button
// enters it; P, Escape or the button above the page leaves it. The view lasts for the browser's tab.

import { TOGGLE } from "../shared/projector_event.js";
import { _, speak } from "../shared/words.js";

const CLASS = "headlight-projector"; // the class in assets/app.css
const KEPT = "headlight-projector";
const EXIT = "headlight-projector-exit";
const TEXTLESS = /^(button|checkbox|color|file|image|radio|range|reset|submit)$/i; // types of inputs without text
const OPEN = "[role=dialog], [role=listbox], [role=menu]"; // elements that Escape closes first

/** @type {(() => void)|null} */
let unlisten = null;

/**
 * Return true if the key press belongs to a text field.
 * @param {EventTarget[]} path the event's path, innermost element first
 */
export function typing(path) {
  return path.some((el) => {
    const one = /** @type {HTMLElement} */ (el);
    if (/^input$/i.test(one.tagName ?? "")) return !TEXTLESS.test(/** @type {HTMLInputElement} */ (one).type ?? "");
    return /^(textarea|select)$/i.test(one.tagName ?? "") || one.isContentEditable === true;
  });
}

/**
 * Return true if a key press leaves the projector view: Escape, unless something else on the page uses it.
 * @param {KeyboardEvent} event @param {boolean} occupied whether a menu or a dialog is open
 */
export function leaves(event, occupied) {
  return event.key === "Escape" && !event.defaultPrevented && !occupied && !typing(event.composedPath());
}

/** @param {boolean} on */
function show(on) {
  document.documentElement.classList.toggle(CLASS, on);
  if (on) sessionStorage.setItem(KEPT, "1");
  else sessionStorage.removeItem(KEPT);
  const exit = document.getElementById(EXIT);
  if (on && !exit) document.body.prepend(exitButton());
  if (!on) exit?.remove();
}

/** Return the button above every page that leaves the view, outside Streamlit's elements. */
function exitButton() {
  const button = document.createElement("button");
  button.id = EXIT;
  button.type = "button";
  button.textContent = _("Leave the projector view (Esc)");
  button.onclick = () => show(false);
  return button;
}

const shown = () => document.documentElement.classList.contains(CLASS);

/**
 * Entry point for Streamlit.
 * @param {{data: {words?: Record<string, string>}, parentElement: Element|ShadowRoot}} component
 */
export default function projector({ data, parentElement }) {
  speak(data.words);
  const root = /** @type {HTMLElement} */ (parentElement.querySelector("#projector") ?? parentElement);
  const button = root.querySelector("button") ?? root.appendChild(document.createElement("button"));
  button.textContent = _("Projector (P)");
  button.title = _("1.6 times as large, without sidebar. P or Escape leaves.");
  const toggle = () => {
    show(!shown());
    document.getElementById(EXIT)?.focus(); // move the focus, since the sidebar is hidden now
  };
  button.onclick = toggle;
  if (sessionStorage.getItem(KEPT)) show(true);
  unlisten?.();
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (shown() && leaves(event, document.querySelector(OPEN) !== null)) return show(false);
    if (event.key !== "p" && event.key !== "P") return;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath())) return;
    show(!shown());
  };
  document.addEventListener("keydown", pressed);
  document.addEventListener(TOGGLE, toggle);
  unlisten = () => {
    document.removeEventListener("keydown", pressed);
    document.removeEventListener(TOGGLE, toggle);
  };
}
