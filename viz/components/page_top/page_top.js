// Scrolls the page to its top when it shows another place, such as the next step of a lesson, and leads a keyboard or a
// screen reader to the new heading.

import { focusedElement } from "../shared/elements.js";
import { mainRegion } from "../shared/streamlit_internals.js";

/**
 * Return a function that calls `arrive` if the place differs from that of the last call, with its further argument. The
 * first call keeps the position, which a reload restores.
 * @param {(focuses: boolean) => void} arrive
 */
export function onAnother(arrive) {
  /** @type {string|null} */
  let last = null;
  return (/** @type {string} */ place, /** @type {boolean} */ focuses) => {
    if (last !== null && place !== last) arrive(focuses);
    last = place;
  };
}

/** Call `act` once the page is idle. @param {Document} page @param {() => void} act */
function whenIdle(page, act) {
  const root = page.documentElement;
  const idle = () => root.dataset.rest === "true";
  if (idle()) return act();
  const watch = new MutationObserver(() => {
    if (!idle()) return;
    watch.disconnect();
    act();
  });
  watch.observe(root, { attributeFilter: ["data-rest"] });
}

/**
 * Focus the first heading of the third level, such as a step's title, else of the second, unless the visitor is in a
 * field.
 * @param {Document} page
 */
function focusHeading(page) {
  const focused = focusedElement(page);
  const region = mainRegion(page);
  const heading =
    /** @type {HTMLElement|null|undefined} */ (region?.querySelector("h3") ?? region?.querySelector("h2"));
  if (!heading || !(focused === null || focused.matches("body, button, a"))) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

const show = onAnother((focuses) => {
  mainRegion(document)?.scrollTo({ top: 0, behavior: "instant" });
  if (focuses) whenIdle(document, () => focusHeading(document));
});

/**
 * Entry point for Streamlit. `focuses` is true if the heading of a new place takes the focus.
 * @param {{data: {place: string, focuses: boolean}}} component
 */
export default function pageTop({ data }) {
  show(data.place, data.focuses);
}
