// Holds a click on a control until the page has read a text that was typed just before. The click leaves the field, and
// the text's message and the click's would otherwise be answered together: by the wrong page, or with the old text.

import { TEXT_FIELDS } from "../shared/elements.js";

const CONTROLS = "a[href], button, [role=tab], label:has(input[type=checkbox], input[type=radio])";
const LONGEST = 3000; // ms that a click is held at most, for texts that take long

/** Return what identifies a control after the page has been redrawn. @param {Element} control */
const identity = (control) =>
  ["href", "aria-label"].map((name) => control.getAttribute(name)).join("\n") + control.textContent;

/**
 * Return the control of a redrawn page that equals a removed one, or null if it is not unique.
 * @param {Document} page @param {HTMLElement} control @returns {HTMLElement|null}
 */
function replacement(page, control) {
  const found = [.../** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll(control.localName))]
    .filter((other) => identity(other) === identity(control));
  return found.length === 1 ? found[0] ?? null : null;
}

/** Hold clicks on a page; call `pageRests` whenever the page is idle. @param {Document} page */
export function holdClicks(page) {
  let unread = false; // a field was left, and the page has not been idle since
  /** @type {HTMLElement|null} */
  let held = null;
  let timer = 0;

  function pageRests() {
    clearTimeout(timer);
    const control = held;
    [unread, held] = [false, null];
    if (control) (control.isConnected ? control : replacement(page, control))?.click();
  }
  // Streamlit's fields send their text when they are left; the app's text box sends "headlight:left" (composer.js).
  addEventListener("headlight:left", () => unread = true);
  page.addEventListener("change", ({ target }) => {
    if (target instanceof Element && target.matches(TEXT_FIELDS)) unread = true;
  }, { capture: true });
  page.addEventListener("click", (event) => {
    const control = event.target instanceof Element ? event.target.closest(CONTROLS) : null;
    const opensHere = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    // A script's click is held, too: React Aria repeats a click that it has not received within 80 ms.
    if (!unread || !opensHere || !(control instanceof HTMLElement)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    clearTimeout(timer);
    timer = setTimeout(pageRests, LONGEST);
    held = control;
  }, { capture: true });
  return { pageRests };
}
