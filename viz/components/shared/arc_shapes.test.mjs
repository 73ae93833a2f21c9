import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arcBetween, arcWidth } from "./arc_shapes.js";

const box = (left, top) => ({ left, top, width: 40, height: 20 });
/** Return the numbers of a path: x and y in turn. */
const points = (path) => path.match(/-?[\d.]+/g).map(Number);

describe("a line between two chips", () => {
  test("a line in one row rises above the words and stays in its room, to the left as to the right", () => {
    for (const key of [box(200, 50), box(-160, 50)]) {
      const { path, tip } = arcBetween(box(0, 50), key, 24, 200, 3);
      const [x1, y1, , c1, , c2, x2, y2] = points(path);
      assert.deepEqual([x1, y1, x2], [20, 50, key.left + 20]);
      assert.ok(y2 < 50, "the arrowhead has room above the key");
      assert.ok(Math.min(c1, c2) < y1 && 0.75 * (50 - c1) <= 24, "a cubic curve reaches 3/4 of its control points");
      assert.deepEqual(points(tip).slice(0, 2), [key.left + 20, 50]);
    }
  });

  test("a longer line is higher than a shorter one", () => {
    const [near, far] = [box(60, 50), box(300, 50)].map((key) =>
      points(arcBetween(box(0, 50), key, 24, 300, 1).path)[3]
    );
    assert.ok(far < near);
  });

  test("between rows a line leaves and arrives in the gap, and points at the key", () => {
    const [upper, lower] = [box(0, 0), box(100, 60)];
    const down = arcBetween(upper, lower, 24, 100, 3);
    assert.deepEqual([points(down.path)[1], points(down.tip)[1]], [20, 60]);
    assert.ok(points(down.tip)[3] < 60);
    const up = arcBetween(lower, upper, 24, 100, 3);
    assert.deepEqual([points(up.path)[1], points(up.tip)[1]], [60, 20]);
    assert.ok(points(up.tip)[3] > 20);
  });

  test("a word that attends to itself has a loop", () => {
    const one = box(0, 50);
    const [x1, , , , , , x2] = points(arcBetween(one, one, 24, 0, 3).path);
    assert.ok(x1 < x2);
  });

  test("its width grows with the weight, of any sign, up to that of the largest", () => {
    assert.deepEqual([arcWidth(0), arcWidth(1), arcWidth(-1), arcWidth(0.2, 0.2)], [1, 9, 9, 9]);
    assert.ok(arcWidth(0.2) < arcWidth(0.3));
  });
});
