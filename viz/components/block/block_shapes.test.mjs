// Tests of the pure functions of viz/components/block/block_shapes.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrowhead, ROLES } from "./block_shapes.js";
import { contrast, parseColour } from "../shared/colours.js";

describe("the block's shapes", () => {
  test("an arrow's head ends where the line ends and points its way", () => {
    for (const [end, before] of [[[10, 30], [10, 0]], [[40, 5], [0, 5]], [[0, 5], [40, 5]]]) {
      const [tip, one, other] = arrowhead([[99, 99], before, end]);
      assert.deepEqual(tip, end);
      const middle = [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2];
      const along = (end[0] - middle[0]) * (end[0] - before[0]) + (end[1] - middle[1]) * (end[1] - before[1]);
      assert.ok(along > 0, "behind the tip");
      assert.equal(Math.hypot(end[0] - middle[0], end[1] - middle[1]), 7);
    }
  });

  test("a line of no length has a head all the same", () => {
    assert.ok(arrowhead([[3, 3], [3, 3]]).flat().every(Number.isFinite));
  });

  test("text can be read on every part, and every part's edge seen", () => {
    const inks = { light: [49, 51, 63], dark: [250, 250, 250] };
    const pages = { light: [255, 255, 255], dark: [14, 17, 23] };
    for (const [theme, roles] of Object.entries(ROLES)) {
      for (const [fill, line] of Object.values(roles)) {
        assert.ok(contrast(parseColour(fill), inks[theme]) >= 7, `${theme} ${fill}`);
        assert.ok(contrast(parseColour(line), pages[theme]) >= 3, `${theme} ${line}`);
      }
    }
  });
});
