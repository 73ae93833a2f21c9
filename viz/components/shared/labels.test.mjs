import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { elide, labelled, labelStep } from "./labels.js";

describe("the matrix's viewport", () => {
  test("labels thin out", () => {
    assert.equal(labelStep(26), 1);
    assert.equal(labelStep(6.5), 2);
    const { plain, forced } = labelled(0, 20, 6.5, [7, -1]);
    assert.deepEqual(forced, [7]);
    assert.ok(!plain.includes(6) && !plain.includes(8) && plain.includes(4));
  });
});

describe("a label", () => {
  let looks = 0;
  const measureText = (text) => ({ width: 10 * [...text].length, looks: looks++ });
  globalThis.document = { createElement: () => ({ getContext: () => ({ measureText }) }) };

  test("is cut where there is no room for more, and one letter always stays", () => {
    assert.equal(elide("animal", 60, ""), "animal");
    assert.equal(elide("animal", 59, ""), "anim…");
    assert.equal(elide("a猫b", 20, ""), "a…");
    assert.equal(elide("animal", 5, ""), "a…");
    assert.equal(elide("a", 5, ""), "a…");
  });
  test("of many letters is measured a few times, not once for each", () => {
    looks = 0;
    assert.equal(elide("9".repeat(10_000), 80, ""), "9999999…");
    assert.ok(looks < 20, `${looks}`);
  });
});
