// Tests of the pure functions of viz/components/token_strip/token_strip.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { divergingRamp, ramp } from "../shared/colours.js";
import { shadeOf, spoken, stopOf } from "./token_strip.js";

const LIGHT = { ramp: ramp(false), diverging: divergingRamp(false) };
const chips = (...marks) => marks.map((mark, i) => ({ text: `w${i}`, mark }));

describe("the strip", () => {
  test("a screen reader hears the text, its number once, and its mark", () => {
    assert.equal(spoken({ text: "it", title: "0.68", label: "0.68", mark: "chosen" }), "it, 0.68, chosen");
    assert.equal(
      spoken({ text: "it", title: "weight 0.68", label: "mask", mark: "masked" }),
      "it, mask, weight 0.68, masked",
    );
    assert.equal(spoken({ text: " " }), "␣");
    assert.equal(spoken({ text: "猫", unknown: "[UNK]", label: "0.68" }), "猫, read as [UNK], 0.68");
  });

  test("a mark that nobody knows is not spoken", () => {
    assert.equal(spoken({ text: "it", mark: "<b>" }), "it");
  });

  test("nothing has no shade; more is darker; signs differ in hue and not in strength", () => {
    assert.equal(shadeOf({ text: "a" }, false, LIGHT), null);
    assert.equal(shadeOf({ text: "a", shade: 0 }, true, LIGHT), null);
    const sum = (rgb) => rgb.reduce((a, b) => a + b);
    assert.ok(
      sum(shadeOf({ text: "a", shade: 0.9 }, false, LIGHT)) < sum(shadeOf({ text: "a", shade: 0.2 }, false, LIGHT)),
    );
    const [below, above] = [-1, 1].map((shade) => shadeOf({ text: "a", shade }, true, LIGHT));
    assert.deepEqual([below, above], [[0, 57, 103], [88, 42, 0]], "the ends of the palette");
    assert.ok(below[2] > below[0] && above[0] > above[2], "blue below zero, orange above");
  });

  test("a shade beyond its range is the end of the palette", () => {
    assert.deepEqual(shadeOf({ text: "a", shade: 7 }, true, LIGHT), shadeOf({ text: "a", shade: 1 }, true, LIGHT));
  });

  test("Tab reaches the cursor, else the chosen chip, else the first that is shown", () => {
    const five = chips("", "", "chosen", "", "");
    assert.equal(stopOf(five, 4, 1, 4), 4);
    assert.equal(stopOf(five, -1, 1, 4), 2);
    assert.equal(stopOf(five, 0, 3, 2), 3);
    assert.equal(stopOf(chips("", ""), -1, 0, 2), 0);
  });
});
