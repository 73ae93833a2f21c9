import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { labelled, labelStep } from "./labels.js";

describe("the matrix's viewport", () => {
  test("labels thin out", () => {
    assert.equal(labelStep(26), 1);
    assert.equal(labelStep(6.5), 2);
    const { plain, forced } = labelled(0, 20, 6.5, [7, -1]);
    assert.deepEqual(forced, [7]);
    assert.ok(!plain.includes(6) && !plain.includes(8) && plain.includes(4));
  });
});
