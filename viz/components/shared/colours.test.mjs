// The palettes of viz/components/shared/colours.js, and the parsing and mixing of colours.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  ANCHORS,
  colourAt,
  contrast,
  divergingRamp,
  HEAD_COLOURS,
  inkOn,
  level,
  levelAround,
  luminance,
  parseColour,
  printTheme,
  ramp,
  weightOn,
} from "./colours.js";

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
      for (const step of [32, 64, 96, 127]) {
        assert.ok(contrast(colourAt(table, 127 - step), colourAt(table, 128 + step)) < 1.25, `step ${step}`);
      }
    });

    test(`text can be read on every colour, ${dark ? "dark" : "light"}`, () => {
      for (let i = 0; i < 256; i++) {
        assert.ok(contrast(colourAt(table, i), parseColour(inkOn(colourAt(table, i)))) >= 4.5, `level ${i}`);
      }
    });
  }

  test("a number's place: the ends, the middle, and nothing beyond", () => {
    assert.deepEqual([-3, -9, 3, 0].map((value) => levelAround(value, 3)), [0, 0, 255, 128]);
  });
});

test("numbers are bold on the middle tones alone, where no ink stands out", () => {
  for (const table of [ramp(false), ramp(true), divergingRamp(false), divergingRamp(true)]) {
    const weights = Array.from({ length: 256 }, (_, i) => weightOn(colourAt(table, i)));
    assert.ok(weights.includes(600));
    weights.forEach((weight, i) => {
      const ratio = contrast(colourAt(table, i), parseColour(inkOn(colourAt(table, i))));
      assert.equal(weight, ratio < 7 ? 600 : 400, `level ${i}`);
    });
    assert.deepEqual([weights[0], weights[255]], [400, 400]);
  }
});

describe("colour", () => {
  /** Return the OKLab lightness (Björn Ottosson, 2020). */
  const lightness = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    const cone = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [
      0.0883024619,
      0.2817188376,
      0.6299787005,
    ]]
      .map(([x, y, z]) => Math.cbrt(x * r + y * g + z * b));
    return 0.2104542553 * cone[0] + 0.793617785 * cone[1] - 0.0040720468 * cone[2];
  };

  test("the palette's steps are even in lightness, and more is darker on light", () => {
    const steps = ANCHORS.map((hex) => lightness(parseColour(hex)));
    const even = (steps[0] - steps.at(-1)) / (steps.length - 1);
    for (let i = 1; i < steps.length; i++) assert.ok(Math.abs(steps[i - 1] - steps[i] - even) < 0.01, `step ${i}`);
  });

  test("on dark themes it is reversed", () => {
    const [light, dark] = [ramp(false), ramp(true)];
    assert.deepEqual([...light.slice(0, 3)], [...dark.slice(-3)]);
    assert.deepEqual([...light.slice(-3)], [...dark.slice(0, 3)]);
  });

  test("text on any colour of the ramp reads at 4.5 : 1 or better", () => {
    for (const table of [ramp(false), ramp(true)]) {
      for (let i = 0; i < 256; i++) {
        const rgb = [...table.slice(3 * i, 3 * i + 3)];
        assert.ok(contrast(rgb, parseColour(inkOn(rgb))) >= 4.5, `level ${i}`);
      }
    }
  });

  test("levels follow the scale that is named", () => {
    assert.equal(level(0.25, 1, "linear"), 64);
    assert.equal(level(0.25, 1, "sqrt"), 128);
    assert.equal(level(3, 1, "linear"), 255);
    assert.equal(level(0, 0.5, "sqrt"), 0);
  });

  test("Streamlit's ways of writing colours are read", () => {
    assert.deepEqual(parseColour("#0e1117"), [14, 17, 23]);
    assert.deepEqual(parseColour(" #fff "), [255, 255, 255]);
    assert.deepEqual(parseColour("#ff4b4bff"), [255, 75, 75]);
    assert.deepEqual(parseColour("rgba(49, 51, 63, 0.6)"), [49, 51, 63]);
    assert.equal(parseColour(""), null);
    assert.equal(parseColour("url(x)"), null);
  });

  test("eight head colours, all different, on each theme", () => {
    for (const list of Object.values(HEAD_COLOURS)) assert.equal(new Set(list).size, 8);
  });
});

describe("a theme for numbers with signs", () => {
  const [weights, signed] = [printTheme(), printTheme(true)];

  test("its scale has zero in the middle, and as much on both sides", () => {
    for (const scale of ["sqrt", "linear"]) {
      assert.deepEqual([-0.5, 0, 0.5].map((value) => signed.level(value, 0.5, scale)), [0, 128, 255]);
      assert.ok(Math.abs(signed.level(0.1, 1, scale) + signed.level(-0.1, 1, scale) - 255) <= 1);
    }
    assert.ok(signed.level(-0.1, 1, "sqrt") < signed.level(-0.1, 1, "linear"));
  });

  test("its ramp is the diverging one, and that of weights stays", () => {
    assert.deepEqual(signed.ramp, divergingRamp(false));
    assert.deepEqual(weights.ramp, ramp(false));
    assert.notEqual(signed.name, weights.name);
  });
});
