import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { cell, HEADS, KEYS, LAYERS, ROWS, SENTENCE } from "../shared/cases.mjs";
import { overAllHeads, slice } from "./numbers.js";
import { strongestTarget, topLinks, truth } from "./truth.js";
import { WORDS } from "./words.js";

describe("the sentence of truth", () => {
  const facts = {
    say: WORDS,
    layer: 1,
    head: 2,
    facing: "out",
    pivot: 3,
    pivots: SENTENCE,
    others: SENTENCE,
    same: true,
  };
  const say = (change) => truth({ ...facts, values: slice(ROWS, 1, 2), rows: ROWS, ...change });

  test("names the head, the words, the weight and how many heads have less", () => {
    assert.equal(say({}), "Head 1-2: “was” looks most at “animal” (0.60), more than in any other head.");
  });

  test("is honest about special tokens", () => {
    assert.equal(
      say({ layer: 0, head: 0, values: slice(ROWS, 0, 0) }),
      "Head 0-0: “was” looks mostly at [CLS] (0.90); " +
        "among words most at “the” at position 1 (0.05), more than in 0 of the other 5 heads.",
    );
  });

  test("says itself for itself", () => {
    assert.match(say({ pivot: 2 }), /“animal” looks most at itself \(0\.60\)/);
    assert.match(say({ pivot: 2, same: false }), /looks most at “animal”/);
  });

  test("names the word that other words give weight, also where it is the focus", () => {
    const doubts = () => ({ usual: 0.39, placed: null });
    assert.match(say({ pivot: 2, doubts }), /most at itself .*; other words give “animal” 0\.39 on average/);
  });

  test("answers the target that was picked, and says what the strongest is", () => {
    assert.equal(
      say({ picked: 4 }),
      "Head 1-2: “was” gives “tir” 0.05, more than in 0 of the other 5 heads; " +
        "“was” looks most at “animal” (0.60).",
    );
    assert.equal(say({ picked: 2 }), say({}), "the strongest is the answer itself");
    assert.match(
      say({ picked: 4, facing: "in" }),
      /“was” gets 0\.05 from “tir”.*; “was” is looked at most by “animal”/,
    );
  });

  test("states the share of a row that goes to no token", () => {
    const values = slice(ROWS, 1, 2).map((weight) => weight * 0.27);
    const total = 1 - values.reduce((sum, weight) => sum + weight, 0);
    assert.match(
      say({ values, rest: "sink" }),
      new RegExp(`; ${total.toFixed(2)} goes to the head's sink, not to a token\\.$`),
    );
    assert.match(say({ values, rest: "missing" }), /; 0\.\d\d of its attention is missing from the maps\.$/);
    assert.doesNotMatch(say({ values, rest: "sink", facing: "in" }), /sink/);
    assert.equal(say({ values: values.map(() => 1 / values.length), rest: null }).includes("sink"), false);
  });

  test("turns round for what is looked at, and stays silent on what is not known", () => {
    assert.equal(say({ facing: "in", rows: null }), "Head 1-2: “was” is looked at most by “animal” (0.60).");
    assert.equal(say({ values: null }), "Head 1-2.");
  });
});

describe("links and tables", () => {
  test("the strongest links of all heads, in order", () => {
    const links = topLinks(ROWS, 3);
    assert.deepEqual(links.map(({ layer, head, token }) => [layer, head, token]), [[0, 0, 0], [1, 2, 2], [0, 1, 2]]);
    const words = topLinks(ROWS, 2, (i) => !SENTENCE[i].special);
    assert.deepEqual(words.map(({ layer, head, token }) => [layer, head, token]), [[1, 2, 2], [0, 1, 2]]);
    assert.equal(topLinks(ROWS, 100).length, LAYERS * HEADS * KEYS);
  });

  test("the default target is a word and not the focus itself", () => {
    assert.equal(strongestTarget(slice(ROWS, 1, 2), SENTENCE, 3, true), 2);
    assert.notEqual(strongestTarget(slice(ROWS, 1, 2), SENTENCE, 2, true), 2);
    assert.equal(strongestTarget(overAllHeads(ROWS), SENTENCE, 3, true), 2);
    assert.ok(Math.abs(overAllHeads(ROWS)[0] - 0.9) < 1e-6);
    assert.equal(strongestTarget([0.9, 0.1], [cell("[CLS]", null), cell("[SEP]", null)], 1, true), 0);
  });
});
