import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { cell, DATA, HEADS, LAYERS, SENTENCE } from "../shared/cases.mjs";
import { baselinesOf, beyond, placed, usual } from "./crowd.js";
import { doubt, strongestHead, topLinks, truth } from "./truth.js";
import { WORDS } from "./words.js";

const data = { ...DATA, queries: SENTENCE, keys: null };
const KEYS = SENTENCE.length;

/** Column means for six words: five other words attend to each key, with the mean weight `mean`. */
function crowd(mean, summed = null) {
  return {
    heads: HEADS,
    means: new Float32Array(LAYERS * HEADS * KEYS).fill(mean),
    counts: new Float32Array(LAYERS * KEYS).fill(5),
    summed,
  };
}
const link = { layer: 1, head: 2, query: 3, key: 2, weight: 0.6 };

describe("what other words give", () => {
  test("the query itself is taken out of the mean", () => {
    assert.ok(Math.abs(usual(crowd(0.2), data, link) - (5 * 0.2 - 0.6) / 4) < 1e-6);
  });
  test("a special token, the key itself and a row that was not read are not in it", () => {
    for (const change of [{ query: 0 }, { query: 2 }]) {
      assert.ok(Math.abs(usual(crowd(0.2), data, { ...link, ...change }) - 0.2) < 1e-6);
    }
    assert.ok(Math.abs(usual(crowd(0.2, new Set([1])), data, link) - 0.2) < 1e-6);
    const two = { ...data, keys: SENTENCE };
    assert.ok(Math.abs(usual(crowd(0.2), two, { ...link, query: 2 }) - 0.1) < 1e-6, "of two texts it is another's");
  });
  test("rounding takes nothing below zero, and where nobody else looks nothing is known", () => {
    assert.equal(usual(crowd(0.1), data, link), 0);
    const one = { ...crowd(0.6), counts: new Float32Array(LAYERS * KEYS).fill(1) };
    assert.ok(Number.isNaN(usual(one, data, link)));
  });
});

describe("what a place gets", () => {
  const reach = 1; // places: far back, previous, itself, next, far on, first, special
  const means = DATA.measures &&
    Array.from({ length: LAYERS }, () => Array.from({ length: HEADS }, () => [0.01, 0.1, 0.2, 0.3, 0.02, 0.5, 0.4]));
  const grid = { habits: { means, reach, first: true } };
  const at = (query, key, one = data) => placed(grid, one, { layer: 0, head: 0, query, key });
  test("by distance, the first token and special ones apart", () => {
    assert.deepEqual([at(3, 1), at(3, 2), at(3, 3), at(3, 4), at(3, 5), at(3, 0)], [0.01, 0.1, 0.2, 0.3, 0.02, 0.5]);
    const end = { ...data, queries: [...SENTENCE, { ...cell("[SEP]", null), at: [7, 8] }] };
    assert.equal(at(3, 7, end), 0.4);
    assert.equal(at(0, 0), 0.2, "itself, though it is the first");
  });
  test("a word is the sum over its pieces, seen from the mean of the other's", () => {
    const word = { ...cell("tired", 3), at: [4, 6] };
    const words = { ...data, queries: [...SENTENCE.slice(0, 4), word, { ...SENTENCE[6] }] };
    assert.ok(Math.abs(at(3, 4, words) - (0.3 + 0.02)) < 1e-9);
    assert.ok(Math.abs(at(4, 3, words) - (0.1 + 0.01) / 2) < 1e-9);
  });
  test("nothing is known without habits", () =>
    assert.equal(placed({ habits: null }, data, { layer: 0, head: 0, query: 3, key: 2 }), null));
});

