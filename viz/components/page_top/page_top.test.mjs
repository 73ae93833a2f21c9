import assert from "node:assert/strict";
import { test } from "node:test";

import { onAnother } from "./page_top.js";

test("another place is scrolled to its top, and neither the first nor the same", () => {
  let scrolls = 0;
  const arrive = onAnother(() => scrolls++);
  const counts = ["a/0", "a/0", "a/1", "a/1", "a/0"].map((place) => (arrive(place), scrolls));
  assert.deepEqual(counts, [0, 0, 1, 1, 2]);
});
