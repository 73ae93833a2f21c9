// Tests of the pure functions of viz/components/stack/stack.js and stack_picture.js. Fixtures have rows of unequal
// lengths.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { cellsOf, stackKey, tokenAt } from "./stack.js";
import { paperOf, table } from "./stack_picture.js";

const LENGTHS = [3, 1, 2];
const at = (row, col) => ({ row, col });

describe("keys", () => {
  test("right and left follow the pass from row to row and stop at its ends", () => {
    assert.deepEqual(stackKey("ArrowRight", at(0, 1), LENGTHS), at(0, 2));
    assert.deepEqual(stackKey("ArrowRight", at(0, 2), LENGTHS), at(1, 0));
    assert.deepEqual(stackKey("ArrowRight", at(2, 1), LENGTHS), at(2, 1));
    assert.deepEqual(stackKey("ArrowLeft", at(1, 0), LENGTHS), at(0, 2));
    assert.deepEqual(stackKey("ArrowLeft", at(0, 0), LENGTHS), at(0, 0));
  });
  test("up and down stay inside shorter rows", () => {
    assert.deepEqual(stackKey("ArrowDown", at(0, 2), LENGTHS), at(1, 0));
    assert.deepEqual(stackKey("ArrowUp", at(0, 2), LENGTHS), at(0, 2));
    assert.deepEqual(stackKey("End", at(0, 0), LENGTHS), at(2, 1));
    assert.equal(stackKey("a", at(0, 0), LENGTHS), null);
  });
});

test("a strip's cells have hard edges and touch", () => {
  assert.equal(
    cellsOf(["red", "blue"]),
    "linear-gradient(to right, red 0.000% 50.000%, blue 50.000% 100.000%)",
  );
});

test("the token under a place of a strip", () => {
  assert.deepEqual([0, 0.34, 0.999, 1.2].map((share) => tokenAt(share, 3)), [0, 1, 2, 2]);
});

test("a file has every part, its texts as text", () => {
  /** @type {import("./stack.js").StackData} */
  const data = {
    title: "The pass",
    note: "",
    chosen: 7,
    about: [["text", "<b>"]],
    rows: [{ name: "Layer 0", tokens: ["a", "b"], parts: [{ name: "=norm", title: "", pick: 7, levels: [0, 255] }] }],
  };
  assert.match(table(data), /row,part,position,share\r\nLayer 0,'=norm,0,0\r\nLayer 0,'=norm,1,1\r\n/);
  const said = [];
  const pen = { text: (text) => said.push(text), rect: () => {} };
  Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });
  paperOf(data).draw(/** @type {import("../shared/pens.js").Pen} */ (/** @type {unknown} */ (pen)));
  assert.ok(["The pass", "Layer 0", "=norm", "text: <b>"].every((text) => said.includes(text)));
});
