// The one selection: brought into range, compared, told from its own echo.

import { isPair } from "./cells.js";

const MOST_PINNED = 8;

/** @type {Selection} */
export const FIRST = {
  layer: 0,
  head: 0,
  focus: null,
  target: null,
  tab: "matrix",
  order: "layer",
  scale: "sqrt",
  filter: "all",
  pinned: [],
};

/** A selection that fits the data: every field present and in range. @param {Payload} data @param {Partial<Selection>} raw @returns {Selection} */
export function fitSelection(data, raw) {
  const keys = data.keys ?? data.queries;
  const whole = (value, count, other) => (Number.isInteger(value) && value >= 0 && value < count ? value : other);
  const one = (value, choices) => (choices.includes(value) ? value : choices[0]);
  const pinned = (Array.isArray(raw?.pinned) ? raw.pinned : []).filter((pin) =>
    Array.isArray(pin) && whole(pin[0], data.layers, -1) >= 0 && whole(pin[1], data.heads, -1) >= 0
  );
  return {
    layer: whole(raw?.layer, data.layers, 0),
    head: whole(raw?.head, data.heads, 0),
    focus: whole(raw?.focus, data.queries.length, null),
    target: whole(raw?.target, keys.length, null),
    tab: one(raw?.tab, ["matrix", "lines"]),
    order: one(raw?.order, ["layer", "entropy", "distance", "focus"]),
    scale: one(raw?.scale, ["sqrt", "linear"]),
    filter: one(isPair(data.queries) && isPair(keys) ? raw?.filter : "all", ["all", "aa", "ab", "ba", "bb"]),
    pinned: pinned.slice(0, MOST_PINNED).map(([layer, head]) => [layer, head]),
  };
}

/** @param {Selection} selection */
export const canonical = (selection) => JSON.stringify(Object.keys(FIRST).map((name) => selection?.[name] ?? null));

/** Add a head to the pinned ones, or take it away. @param {[number, number][]} pinned @returns {[number, number][]} */
export function togglePin(pinned, layer, head) {
  const rest = pinned.filter(([l, h]) => l !== layer || h !== head);
  return rest.length < pinned.length
    ? rest
    : [...pinned, /** @type {[number, number]} */ ([layer, head])].slice(-MOST_PINNED);
}

/**
 * Tells a selection that comes from outside (the back button, a link) from the echo of one this view has sent.
 */
export function createEchoes() {
  let last = "";
  /** @type {string[]} */
  let sent = [];
  return {
    sent: (selection) => {
      sent = [...sent, canonical(selection)].slice(-32);
    },
    /** Whether an incoming selection is news. */
    isNews(selection) {
      const text = canonical(selection);
      if (text === last) return false;
      last = text;
      const at = sent.lastIndexOf(text);
      if (at >= 0) sent = sent.slice(at + 1);
      return at < 0;
    },
  };
}
