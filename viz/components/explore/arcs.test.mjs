import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { strongest } from "./arcs.js";

describe("lines above the chips", () => {
  test("small weights have no line, the strongest come first, of any sign", () => {
    assert.deepEqual(strongest([0.01, 0.2, 0.5, 0.03]), [2, 1, 3]);
    assert.deepEqual(strongest([0.01, -0.2, 0.1], 0.2), [1, 2, 0]);
    assert.equal(strongest(new Float32Array(100).fill(0.5)).length, 12);
  });
});
