import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { cell, PAIR, SENTENCE } from "../shared/cases.mjs";
import { cellName, continues, filterRange, isPair, quote, quoteWord } from "./cells.js";

describe("tokens", () => {
  test("pieces of one word belong together", () => {
    assert.deepEqual(SENTENCE.map((_, i) => continues(SENTENCE, i)), [
      false,
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
    assert.equal(continues(PAIR, 3), false); // the word number is equal, the segment differs
  });

  test("a name tells pieces from words, and unknown words from known ones", () => {
    assert.deepEqual([3, 4, 5, 6].map((i) => cellName(SENTENCE, i)), ["was", "tir", "##ed", "the"]);
    assert.equal(cellName([{ ...cell("猫", 0), unknown: "[UNK]" }], 0), "猫 [UNK]");
    assert.equal(cellName([{ ...cell("猫 2/3", 0), unknown: "<0x8C>" }], 0), "猫 2/3");
  });

  test("a quoted token says where it stands when the text repeats it", () => {
    assert.equal(quote(SENTENCE, 2), "“animal”");
    assert.equal(quote(SENTENCE, 1), "“the” at position 1");
    assert.equal(quote(SENTENCE, 0), "[CLS]");
    assert.equal(quote(SENTENCE, 5), "“##ed”");
    assert.equal(quote([cell("لم", 0)], 0), "“\u2068لم\u2069”");
  });

  test("bytes of a character are quoted as the character", () => {
    const bytes = (/** @type {string} */ text) => ({ ...cell(text, 0), unknown: "<0xA0>" });
    assert.equal(quoteWord([bytes("张 1–2/3"), bytes("张 3/3")], 1), "“张”");
    assert.equal(quoteWord([bytes("क ◌ि 1/3"), bytes("◌ि 2–3/3")], 0), "“कि”");
    assert.equal(quoteWord([bytes("张 3/3")], 0), "“张 3/3”", "its first bytes belong to another word");
    assert.equal(quoteWord([cell("1 1/2", 0)], 0), "“1 1/2”");
  });

  test("pair filters leave one segment's rows and columns", () => {
    assert.equal(isPair(PAIR), true);
    assert.equal(isPair(SENTENCE), false);
    assert.deepEqual(filterRange(PAIR, PAIR, "ab"), { q0: 0, q1: 3, k0: 3, k1: 5 });
    assert.deepEqual(filterRange(PAIR, PAIR, "ba"), { q0: 3, q1: 5, k0: 0, k1: 3 });
    assert.deepEqual(filterRange(PAIR, PAIR, "all"), { q0: 0, q1: 5, k0: 0, k1: 5 });
  });
});
