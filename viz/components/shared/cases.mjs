// Small cases for the tests of several modules: unequal axes (2 layers, 3 heads, 5 queries, 7 keys), and frames.

import { DEFAULTS } from "../explore/contract.js";

export const LAYERS = 2;
export const HEADS = 3;
export const KEYS = 7;

const TYPES = { sqrt8: "U8", signed8: "I8", whole: "U16", float16: "F16", float32: "F32" };

/** Encode maps as attention/codec.py does; a coding without a type stays its own type. */
export function frame(header, arrays) {
  const entries = { __metadata__: { headlight: JSON.stringify(header) } };
  let at = 0;
  for (const [name, coding, shape, typed] of arrays) {
    entries[name] = { dtype: TYPES[coding] ?? coding, shape, data_offsets: [at, at += typed.byteLength] };
  }
  const text = new TextEncoder().encode(JSON.stringify(entries));
  const out = new Uint8Array(8 + text.length + at);
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true);
  out.set(text, 8);
  at = 8 + text.length;
  for (const [, , , typed] of arrays) {
    out.set(new Uint8Array(typed.buffer), at);
    at += typed.byteLength;
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
