import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { headWeights, payloadOf, recordedSource, softmaxRow } from "./recorded.js";
import { fromHash, toHash } from "./address.js";
import { cellOf, mergeMap, moveSelection } from "./merging.js";
import { fitPicture, scaleByNorms } from "./pictures.js";
import { languageOf } from "./site.js";
import { unpack } from "./unpack.js";

const array = (shape, ...data) => ({ dtype: "float32", shape, data: new Float32Array(data) });
const near = (found, expected) =>
  found.forEach((value, at) => assert.ok(Math.abs(value - expected[at]) < 1e-6, `${found} is not ${expected}`));
// A head with two tokens of a single channel: the scores are [[0, ln 3], [0, 0]].
const TWO = { "query.0": array([1, 2, 1], 1, 0), "key.0": array([1, 2, 1], 0, Math.log(3)) };

describe("weights", () => {
  test("a row is the softmax of its scores", () => near([...headWeights(TWO, {}, 0, 0)], [0.25, 0.75, 0.5, 0.5]));
  test("a causal mask hides later keys", () => near([...headWeights(TWO, { causal: true }, 0, 0)], [1, 0, 0.5, 0.5]));
  test("a window hides keys further to the left", () =>
    near([...headWeights(TWO, { causal: true, left: 0 }, 0, 0)], [1, 0, 0, 1]));
  test("a hidden pair has no weight", () => {
    const hidden = { "hidden.0": { dtype: "sqrt8", shape: [2, 2], data: Uint8Array.of(0, 255, 255, 255) } };
    near([...headWeights({ ...TWO, ...hidden }, {}, 0, 0)], [1, 0, 0, 0]);
  });
  test("bias and sink change the row", () => {
    const bias = { "bias.0": array([1, 2, 2], Math.log(3), 0, 0, 0) };
    near([...headWeights({ ...TWO, ...bias }, {}, 0, 0)], [0.5, 0.5, 0.5, 0.5]);
    const sinks = { "sinks.0": array([1], Math.log(4)) };
    near([...headWeights({ ...TWO, ...sinks }, {}, 0, 0)], [1 / 8, 3 / 8, 1 / 6, 1 / 6]);
  });
  test("two heads share a key-value head", () => {
    const four = { "query.0": array([2, 1, 1], 1, -1), "key.0": array([1, 2, 1], 0, Math.log(3)) };
    near([...headWeights(four, {}, 0, 0)], [0.25, 0.75]);
    near([...headWeights(four, {}, 0, 1)], [0.75, 0.25]);
  });
  test("a row without a visible key is zero", () => {
    const row = new Float64Array([-Infinity, -Infinity]);
    softmaxRow(row);
    near([...row], [0, 0]);
  });
});

test("a source answers rows, columns and tiles of the same map", async () => {
  const cells = [{}, {}];
  const header = {
    ...{ layers: [{}], summed: null, sampled: false, habits: null, said: {}, words: null },
    payload: { layers: 1, heads: 1, queries: cells, keys: null },
  };
  const arrays = { ...TWO, means: array([1, 1, 2], 0.25, 0.75), counts: array([1, 2], 2, 2) };
  const source = recordedSource({ header, arrays });
  near([...(await source.rows(0)).data], [0.25, 0.75]);
  near([...(await source.columns(1)).data], [0.75, 0.5]);
  near([...(await source.tile({ layer: 0, head: 0, q0: 1, q1: 2, k0: 0, k1: 2, size: 8 })).data], [0.5, 0.5]);
  const grid = await source.grid(48);
  assert.deepEqual([...grid.data], [0.25, 0.75, 0.5, 0.5].map((weight) => Math.round(255 * Math.sqrt(weight))));
});

describe("addresses", () => {
  test("a link restores the language, the text and the selection", () => {
    const selection = { layer: 3, head: 1, focus: 10, target: null, tab: "lines", pinned: [] };
    assert.deepEqual(fromHash(toHash({ lang: "zh", text: "texts/a.bin", words: "" }, selection)), {
      where: { lang: "zh", text: "texts/a.bin" },
      selection: { layer: 3, head: 1, focus: 10, tab: "lines" },
    });
  });
  test("a number that is none is left out", () => assert.equal(fromHash("#layer=x").selection.layer, null));
});

test("the link's language wins over the browser's", () => {
  const languages = [{ code: "en" }, { code: "zh" }];
  assert.equal(languageOf(languages, "en", ["zh-CN"]).code, "en");
  assert.equal(languageOf(languages, null, ["fr", "zh-CN"]).code, "zh");
  assert.equal(languageOf(languages, "xx", []).code, "en");
});

describe("whole words", () => {
  // "un|known": a word of two tokens, and a word of one.
  const words = [{ at: [0, 2] }, { at: [2, 3] }];
  const tokens = [{ at: [0, 1] }, { at: [1, 2] }, { at: [2, 3] }];
  test("rows are averaged and columns summed", () => {
    const map = Float32Array.of(0.25, 0.25, 0.5, 0, 0.5, 0.5, 1, 0, 0);
    near([...mergeMap(map, 3, words, words)], [0.5, 0.5, 1, 0]);
  });
  test("a selection moves to the cells of the same tokens", () => {
    assert.equal(cellOf(words, 1), 0);
    assert.equal(cellOf(words, 9), null);
    const [from, to] = [{ queries: tokens, keys: null }, { queries: words, keys: null }];
    const selection = { layer: 2, focus: 1, target: null };
    assert.deepEqual(moveSelection(selection, from, to), { layer: 2, focus: 0, target: null });
    assert.deepEqual(moveSelection({ focus: 1, target: 0 }, to, from), { focus: 2, target: 0 });
  });
  test("the payload has the cells of the words, in the language", () => {
    const header = {
      payload: { text: "a", queries: tokens, options: "en" },
      said: { zh: { options: "zh" } },
      words: { payload: { queries: words }, said: { zh: { measures: "zh" } } },
    };
    assert.deepEqual(payloadOf(header, "zh", true), { text: "a", queries: words, options: "zh", measures: "zh" });
    assert.deepEqual(payloadOf(header, "en", false), header.payload);
  });
});

describe("pictures", () => {
  test("rows are scaled by the norms of the values", () =>
    near([...scaleByNorms(Float32Array.of(0.5, 0.5, 1, 0), [1, 3])], [0.25, 0.75, 1, 0]));
  test("an address selects what the picture has", () => {
    const selection = { layer: 1, head: 1, token: 2, facing: "out", by: "head" };
    const data = { selection, layers: 2, heads: 3, tokens: ["a", "b", "c", "d"] };
    const fit = (raw) => fitPicture(data, raw);
    assert.deepEqual(fit({ layer: 0, head: 9, token: "3", facing: "up", by: "norms" }), {
      ...{ layer: 0, head: 1, token: 3, facing: "out", by: "norms" },
    });
    assert.deepEqual(fit({ layer: null, facing: "in" }), { ...selection, facing: "in" });
  });
});

test("gzip is unpacked, other content stays", async () => {
  const plain = new TextEncoder().encode("attention").buffer;
  const packed = await new Response(new Blob([plain]).stream().pipeThrough(new CompressionStream("gzip")))
    .arrayBuffer();
  for (const content of [plain, packed]) assert.equal(new TextDecoder().decode(await unpack(content)), "attention");
});
