// Starts the view in a file without a server; the code follows explore.js in the same module, inside a block. It is a
// Source over the arrays in the file; requests for other arrays fail with a message.
//
// The embedded data mirrors viz/components/standalone/standalone.py:
//   {payload, grid: Coded, means: Coded, counts: Coded, summed: number[] | null, sampled, habits,
//    maps: {"layer.head": Coded}, asked: {kind: "rows" | "columns", at, ...Coded} | null, absent: string}
//   Coded = {coding: "sqrt8" | "signed8" | "float16", shape: number[], data: base64, little-endian}
// The imports are removed in the file, which already contains their names.

import { mount } from "../explore/explore.js";
import { poolMax } from "../explore/numbers.js";
import { decodeHalves, signed8, sqrt8 } from "../shared/frames.js";

const embedded = JSON.parse(document.getElementById("embedded")?.textContent ?? "");
const { payload, grid, maps, habits } = embedded;
const bytesOf = ({ data }) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));

/** The value of each code, by coding. */
const meaning = {
  sqrt8: Float32Array.from({ length: 256 }, (_, byte) => sqrt8(byte)),
  signed8: Float32Array.from(Int8Array.from({ length: 256 }, (_, byte) => byte), signed8),
  float16: decodeHalves(Uint16Array.from({ length: 65536 }, (_, bits) => bits)),
};
/** Return a coded array as {codes, of}: number i is of[codes[i]]. */
const open = (coded) => {
  const bytes = bytesOf(coded);
  return { codes: coded.coding === "float16" ? new Uint16Array(bytes.buffer) : bytes, of: meaning[coded.coding] };
};
const numbers = ({ codes, of }) => Float32Array.from(codes, (code) => of[code]);

const opened = new Map();
/** Return a head's whole map, (query, key), still coded; throw if the file has none. */
function mapOf(layer, head) {
  const name = `${layer}.${head}`;
  if (!maps[name]) throw new Error(embedded.absent);
  if (!opened.has(name)) opened.set(name, open(maps[name]));
  return opened.get(name);
}

/** Return `count` numbers of every head's map, the i-th at place(i): a row or a column. */
function everyHead(count, place) {
  const { layers, heads } = payload;
  const data = new Float32Array(layers * heads * count);
  for (let id = 0; id < layers * heads; id++) {
    const { codes, of } = mapOf(Math.floor(id / heads), id % heads);
    for (let i = 0; i < count; i++) data[id * count + i] = of[codes[place(i)]];
  }
  return { layers, heads, count, data };
}

/** Return the row or column that is stored in the file; undefined for others. */
function askedFor(kind, at) {
  const { asked } = embedded;
  if (asked?.kind !== kind || asked.at !== at) return;
  const [layers, heads, count] = asked.shape;
  return { layers, heads, count, data: numbers(open(asked)) };
}

const queries = payload.queries.length;
const keys = (payload.keys ?? payload.queries).length;
const source = {
  async grid() {
    const [layers, heads, rows, cols] = grid.shape;
    const [means, counts] = [numbers(open(embedded.means)), numbers(open(embedded.counts))];
    const summed = embedded.summed && new Set(embedded.summed);
    const data = grid.coding === "signed8" ? new Int8Array(bytesOf(grid).buffer) : bytesOf(grid);
    return { layers, heads, rows, cols, data, sampled: embedded.sampled, means, counts, summed, habits };
  },
  async rows(query) {
    return askedFor("rows", query) ?? everyHead(keys, (key) => query * keys + key);
  },
  async columns(key) {
    return askedFor("columns", key) ?? everyHead(queries, (query) => query * keys + key);
  },
  async tile({ layer, head, q0, q1, k0, k1, size }) {
    const [rows, cols] = [Math.min(size, q1 - q0), Math.min(size, k1 - k0)];
    const data = poolMax(numbers(mapOf(layer, head)), keys, [q0, q1], [k0, k1], rows, cols);
    return { q0, q1, k0, k1, rows, cols, data };
  },
};
mount(/** @type {HTMLElement} */ (document.getElementById("view")), payload, source);
