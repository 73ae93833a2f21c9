// The diverging palette of viz/components/shared/colours.js; the sequential one is tested beside the view that it was made for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { colourAt, contrast, divergingRamp, inkOn, levelAround, luminance, parseColour } from "./colours.js";

describe("the diverging palette", () => {
  for (const dark of [false, true]) {
    const table = divergingRamp(dark);
    const at = (i) => luminance(colourAt(table, i));

    test(`what is further from zero stands out more, ${dark ? "dark" : "light"}`, () => {
      const sign = dark ? 1 : -1;
      for (let i = 129; i < 256; i++) assert.ok(sign * (at(i) - at(i - 1)) >= 0, `above, ${i}`);
      for (let i = 126; i >= 0; i--) assert.ok(sign * (at(i) - at(i + 1)) >= 0, `below, ${i}`);
    });

    test(`both signs weigh alike, ${dark ? "dark" : "light"}`, () => {
      for (const step of [32, 64, 96, 127]) assert.ok(contrast(colourAt(table, 127 - step), colourAt(table, 128 + step)) < 1.25, `step ${step}`);
    });

    test(`text can be read on every colour, ${dark ? "dark" : "light"}`, () => {
      for (let i = 0; i < 256; i++) assert.ok(contrast(colourAt(table, i), parseColour(inkOn(colourAt(table, i)))) >= 4.5, `level ${i}`);
    });
  }

  test("a number's place: the ends, the middle, and nothing beyond", () => {
    assert.deepEqual([-3, -9, 3, 0].map((value) => levelAround(value, 3)), [0, 0, 255, 128]);
  });
});
