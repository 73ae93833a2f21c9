// Tests of the pure functions of viz/components/block/block.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrangement, spoken } from "./block.js";

const drawing = (width) => ({ width, height: 10, shapes: [] });
const data = { wide: drawing(688), narrow: drawing(344) };

describe("the block", () => {
  test("two towers stand beside each other where there is room, and the explanation beside them", () => {
    assert.deepEqual(arrangement(1100, data), { wide: true, beside: true });
    assert.deepEqual(arrangement(700, data), { wide: true, beside: false });
    assert.deepEqual(arrangement(687, data), { wide: false, beside: true });
    assert.deepEqual(arrangement(366, data), { wide: false, beside: false });
  });

  test("a screen reader hears title and notes", () => {
    assert.equal(spoken({ title: ["Masked", "self-attention"], notes: ["3 heads"] }), "Masked self-attention, 3 heads");
  });
});
