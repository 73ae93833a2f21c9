import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { wordsOf } from "./live_cells.js";
import { fillNumbers, placeOfWord } from "./live_checks.js";
import { fitMeasures, largestDifference, placeAfterEdit } from "./live_payload.js";
import { interleave, likeliest, masksOf } from "./live_predictions.js";
import { similarityOf, tableOfWords } from "./live_similarity.js";
import { measureHead } from "./live_summary.js";

const cells = (...texts) => texts.map((text) => ({ text, special: text.startsWith("[") }));

describe("the selection after an edit", () => {
  const before = cells("[CLS]", "the", "cat", "sat", "[SEP]");
  test("a token before the edited part keeps its place", () =>
    assert.equal(placeAfterEdit(before, cells("[CLS]", "the", "cat", "slept", "well", "[SEP]"), 2), 2));
  test("a token after the edited part moves", () =>
    assert.equal(placeAfterEdit(before, cells("[CLS]", "the", "old", "cat", "sat", "[SEP]"), 3), 4));
  test("a token that was replaced has no place", () =>
    assert.equal(placeAfterEdit(before, cells("[CLS]", "the", "dog", "sat", "[SEP]"), 2), null));
  test("a new text has no place", () =>
    assert.equal(placeAfterEdit(before, cells("[CLS]", "a", "new", "text", "[SEP]"), 1), null));
  test("nothing was selected", () => assert.equal(placeAfterEdit(before, before, null), null));
});

describe("a check", () => {
  const words = cells("[CLS]", "The", "bank", "the", "#2").map((cell) => ({ ...cell, word: null }));
  test("a word is found in any case, and by its number", () =>
    assert.deepEqual(["BANK", "the#2", "the#1", "#2", "[cls]"].map((word) => placeOfWord(words, word)), [
      2,
      3,
      1,
      4,
      0,
    ]));
  test("a word that is missing is an error", () => {
    for (const word of ["a", "the#3", "the#0", ""]) assert.throws(() => placeOfWord(words, word), Error);
  });
  test("numbers have the precision of the template", () =>
    assert.equal(
      fillNumbers("{layer}: {weight:.3f} {share:.1%} {word}", { layer: 1, weight: 0.06, share: 0.6, word: "{a}" }),
      "1: 0.060 60.0% {a}",
    ));
});

test("a text is split at white space, punctuation and Chinese characters", () =>
  assert.deepEqual(wordsOf("don't [MASK] 汉字 5%.").map(({ text }) => text), [
    ..."don ' t [MASK] 汉 字 5 % .".split(" "),
  ]));

test("the places of words are those in the text", () =>
  wordsOf(" a 😀b, c").forEach(({ text, start, end }) => assert.equal(" a 😀b, c".slice(start, end), text)));

test("a measure that the script does not compute is left out, and its order too", () => {
  const measures = [{ name: "entropy", digits: 2 }, { name: "new", digits: 2 }];
  const order = { choices: ["layer", "entropy", "new", "focus"].map((value) => ({ value, text: value })) };
  const found = fitMeasures({ measures, options: { order, by: {} } }, { entropy: [[1]] });
  assert.deepEqual(found.measures, [{ name: "entropy", digits: 2, values: [[1]] }]);
  assert.deepEqual(found.options.order.choices.map(({ value }) => value), ["layer", "entropy", "focus"]);
  assert.deepEqual(found.options.by, {});
});

test("measures of a head that attends to the next token", () => {
  const found = measureHead(Float32Array.of(0, 1, 1, 0), cells("a", "."));
  assert.deepEqual({ ...found, entropy: Math.round(1e6 * found.entropy) }, {
    ...{ entropy: 0, distance: 1, punctuation: 0.5, same: 0 },
  });
});

test("the largest difference is over all heads", () => {
  const near = largestDifference([Float32Array.of(0, 1)], [Float32Array.of(0.25, 1)]);
  assert.equal(near, 0.25);
});

const numbers = (shape, ...data) => ({ shape, data: Float32Array.from(data) });

describe("similarity", () => {
  const [a, b] = [numbers([2, 2], 1, 0, 0, 1), numbers([1, 2], 1, 0)];
  test("the table sums to the cosine", () => {
    const { cosine, table } = similarityOf(a, b, "mean");
    assert.ok(Math.abs(cosine - Math.SQRT1_2) < 1e-6);
    assert.deepEqual([...table].map((value) => value.toFixed(3)), ["0.707", "0.000"]);
  });
  test("the first token alone gives the vector", () => assert.equal(similarityOf(a, b, "first").cosine, 1));
  test("the last token alone gives the vector", () => assert.equal(similarityOf(a, b, "last").cosine, 0));
  test("a zero vector has no cosine", () => assert.equal(similarityOf(a, numbers([1, 2], 0, 0), "mean").cosine, 0));
  test("subwords of a word share a row", () => {
    const words = [{ text: "[CLS]", word: null }, { text: "play", word: 0 }, { text: "ing", word: 0 }, {
      text: "[SEP]",
      word: null,
    }];
    const found = tableOfWords(Float32Array.of(1, 2, 4, 8), words, words.slice(0, 1));
    assert.deepEqual({ ...found, data: [...found.data] }, {
      rows: ["[CLS]", "playing", "[SEP]"],
      columns: ["[CLS]"],
      data: [1, 6, 8],
    });
  });
});

describe("masked words", () => {
  test("the bytes of a file in two halves are put together", () =>
    assert.deepEqual([...new Uint8Array(interleave(Uint8Array.of(1, 3, 5, 2, 4).buffer))], [1, 2, 3, 4, 5]));
  test("the likeliest words come first, with probabilities", () => {
    const found = likeliest(Float32Array.of(0, Math.log(2), 0), ["a", "##b", "c"]);
    assert.deepEqual(found.map(({ word }) => word), ["…b", "a", "c"]);
    assert.deepEqual(found.map(({ probability }) => probability.toFixed(4)), ["0.5000", "0.2500", "0.2500"]);
  });
  test("a typed mask is found, a special token is not", () =>
    assert.deepEqual(masksOf({ cells: [{ text: "[MASK]", special: true }, { text: "[MASK]", special: false }] }), [1]));
});
