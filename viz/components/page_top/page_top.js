// Scrolls the page to its top when it shows another place, such as the next step of a lesson.

import { mainRegion } from "../shared/streamlit_internals.js";

/**
 * Return a function that calls `scroll` if its argument differs from that of the last call. The first call keeps the
 * position, which a reload restores.
 * @param {() => void} scroll
 */
export function onAnother(scroll) {
  /** @type {string|null} */
  let last = null;
  return (/** @type {string} */ place) => {
    if (last !== null && place !== last) scroll();
    last = place;
  };
}

const arrive = onAnother(() => mainRegion(document)?.scrollTo({ top: 0, behavior: "instant" }));

/**
 * Entry point for Streamlit.
 * @param {{data: {place: string}}} component
 */
export default function pageTop({ data }) {
  arrive(data.place);
}
