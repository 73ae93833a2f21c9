// Headlight's main view: a text, every layer and head, linked by a shared selection.
//
// Meaning of each mark:
//   strip      a chip is a token (or word). Accent outline: the focus. Accent dashes: the target. Shade: the weight
//              between the focus and this token in the chosen head, on the matrix's colour scale. Pale: special token.
//   sentence   the strip's main weights in words, and the number of other heads with a smaller weight.
//   grid       a small map for each head, layers downwards, heads to the right; a pixel is the largest weight of its
//              cells, on a common scale from 0 to 1 so that heads compare. Accent: the chosen head.
//              A coloured corner: a pinned head.
//   matrix     row = query, column = key; accent frame: the focus row; the scale is named in the legend and ends at the
//              head's largest weight, rounded up.
//   lines      left = query, right = key; width and opacity grow with the weight; a colour for each head (the chosen
//              head in the text's colour, pinned heads in Okabe and Ito's colours).
//   links      a cell for each layer and head: the weight from the focus to the target, from 0 to the largest weight.
//
// The view is independent of models: every number comes from a Source (HTTP routes in Streamlit, embedded arrays in an
// exported file). Token and user text reaches the page only through textContent, fillText and xmlEscape.

import { createApp } from "./app.js";
import { httpSource } from "./source.js";
import { createTeller } from "./telling.js";

/** @import { Handed, Payload, Report, Source } from "./types.js" */

/**
 * Draw the view in an element or shadow root, with a given source; exported files use this function.
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
 * Entry point for Streamlit, called with the same parent at each change of data or theme.
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
