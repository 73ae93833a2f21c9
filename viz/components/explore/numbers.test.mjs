import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { argmax, edge, isExact, minus, niceTop, pooledIndex, poolMax, short, tileAt } from "./numbers.js";

describe("numbers", () => {
  test("weights are short but never falsely zero", () => {
    assert.deepEqual([0, 0.677, 1, 0.004, 0.0001].map(short), ["0.00", "0.68", "1.00", "0.004", "<0.001"]);
  });

  test("a scale ends at the largest weight rounded up", () => {
    assert.deepEqual([0.677, 0.95, 1, 0.0123, 0.2, 0.2039, 0].map(niceTop), [0.7, 1, 1, 0.02, 0.2, 0.2, 1]);
  });
});

describe("pooling", () => {
  test("edges and their inverse agree with attention/view.py", () => {
    assert.deepEqual([0, 1, 2].map((i) => edge(i, 7, 3)), [0, 2, 4]);
    for (const [length, cells] of [[7, 3], [17, 17], [100, 48], [8192, 500]]) {
      for (let j = 0; j < length; j++) {
        const i = pooledIndex(j, length, cells);
        assert.ok(edge(i, length, cells) <= j && j < edge(i + 1, length, cells));
      }
    }
  });

  test("the largest of each cell survives", () => {
    const values = new Float32Array([1, 2, 0, 0, 0, 5]);
    assert.deepEqual([...poolMax(values, 3, [0, 2], [0, 3], 2, 2)], [1, 2, 0, 5]);
    assert.deepEqual([...poolMax(values, 3, [1, 2], [1, 3], 1, 1)], [5]);
    assert.deepEqual([...poolMax(values, 3, [0, 2], [0, 3], 2, 3)], [...values]);
  });

  test("a thin diagonal is never lost", () => {
    const n = 97;
    const values = Float32Array.from({ length: n * n }, (_, i) => (Math.floor(i / n) === i % n ? 1 : 0));
    const pooled = poolMax(values, n, [0, n], [0, n], 10, 10);
    for (let i = 0; i < 10; i++) assert.equal(pooled[i * 11], 1);
  });

  test("a tile says what it holds at a and over how many", () => {
    const tile = { q0: 2, q1: 7, k0: 0, k1: 7, rows: 2, cols: 3, data: new Float32Array([1, 2, 3, 4, 5, 6]) };
    assert.deepEqual(tileAt(tile, 2, 0), { value: 1, rows: 2, cols: 2 });
    assert.deepEqual(tileAt(tile, 6, 6), { value: 6, rows: 3, cols: 3 });
    assert.equal(tileAt(tile, 1, 0), null);
    assert.equal(tileAt(tile, 2, 7), null);
    assert.equal(isExact(tile), false);
    assert.equal(isExact({ ...tile, rows: 5, cols: 7 }), true);
  });
});

describe("numbers with signs", () => {
  test("a minus stands before their size", () => {
    assert.deepEqual([-0.677, -0.004, -0.0001].map(short), ["−0.68", "−0.004", "−<0.001"]);
    assert.equal(minus("-1.0e-5"), "−1.0e-5");
  });

  test("the one furthest from zero stands for its cell, as far_pool() has it", () => {
    const values = [0.2, -0.75, 0.125, 0, 0.25, 0.5, 0, -0.125];
    assert.deepEqual([...poolMax(values, 4, [0, 2], [0, 4], 2, 2)], [-0.75, 0.125, 0.5, -0.125]);
    assert.deepEqual([...poolMax(values, 4, [0, 2], [0, 4], 1, 2)], [-0.75, 0.125]);
    assert.equal(argmax(values), 1);
    assert.equal(argmax(values, undefined, Number), 5);
    assert.equal(argmax([-0.3, 0.09, -0.13], (i) => i !== 1, Number), 2);
    assert.equal(argmax([], undefined, Number), -1);
  });
});
