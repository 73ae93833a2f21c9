// Larger type and no sidebar, for a projector: the key P or the button, there and back. It lasts for the browser's tab.

import { _, speak } from "../shared/words.js";

const CLASS = "headlight-projector"; // what assets/app.css knows it by
const KEPT = "headlight-projector";

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

/** @param {boolean} on */
function show(on) {
  document.documentElement.classList.toggle(CLASS, on);
  if (on) sessionStorage.setItem(KEPT, "1");
  else sessionStorage.removeItem(KEPT);
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
  button.title = _("Larger type and no sidebar, for a projector. The key P brings it and takes it away.");
  button.onclick = () => show(!shown());
  if (sessionStorage.getItem(KEPT)) show(true);
  unlisten?.();
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "p" && event.key !== "P") return;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath())) return;
    show(!shown());
  };
  document.addEventListener("keydown", pressed);
  unlisten = () => document.removeEventListener("keydown", pressed);
}
