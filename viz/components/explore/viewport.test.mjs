import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { clampView, fitView, matrixKey, shownCells, tileWindow, zoomAt } from "./viewport.js";

describe("the matrix's viewport", () => {
  const area = { w: 400, h: 400 };

  const range = { q0: 0, q1: 8192, k0: 0, k1: 8192 };

  test("everything fits at first", () => {
    const view = fitView(range, area);
    assert.deepEqual(shownCells(view, range, area), { q0: 0, q1: 8192, k0: 0, k1: 8192 });
    assert.equal(fitView({ q0: 0, q1: 5, k0: 0, k1: 7 }, { w: 800, h: 400 }).scale, 64);
    assert.equal(fitView({ q0: 0, q1: 5, k0: 0, k1: 7 }, area).scale, 57);
  });

  test("zooming keeps the point under the pointer", () => {
    const before = fitView(range, area);
    const after = zoomAt(before, range, area, 8, 200, 100);
    assert.ok(Math.abs(before.k + 200 / before.scale - (after.k + 200 / after.scale)) < 1e-6);
    assert.ok(Math.abs(before.q + 100 / before.scale - (after.q + 100 / after.scale)) < 1e-6);
  });

  test("a view never leaves its range", () => {
    const view = clampView({ scale: 10, q: 9000, k: -5 }, range, area);
    assert.deepEqual(view, { scale: 10, q: 8152, k: 0 });
    assert.ok(zoomAt(view, range, area, 1e-9, 0, 0).scale >= 400 / 8192);
  });

  test("a short text is fetched whole, a long one by aligned windows of at most 512 cells", () => {
    assert.deepEqual(tileWindow({ q0: 3, q1: 9, k0: 3, k1: 9 }, { q0: 0, q1: 512, k0: 0, k1: 512 }), {
      q0: 0,
      q1: 512,
      k0: 0,
      k1: 512,
    });
    for (const scale of [0.06, 0.3, 1, 5, 64]) {
      const shown = shownCells(clampView({ scale, q: 3001.5, k: 777 }, range, area), range, area);
      const tile = tileWindow(shown, range);
      assert.ok(tile.q0 <= shown.q0 && tile.q1 >= shown.q1 && tile.k0 <= shown.k0 && tile.k1 >= shown.k1);
      if (shown.q1 - shown.q0 <= 448) assert.ok(tile.q1 - tile.q0 <= 512, `exact at scale ${scale}`);
      assert.equal(tile.q0 % 32, 0);
    }
  });

  test("keys move the cell, zoom, pan and keep", () => {
    const small = { q0: 0, q1: 5, k0: 0, k1: 7 };
    assert.deepEqual(matrixKey("ArrowRight", false, { row: 1, col: 6 }, small), { row: 1, col: 6 });
    assert.deepEqual(matrixKey("ArrowDown", false, { row: 1, col: 6 }, small), { row: 2, col: 6 });
    assert.deepEqual(matrixKey("ArrowDown", true, { row: 1, col: 6 }, small), { pan: [1, 0] });
    assert.deepEqual(matrixKey("+", true, { row: 0, col: 0 }, small), { zoom: 1.5 });
    assert.deepEqual(matrixKey("Enter", false, { row: 0, col: 0 }, small), { keep: true });
    assert.equal(matrixKey("a", false, { row: 0, col: 0 }, small), null);
  });
});
