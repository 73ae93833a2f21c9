// The projector view: everything 1.6 times as large (assets/app.css) and no sidebar. The key P or the button enters it;
// P, Escape or the button above the page leaves it. It lasts for the browser's tab.

import { _, speak } from "../shared/words.js";

const CLASS = "headlight-projector"; // what assets/app.css knows it by
const KEPT = "headlight-projector";
const EXIT = "headlight-projector-exit";
const OPEN = "[role=dialog], [role=listbox], [role=menu]"; // what Escape closes first

/** @type {(() => void)|null} */
let unlisten = null;

/**
 * Whether a key that is pressed there is a letter of something that is being typed.
 * @param {EventTarget[]} path where the key went, the innermost first
 */
export function typing(path) {
  return path.some((el) => {
    const one = /** @type {HTMLElement} */ (el);
    return /^(input|textarea|select)$/i.test(one.tagName ?? "") || one.isContentEditable === true;
  });
}

/**
 * Return whether a key press leaves the projector view: Escape that nothing else on the page takes.
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

/** Return the button above every page that leaves the view; Streamlit's own parts lie beside it. */
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
 * Streamlit's way in.
 * @param {{data: {words?: Record<string, string>}, parentElement: Element|ShadowRoot}} component
 */
export default function projector({ data, parentElement }) {
  speak(data.words);
  const root = /** @type {HTMLElement} */ (parentElement.querySelector("#projector") ?? parentElement);
  const button = root.querySelector("button") ?? root.appendChild(document.createElement("button"));
  button.textContent = _("Projector (P)");
  button.title = _("Show everything 1.6 times as large, without the sidebar. P or Escape leaves this view.");
  button.onclick = () => {
    show(!shown());
    document.getElementById(EXIT)?.focus(); // the sidebar is hidden now
  };
  if (sessionStorage.getItem(KEPT)) show(true);
  unlisten?.();
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (shown() && leaves(event, document.querySelector(OPEN) !== null)) return show(false);
    if (event.key !== "p" && event.key !== "P") return;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath())) return;
    show(!shown());
  };
  document.addEventListener("keydown", pressed);
  unlisten = () => document.removeEventListener("keydown", pressed);
}
