import assert from "node:assert/strict";
import { test } from "node:test";

import { enlargement, placeIn } from "./elements.js";

const canvas = (offsetWidth, width) => ({
  offsetWidth,
  getBoundingClientRect: () => ({ left: 10, top: 20, width }),
});

test("a pointer's place is in the element's own pixels, also if the page is enlarged", () => {
  assert.deepEqual(placeIn(canvas(100, 100), { clientX: 60, clientY: 45 }), [50, 25]);
  assert.deepEqual(placeIn(canvas(100, 160), { clientX: 90, clientY: 60 }), [50, 25]);
});

test("a rounded width is no enlargement, and an element without a width has none", () => {
  assert.equal(enlargement(canvas(41, 40.6)), 1);
  assert.equal(enlargement(canvas(0, 0)), 1);
  assert.equal(enlargement(canvas(525, 840)), 1.6);
});
