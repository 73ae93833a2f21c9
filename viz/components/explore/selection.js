// The one selection: brought into range, compared, told from its own echo.

import { isPair } from "./cells.js";

/** @import { Facing, Payload, Selection } from "./types.js" */

const MOST_PINNED = 8;

/** What is chosen before any text has come. @type {Selection} */
export const FIRST = {
  layer: 0,
  head: 0,
  focus: null,
  target: null,
  tab: "matrix",
  facing: "out",
  order: "layer",
  scale: "sqrt",
  upto: "fit",
  filter: "all",
  by: "excess",
  pinned: [],
};

/** @param {unknown} value @param {number} count @returns {value is number} */
const isIndex = (value, count) => typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;

/**
 * The value, where it is one of the choices, else the usual one.
 * @template T @param {T|undefined} value @param {T[]} choices
 */
const one = (value, choices) => (value !== undefined && choices.includes(value) ? value : choices[0]);

/** Whether a layer has attention. @param {Payload} data @param {number} layer */
export const attends = ({ attending }, layer) => !attending || attending.includes(layer);

/**
 * A layer if it has attention, else the next in the direction from `start` that has some.
 * @param {Payload} data @param {number} layer @param {number} [start]
 */
export function attendingLayer(data, layer, start = layer) {
  const { attending } = data;
  if (!attending || attends(data, layer)) return layer;
  const later = attending.find((other) => other > layer);
  const earlier = attending.findLast((other) => other < layer);
  return (layer < start ? earlier ?? later : later ?? earlier) ?? layer;
}

/**
 * The head before (-1) or after (1) a head, in the order of layers; layers without attention have none.
 * @param {Payload} data @param {number} layer @param {number} head @param {number} sign
 */
export function neighbour({ layers, heads, attending }, layer, head, sign) {
  const all = attending ?? [...Array(layers).keys()];
  const count = all.length * heads;
  const at = (all.indexOf(layer) * heads + head + sign + count) % count;
  return { layer: all[Math.floor(at / heads)], head: at % heads };
}

/**
 * A selection that fits the data: every field present and in range.
 * @param {Payload} data @param {Partial<Selection>} [raw] as it came: nothing of it is trusted @returns {Selection}
 */
export function fitSelection(data, raw = {}) {
  const { layers, heads, choices } = data;
  const keys = data.keys ?? data.queries;
  const pinned = (Array.isArray(raw.pinned) ? raw.pinned : []).filter((pin) =>
    Array.isArray(pin) && isIndex(pin[0], layers) && attends(data, pin[0]) && isIndex(pin[1], heads)
  );
  return {
    layer: attendingLayer(data, isIndex(raw.layer, layers) ? raw.layer : 0),
    head: isIndex(raw.head, heads) ? raw.head : 0,
    focus: isIndex(raw.focus, data.queries.length) ? raw.focus : null,
    target: isIndex(raw.target, keys.length) ? raw.target : null,
    tab: one(raw.tab, choices.tab),
    facing: one(raw.facing, choices.facing),
    order: one(raw.order, choices.order),
    scale: one(raw.scale, choices.scale),
    upto: one(raw.upto, choices.upto),
    filter: one(isPair(data.queries) && isPair(keys) ? raw.filter : "all", choices.filter),
    by: one(raw.by, choices.by),
    pinned: pinned.slice(0, MOST_PINNED).map(([layer, head]) => [layer, head]),
  };
}

/**
 * The end of the link that is asked about, and the end that answers.
 * @param {Pick<Selection, "facing">} selection @returns {["focus", "target"]|["target", "focus"]}
 */
export const ends = ({ facing }) => (facing === "out" ? ["focus", "target"] : ["target", "focus"]);

/**
 * A selection with a change; a new word that is asked about is asked for its own strongest link.
 * @param {Selection} before @param {Partial<Selection>|null} patch @returns {Selection}
 */
export function changed(before, patch) {
  const after = { ...before, ...patch };
  const [pivot, partner] = ends(after);
  const asksAnew = after.facing === before.facing && after[pivot] !== before[pivot] && patch?.[partner] === undefined;
  return asksAnew ? { ...after, [partner]: null } : after;
}

/**
 * What turns when the same word is asked the other way: of one text the word is then the link's other end; of two
 * texts the link stays.
 * @param {{focus: number|null, target: number|null}} link @param {Facing} facing @param {boolean} cross
 * @returns {Partial<Selection>}
 */
export function turned({ focus, target }, facing, cross) {
  if (cross) return { facing, focus, target };
  return facing === "in" ? { facing, focus: null, target: focus } : { facing, focus: target, target: null };
}

/** @param {Partial<Selection>} selection */
export const canonical = (selection) =>
  JSON.stringify(/** @type {(keyof Selection)[]} */ (Object.keys(FIRST)).map((name) => selection?.[name] ?? null));

/**
 * Add a head to the pinned ones, or take it away.
 * @param {[number, number][]} pinned @param {number} layer @param {number} head @returns {[number, number][]}
 */
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
    /** @param {Selection} selection */
    sent: (selection) => {
      sent = [...sent, canonical(selection)].slice(-32);
    },
    /** The server has it and sends no echo: what comes back from before it is news. @param {Selection} selection */
    settled(selection) {
      last = canonical(selection);
      sent = sent.slice(sent.lastIndexOf(last) + 1);
    },
    /** Whether an incoming selection is news. @param {Partial<Selection>} selection */
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
