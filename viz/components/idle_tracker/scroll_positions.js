// Restores the scroll position of a view that Back or Forward leads to. Streamlit's pages scroll inside an element, and
// browsers do not restore its position.

/**
 * Create the store of scroll positions by address. `address` returns that of the view, `top` its scroll position, and
 * `scrollTo` sets it.
 * @param {{address: () => string, top: () => number, scrollTo: (top: number) => void}} view
 */
export function createPositions({ address, top, scrollTo }) {
  /** @type {Map<string, number>} */
  const positions = new Map();
  /** @type {number|null} */
  let wanted = null;
  return {
    /** Note the position of the view. A position to restore is given up, since the visitor has acted. */
    note() {
      positions.set(address(), top());
      wanted = null;
    },
    /** Back or Forward has led to another address, whose view is drawn next. */
    moved() {
      wanted = positions.get(address()) ?? null;
    },
    /** The view is complete. */
    pageRests() {
      if (wanted !== null) scrollTo(wanted);
      wanted = null;
    },
  };
}

const BEFORE = ["pointerdown", "keydown", "wheel", "touchstart"]; // events after which a visitor may scroll or leave

/**
 * Restore the positions of a page; call `pageRests` whenever it is idle.
 * @param {Document} page @param {(page: Document) => Element|null} region returns the element that scrolls
 */
export function restorePositions(page, region) {
  const positions = createPositions({
    address: () => location.href,
    top: () => region(page)?.scrollTop ?? 0,
    scrollTo: (top) => region(page)?.scrollTo({ top, behavior: "instant" }),
  });
  for (const event of BEFORE) addEventListener(event, positions.note, { capture: true, passive: true });
  // A page that is being drawn scrolls by itself, under the address of the page before or after it.
  const scrolled = (/** @type {Event} */ { target }) => {
    if (target === region(page) && page.documentElement.dataset.rest === "true") positions.note();
  };
  addEventListener("scroll", scrolled, { capture: true, passive: true });
  addEventListener("popstate", positions.moved, { capture: true });
  return positions;
}