describe("beyond both", () => {
  test("the larger doubt counts, and what is not known is none", () => {
    assert.ok(Math.abs(beyond(0.6, { usual: 0.1, placed: 0.2 }) - 0.4) < 1e-9);
    assert.ok(Math.abs(beyond(0.6, { usual: NaN, placed: null }) - 0.6) < 1e-9);
    const named = baselinesOf(0.5, { usual: 0.125, placed: 0.25 });
    assert.deepEqual(named, { columnMean: 0.125, prior: 0.25, aboveBaseline: 0.25 });
    const unknown = baselinesOf(0.5, { usual: NaN, placed: null });
    assert.deepEqual(unknown, { columnMean: null, prior: null, aboveBaseline: 0.5 });
  });
  test("links are ordered and heads compared by it", () => {
    const rows = { layers: 1, heads: 2, count: 2, data: new Float32Array([0.7, 0.1, 0.5, 0.2]) };
    const strength = (id, _token, weight) => (id === 0 ? weight - 0.6 : weight);
    assert.deepEqual(topLinks(rows, 2, undefined, strength).map(({ head, token }) => [head, token]), [[1, 0], [1, 1]]);
    assert.deepEqual(topLinks(rows, 1).map(({ head, weight }) => [head, weight.toFixed(1)]), [[0, "0.7"]]);
  });
  test("the note states both numbers and the rank corrected for them", () => {
    const facts = {
      say: WORDS,
      model: "bert",
      layer: 0,
      head: 1,
      facing: "out",
      pivot: 3,
      pivots: SENTENCE,
      others: SENTENCE,
      same: true,
      rows: [{
        layers: 1,
        heads: 2,
        count: 7,
        data: new Float32Array([0, 0, 0.7, 0, 0, 0, 0, 0.1, 0, 0.68, 0, 0, 0, 0]),
      }],
      strength: (id, _token, weight) => weight - [0.5, 0.11][id],
    };
    const said = (doubts, more = {}) => doubt({ ...facts, ...more, doubts: () => doubts });
    const numbers = (/** @type {string} */ text) => text.match(/\d+/g)?.map(Number);
    assert.deepEqual(numbers(said({ usual: 0.11, placed: 0.04 })), [11, 57, 1, 2]);
    const chinese = said({ usual: 0.11, placed: 0.04 }, { say: { ...facts.say, clauses: "{names}；{then}" } });
    assert.equal(chinese.split("；").length, 2, "a language joins clauses by its own mark");
    const prior = said({ usual: 0.1, placed: 0.9 }, { strength: (_id, _token, weight) => weight - 0.9 });
    assert.deepEqual(numbers(prior)?.slice(0, 2), [10, 90], "the larger is the prior");
    assert.deepEqual(numbers(said({ usual: 0.1, placed: 0.1 }, { strength: null })), [10]);
    assert.equal(said({ usual: NaN, placed: null }), "");
    assert.equal(
      said({ usual: 0.1, placed: 0.1 }, { picked: 4 }),
      "",
      "the baselines are those of tokens, not of words",
    );
    assert.match(said({ usual: 0.39, placed: null }, { pivot: 2, picked: 2, strength: null }), /“animal”.* 39%/);
    const below = said({ usual: 0.9, placed: null }, { strength: (_id, _token, weight) => weight - 0.9 });
    assert.deepEqual(numbers(below), [90, 22, 2, 2]);
    assert.doesNotMatch(below, /[-−]\d/, "a size and a direction instead of a sign");
    const rows = [{ ...facts.rows[0], data: facts.rows[0].data.map((weight) => weight - 0.004) }];
    const fine = said({ usual: 0.082, placed: null }, { rows, strength: (_id, _token, weight) => weight - 0.082 });
    assert.match(fine, /8\.2%.*59\.4 percentage points/, "68% − 8% is not 59%, so that decimals show the sum");
    const sentence = truth({
      ...facts,
      rows,
      doubts: () => ({ usual: 0.082, placed: null }),
      strength: (_id, _token, weight) => weight - 0.082,
    });
    assert.match(sentence, /67\.6%/, "the weight has the decimals of its baseline");
    const little = said({ usual: 0.67, placed: null }, { strength: (_id, _token, weight) => weight - 0.67 });
    assert.match(little, /67\.0%.*1\.0 percentage points/, "a single point would need a singular");
    const words = { focus: 3, target: 2 };
    const byWeight = { layer: 0, head: 0, ...words, by: "weight" };
    assert.deepEqual(strongestHead({ ...facts, head: 1, strength: null }), byWeight);
    assert.equal(strongestHead(facts), null, "the chosen head is the strongest");
    assert.deepEqual(strongestHead({ ...facts, head: 0 }), { layer: 0, head: 1, ...words, by: "excess" });
    const turned = strongestHead({ ...facts, head: 0, facing: "in", picked: 1 });
    assert.deepEqual([turned?.focus, turned?.target], [1, 3], "the two words of the sentence, whichever asks");
    assert.equal(strongestHead({ ...facts, head: 0, complete: false }), null);
  });
});
