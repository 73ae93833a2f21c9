import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { fill } from "../shared/words.js";

describe("links and tables", () => {
  test("wordings are filled in and unknown names left", () => {
    assert.equal(fill("{a} and {b}", { a: 1 }), "1 and {b}");
  });
});
