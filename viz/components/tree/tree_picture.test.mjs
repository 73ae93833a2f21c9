// Tests of the pure functions of viz/components/tree/tree_picture.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { boxWidth, showsValue, toldOf } from "./tree_picture.js";

describe("what is told of a node", () => {
  const data = { unit: "log-probability", names: { kept: "goes on", dropped: "left" } };

  test("text, value, kind and note; nothing invisible", () => {
    assert.deepEqual(toldOf({ text: "tired", kind: "kept", value: -1.234, note: "step 3" }, data), [
      "tired",
      "log-probability −1.23",
      "goes on",
      "step 3",
    ]);
    assert.deepEqual(toldOf({ text: " ", kind: "dropped" }, { ...data, unit: "" }), ["␣", "left"]);
  });

  test("dropped nodes show their value where there is room", () => {
    assert.equal(showsValue({ kind: "dropped", value: 1 }, false), false);
    assert.equal(showsValue({ kind: "dropped", value: 1 }, true), true);
    assert.equal(showsValue({ kind: "kept", value: 0 }, false), true);
    assert.equal(showsValue({ kind: "kept" }, true), false);
  });

  test("a box has room for text and value, and is never too small to touch", () => {
    const measure = (text, size) => text.length * size;
    assert.equal(boxWidth({ text: "ab", kind: "kept" }, true, measure), 44);
    assert.equal(boxWidth({ text: "ab", kind: "kept", value: 0.5 }, true, measure), 44 + 6 + 4 * 11.5);
    assert.equal(boxWidth({ text: "i", kind: "kept" }, true, () => 3), 24);
    assert.equal(boxWidth({ text: "x".repeat(99), kind: "kept" }, true, measure), 24 * 14 + 16);
  });
});
