import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { AT, cell, HEADS, KEYS, LAYERS, ROWS, SENTENCE } from "../shared/cases.mjs";
import { overAllHeads, slice } from "./numbers.js";
import { doubt, strongestTarget, topLinks, truth } from "./truth.js";
import { WORDS } from "./words.js";

describe("the sentence about a link", () => {
  const facts = {
    say: WORDS,
    model: "bert",
    layer: 1,
    head: 2,
    facing: "out",
    pivot: 3,
    pivots: SENTENCE,
    others: SENTENCE,
    same: true,
    rows: [ROWS],
  };
  const say = (change) => truth({ ...facts, ...change });
  const HEADS_ALL = LAYERS * HEADS;

  test("gives the words, the share and the rank among all heads", () => {
    assert.equal(
      say({}),
      `In head 1-2 of bert, “was” gives 60% of its attention to “animal”, the highest of all ${HEADS_ALL} heads.`,
    );
    assert.match(say({ layer: 0, head: 1 }), /gives 30% of its attention to “animal”, rank 2 of 6 heads by weight\.$/);
  });

  test("claims the most only for a single largest weight", () => {
    const rows = {
      ...ROWS,
      data: ROWS.data.map((weight, at) => (at === AT(0, 1, 2) ? ROWS.data[AT(1, 2, 2)] : weight)),
    };
    assert.match(say({ rows: [rows] }), /“animal”, rank 1 of 6 heads by weight\.$/);
    assert.doesNotMatch(say({ complete: false }), /heads/);
    assert.match(say({ attending: [1] }), /the highest of all 3 heads/);
  });

  test("is honest about special tokens and about another strongest word", () => {
    assert.match(
      say({ layer: 0, head: 0 }),
      /10% of its attention to “tired”, rank 1 of 6 heads by weight; the largest share goes to \[CLS\] \(90%\)\.$/,
    );
    assert.match(say({ picked: 6 }), /“the” at position 6, .*; the largest share goes to “animal” \(60%\)\.$/);
    assert.match(say({ pivot: 2, picked: 1 }), /“animal” gives 5% .*; the largest share goes to itself \(60%\)\.$/);
    assert.match(say({ pivot: 2, picked: 1, same: false }), /the largest share goes to “animal”/);
  });

  test("sums over the tokens of the word attended to, and averages over those of the other, as Find does", () => {
    assert.match(say({ picked: 5 }), /gives 10% of its attention to “tired”/);
    const twice = { ...ROWS, data: ROWS.data.map((weight) => weight / 2) };
    assert.match(say({ pivot: 4, rows: [ROWS, twice] }), /“tired” gives 45% of its attention to “animal”, the highest/);
    assert.match(say({ facing: "in", picked: 4 }), /“tired” gives 5% of its attention to “was”/);
    assert.match(say({ facing: "in", pivot: 4, picked: 2, rows: [ROWS, twice] }), /“animal” gives 90% .* to “tired”/);
  });

  test("turns round for incoming attention, and waits for numbers", () => {
    assert.equal(
      say({ facing: "in", complete: false }),
      "In head 1-2 of bert, “animal” gives 60% of its attention to “was”.",
    );
    assert.match(say({ facing: "in", picked: 0 }), /\[CLS\] gives 20% .*; “was” gets most from “animal” \(60%\)\.$/);
    assert.equal(say({ rows: null }), "Head 1-2.");
  });

  test("signed numbers are no shares", () => {
    const rows = { ...ROWS, data: ROWS.data.map((weight) => -weight) };
    assert.match(
      say({ signed: true, rows: [rows] }),
      /“was” to “animal” is −0\.60, furthest from zero of all 6 heads\.$/,
    );
  });

  test("the note states the share of a row that goes to no token", () => {
    const rows = { ...ROWS, data: ROWS.data.map((weight) => weight * 0.27) };
    const rest = 1 - slice(rows, 1, 2).reduce((sum, weight) => sum + weight, 0);
    const note = (change) => doubt({ ...facts, rows: [rows], ...change });
    assert.match(note({ rest: "sink" }), new RegExp(`^${Math.round(100 * rest)}% goes to a sink`));
    assert.match(note({ rest: "missing" }), /of its attention is missing\.$/);
    assert.equal(note({ rest: "sink", facing: "in" }), "");
    assert.equal(note({ rest: null }), "");
  });

  test("the note states that a sentence about a word of several tokens is not what the lines show", () => {
    assert.equal(
      doubt({ ...facts, pivot: 4, rows: [ROWS, ROWS] }),
      "“tired”: the numbers combine all 2 tokens; lines and frame show “tir” alone.",
    );
    assert.equal(doubt({ ...facts, pivot: 3 }), "");
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
