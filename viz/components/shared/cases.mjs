// Small cases for the tests of several modules: unequal axes (2 layers, 3 heads, 5 queries, 7 keys), and frames.

import { DEFAULTS } from "../explore/contract.js";

export const LAYERS = 2;
export const HEADS = 3;
export const KEYS = 7;

/** Encode a frame as attention/codec.py does. */
export function frame(header, arrays) {
  const blocks = [];
  let offset = 0;
  const entries = arrays.map(([name, dtype, shape, typed]) => {
    const entry = { name, dtype, shape, offset, bytes: typed.byteLength };
    const block = new Uint8Array(Math.ceil(typed.byteLength / 8) * 8);
    block.set(new Uint8Array(typed.buffer));
    blocks.push(block);
    offset += block.length;
    return entry;
  });
  let text = JSON.stringify({ ...header, arrays: entries });
  text += " ".repeat((8 - ((new TextEncoder().encode(text).length + 4) % 8)) % 8);
  const head = new TextEncoder().encode(text);
  const out = new Uint8Array(4 + head.length + offset);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, 4);
  let at = 4 + head.length;
  for (const block of blocks) {
    out.set(block, at);
    at += block.length;
  }
  return out.buffer;
}

export const cell = (text, word, segment = 0) => ({ text, word, segment, special: word === null });
/** Return cells of a single token each, in order. */
const inOrder = (cells) => cells.map((one, i) => ({ ...one, at: [i, i + 1] }));
export const SENTENCE = inOrder([
  cell("[CLS]", null),
  cell("the", 0),
  cell("animal", 1),
  cell("was", 2),
  cell("tir", 3),
  cell("ed", 3),
  cell("the", 4),
]);
export const PAIR = inOrder([
  cell("[CLS]", null, 0),
  cell("a", 0, 0),
  cell("[SEP]", null, 0),
  cell("b", 0, 1),
  cell("[SEP]", null, 1),
]);

/** rows (layer, head, key): head (1, 2) attends most to key 2. */
export const ROWS = { layers: LAYERS, heads: HEADS, count: KEYS, data: new Float32Array(LAYERS * HEADS * KEYS) };
ROWS.data.fill(0.05);
export const AT = (layer, head, key) => (layer * HEADS + head) * KEYS + key;
ROWS.data[AT(1, 2, 2)] = 0.6;
ROWS.data[AT(1, 2, 0)] = 0.2;
ROWS.data[AT(0, 1, 2)] = 0.3;
ROWS.data[AT(0, 0, 0)] = 0.9;

/** Values of the view options besides the defaults. */
const OTHERS = {
  tab: ["lines"],
  facing: ["in"],
  order: ["entropy", "focus"],
  filter: ["aa", "ab", "ba", "bb"],
  scale: ["linear"],
  upto: ["one"],
  by: ["weight"],
};
const TEXTS = { matrix: "Matrix", lines: "Lines", ab: "A → B" };
/** Return a declared option whose texts are its values, if TEXTS has no other. */
export const offered = (...values) => ({
  label: "",
  help: "",
  choices: values.map((value) => ({ value, text: TEXTS[value] ?? value })),
});

export const DATA = {
  version: 1,
  state: "ready",
  message: "",
  base: "/headlight/trace/abc",
  view: "part=encoder&words=0",
  text: "the animal",
  pair: null,
  model: { name: "tiny", revision: "0123456789abcdef", kind: "encoder" },
  layers: LAYERS,
  heads: HEADS,
  queries: SENTENCE.slice(0, 5),
  keys: SENTENCE,
  measures: [],
  signed: false,
  options: Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, value]) => [name, offered(value, ...(OTHERS[name] ?? []))]),
  ),
  selection: {},
};
