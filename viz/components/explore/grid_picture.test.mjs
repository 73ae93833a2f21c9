import assert from "node:assert/strict";
import { test } from "node:test";

import { leftWidth } from "./grid_picture.js";

// Node has no canvas to measure text: seven pixels a letter, as in a browser without a canvas context.
Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });

test("the widest label of the lines has room", () => {
  assert.equal(leftWidth(null, "sans-serif"), 26);
  assert.equal(leftWidth([0.5, NaN], "sans-serif"), 3 * 7 + 7); // ".50"
  assert.equal(leftWidth([0.5, -0.01], "sans-serif"), 4 * 7 + 7); // "−.01"
  assert.equal(leftWidth(new Float32Array([-1e-5]), "sans-serif"), 7 * 7 + 7); // "−<0.001"
});
