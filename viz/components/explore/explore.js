// Headlight's main view: one text, every layer and head, linked by one selection.
//
// What each mark means
//   strip      a chip is one token (or word). Accent outline: the focus. Accent dashes: the target. Shade: the weight
//              between the focus and this token in the chosen head, on the matrix's own colour scale. Pale: special
//              token.
//   sentence   what the numbers on the strip say, and in how many other heads the same weight is smaller.
//   grid       one small map per head, layers downwards, heads to the right; a pixel is the largest weight of the cells
//              under it, on one scale from 0 to 1 for all so that heads compare. Accent: the chosen head.
//              A coloured corner: a pinned head.
//   matrix     row = the token that looks, column = the token looked at; accent frame: the focus row; the scale is the
//              one the legend states and ends at the head's own largest weight, rounded up.
//   lines      left = the token that looks, right = what it looks at; width and opacity grow with the weight; one
//              colour
//              per head (the chosen head in the text's colour, pinned heads in Okabe and Ito's colours).
//   links      one cell per layer and head: the weight from the focus to the target, on the scale 0 to its largest.
//
// Knows nothing of models: every number comes from a Source (HTTP routes in Streamlit, embedded arrays in an exported
// file). Token and user text reaches the page only through textContent, fillText and xmlEscape.

import { createApp } from "./app.js";
import { httpSource } from "./source.js";
import { createTeller } from "./telling.js";

/** @import { Handed, Payload, Report, Source } from "./types.js" */

/**
 * Draw the view in any element or shadow root, with any source: the way in for an exported file.
 * @param {Element|ShadowRoot} root @param {Payload} data @param {Source} source @param {Report} [report]
 */
export function mount(root, data, source, report = {}) {
  const app = createApp(root, () => source);
  app.update(data, report);
  return { update: app.update, destroy: app.destroy };
}

/** @type {WeakMap<object, ReturnType<typeof createApp>>} */
const mounted = new WeakMap();
const tell = createTeller();

/**
 * Streamlit's way in, called again with the same parent on each change of data or theme.
 * @param {import("../shared/elements.js").Component<Handed>} component
 */
export default function explore({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#explore") ?? parentElement;
  if ("removeAttribute" in root) root.removeAttribute("aria-busy");
  const known = mounted.get(root);
  if (known && !known.stands()) known.destroy();
  const app = known?.stands() ? known : createApp(root, httpSource);
  mounted.set(root, app);
  app.update(data, {
    selection: (value) => tell(data.slip, value, (told) => setTriggerValue("selection", told)),
    again: (count) => setTriggerValue("again", count),
  });
  return () => {
    app.destroy();
    mounted.delete(root);
  };
}
