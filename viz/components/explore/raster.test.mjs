import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { thumbTile } from "./raster.js";

describe("pooling", () => {
  test("a small map becomes a tile over all cells", () => {
    const grid = {
      layers: 2,
      heads: 3,
      rows: 1,
      cols: 2,
      data: Uint8Array.from({ length: 12 }, (_, i) => i * 20),
      sampled: false,
    };
    const tile = thumbTile(grid, 1, 2, 5, 7);
    assert.deepEqual([tile.q1, tile.k1, tile.rows, tile.cols], [5, 7, 1, 2]);
    assert.ok(Math.abs(tile.data[1] - (220 / 255) ** 2) < 1e-6);
  });
});
