// Tests of the pure functions of viz/components/tokenizer_steps/tokenizer_steps.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { overlap, placesIn, runs, spoken } from "./tokenizer_steps.js";

describe("the ladder", () => {
  test("places overlap where they share a character of the same text", () => {
    assert.equal(overlap([0, 2, 5], [0, 4, 9]), true);
    assert.equal(overlap([0, 2, 5], [0, 5, 9]), false, "the end is the first character after");
    assert.equal(overlap([0, 2, 5], [1, 2, 5]), false);
    assert.equal(overlap(undefined, [0, 2, 5]), false);
  });

  test("a text is cut at every edge, without gaps", () => {
    assert.deepEqual(runs(9, [[0, 2, 5], [0, 4, 9]]), [[0, 2], [2, 4], [4, 5], [5, 9]]);
    assert.deepEqual(runs(3, []), [[0, 3]]);
    assert.deepEqual(runs(0, []), []);
    assert.deepEqual(runs(3, [[0, 1, 8]]), [[0, 1], [1, 3]], "what ends behind the shown part cuts nothing there");
  });

  test("places are gathered from every tokenizer, for one text", () => {
    const way = (...places) => ({ rows: [{ rungs: places.map((place) => ({ text: "x", place })) }] });
    const data = { ways: [way([0, 0, 1], undefined), way([1, 0, 2], [0, 3, 4])] };
    assert.deepEqual(placesIn(data, 0), [[0, 0, 1], [0, 3, 4]]);
  });

  test("a screen reader hears the piece, what it is and its mark", () => {
    assert.equal(spoken({ text: "##bed", title: "number 8270", mark: "" }), "##bed, number 8270");
    assert.equal(
      spoken({ text: "[UNK]", title: "number 100", mark: "unknown" }),
      "[UNK], number 100, not in the vocabulary",
    );
  });
});
