// The shared selection: validation, comparison, and recognition of echoes.

import { isPair } from "./cells.js";
import { DEFAULTS } from "./contract.js";

/** @import { Facing, Options, Payload, Selection } from "./types.js" */

const MOST_PINNED = 8;

/** The selection before any text arrives. @type {Selection} */
export const FIRST = {
  layer: 0,
  head: 0,
  focus: null,
  target: null,
  ...DEFAULTS,
  pinned: [],
};

/** @param {unknown} value @param {number} count @returns {value is number} */
const isIndex = (value, count) => typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;

/**
 * Return the value of each view option if it is a valid choice for this text, else the first choice.
 * @param {Payload} data @param {Partial<Options>} raw
 */
function fitOptions(data, raw) {
  const fitting = Object.entries(data.options).map(([name, { choices }]) => {
    const value = raw[/** @type {keyof Options} */ (name)];
    return [name, (choices.find((choice) => choice.value === value) ?? choices[0]).value];
  });
  return /** @type {Options} */ (Object.fromEntries(fitting));
}

/** Return true if a layer has attention. @param {Payload} data @param {number} layer */
export const attends = ({ attending }, layer) => !attending || attending.includes(layer);

/**
 * Return a layer if it has attention, else the next layer with attention in the direction from `start`.
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
 * Return the previous (-1) or next (1) head in the order of layers, without layers that have no attention.
 * @param {Payload} data @param {number} layer @param {number} head @param {number} sign
 */
export function neighbour({ layers, heads, attending }, layer, head, sign) {
  const all = attending ?? [...Array(layers).keys()];
  const count = all.length * heads;
  const at = (all.indexOf(layer) * heads + head + sign + count) % count;
  return { layer: all[Math.floor(at / heads)], head: at % heads };
}

/**
 * Return a selection that fits the data: every field is present and in range.
 * @param {Payload} data @param {Partial<Selection>} [raw] untrusted input @returns {Selection}
 */
export function fitSelection(data, raw = {}) {
  const { layers, heads } = data;
  const keys = data.keys ?? data.queries;
  const pinned = (Array.isArray(raw.pinned) ? raw.pinned : []).filter((pin) =>
    Array.isArray(pin) && isIndex(pin[0], layers) && attends(data, pin[0]) && isIndex(pin[1], heads)
  );
  return {
    layer: attendingLayer(data, isIndex(raw.layer, layers) ? raw.layer : 0),
    head: isIndex(raw.head, heads) ? raw.head : 0,
    focus: isIndex(raw.focus, data.queries.length) ? raw.focus : null,
    target: isIndex(raw.target, keys.length) ? raw.target : null,
    ...fitOptions(data, isPair(data.queries) && isPair(keys) ? raw : { ...raw, filter: DEFAULTS.filter }),
    pinned: pinned.slice(0, MOST_PINNED).map(([layer, head]) => [layer, head]),
  };
}

/**
 * Return the text of a choice.
 * @template {keyof Options} Name @param {Payload} data @param {Name} name @param {Options[Name]} value
 */
export const textOf = ({ options }, name, value) =>
  options[name].choices.find((choice) => choice.value === value)?.text ?? value;

/**
 * Return the end of the link that the question is about, and the end that answers it.
 * @param {Pick<Selection, "facing">} selection @returns {["focus", "target"]|["target", "focus"]}
 */
export const ends = ({ facing }) => (facing === "out" ? ["focus", "target"] : ["target", "focus"]);

/**
 * Return a changed selection; a new pivot resets the partner to its strongest link.
 * @param {Selection} before @param {Partial<Selection>|null} patch @returns {Selection}
 */
export function changed(before, patch) {
  const after = { ...before, ...patch };
  const [pivot, partner] = ends(after);
  const asksAnew = after.facing === before.facing && after[pivot] !== before[pivot] && patch?.[partner] === undefined;
  return asksAnew ? { ...after, [partner]: null } : after;
}

/**
 * Return the change that reverses the direction of the question. Within a text the word becomes the link's other end;
 * between two texts the link stays.
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
 * Add a head to the pinned heads, or remove it.
 * @param {[number, number][]} pinned @param {number} layer @param {number} head @returns {[number, number][]}
 */
export function togglePin(pinned, layer, head) {
  const rest = pinned.filter(([l, h]) => l !== layer || h !== head);
  return rest.length < pinned.length
    ? rest
    : [...pinned, /** @type {[number, number]} */ ([layer, head])].slice(-MOST_PINNED);
}

/** Distinguish selections from outside (the back button, a link) from echoes of sent selections. */
export function createEchoes() {
  let last = "";
  /** @type {string[]} */
  let sent = [];
  return {
    /** @param {Selection} selection */
    sent: (selection) => {
      sent = [...sent, canonical(selection)].slice(-32);
    },
    /**
     * The server has stored the selection and sends no echo, so a later return to an earlier selection is news.
     * @param {Selection} selection
     */
    settled(selection) {
      last = canonical(selection);
      sent = sent.slice(sent.lastIndexOf(last) + 1);
    },
    /** Return true if an incoming selection is news. @param {Partial<Selection>} selection */
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
