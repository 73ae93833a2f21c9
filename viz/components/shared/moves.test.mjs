import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { stripKey, windowOn } from "./moves.js";

describe("the strip's window", () => {
  test("keys follow the direction of the text", () => {
    assert.deepEqual(stripKey("ArrowRight", 3, 5, false), { index: 4 });
    assert.deepEqual(stripKey("ArrowRight", 3, 5, true), { index: 2 });
    assert.deepEqual(stripKey("ArrowRight", 4, 5, false), { index: 4 });
    assert.deepEqual(stripKey("End", 0, 5, false), { index: 4 });
    assert.equal(stripKey("Enter", 0, 5, false), null); // the button's own click handles Enter
  });

  test("the window moves only when it must", () => {
    assert.equal(windowOn(150, 100, 200, 8192), 100);
    assert.equal(windowOn(4000, 100, 200, 8192), 3900);
    assert.equal(windowOn(8191, 0, 200, 8192), 7992);
    assert.equal(windowOn(null, 9000, 200, 8192), 7992);
    assert.equal(windowOn(3, 0, 10, 5), 0);
  });
});
