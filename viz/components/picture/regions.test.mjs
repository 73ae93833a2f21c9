// Tests of the pure functions of regions.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { nearest, regionBetween, stepOf } from "./regions.js";

/** @type {import("./picture_looks.js").PatchGrid} */
const GRID = { rows: 2, columns: 3, start: 2, box: [0.25, 0, 1, 0.5] };

describe("regions", () => {
  test("a region lies between two patches, whichever was first", () => {
    assert.deepEqual(regionBetween({ row: 1, column: 0 }, { row: 0, column: 2 }), [0, 0, 1, 2]);
    assert.deepEqual(regionBetween({ row: 1, column: 1 }, { row: 1, column: 1 }), [1, 1, 1, 1]);
  });
  test("keys stop at the edges, and other keys lead nowhere", () => {
    assert.deepEqual(stepOf("ArrowDown", { row: 0, column: 1 }, GRID), { row: 1, column: 1 });
    assert.deepEqual(stepOf("ArrowLeft", { row: 0, column: 0 }, GRID), { row: 0, column: 0 });
    assert.equal(stepOf("a", { row: 0, column: 0 }, GRID), null);
  });
  test("outside of what the model was given, the nearest patch is meant", () => {
    assert.deepEqual(nearest(GRID, 0, 0), { row: 0, column: 0 });
    assert.deepEqual(nearest(GRID, 2, 2), { row: 1, column: 2 });
    assert.deepEqual(nearest(GRID, 0.6, 0.1), { row: 0, column: 1 });
  });
});
