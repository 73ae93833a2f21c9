// Tests of the pure functions of viz/components/token_strip/chips.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { continues } from "../explore/cells.js";
import { cell } from "../shared/cases.mjs";
import { shownAtOnce, shownText } from "./chips.js";

describe("a row of chips", () => {
  test("a short text is shown whole, a long one by a window that fits the page", () => {
    assert.equal(shownAtOnce(250, 1200), 250);
    assert.equal(shownAtOnce(251, 1200), 200);
    assert.equal(shownAtOnce(8000, 390), 90);
    assert.equal(shownAtOnce(0, 390), 0);
  });

  test("Arabic pieces keep their joined forms", () => {
    const cells = [cell("متع", 0), cell("بة", 0), cell("جدا", 1)];
    assert.deepEqual(
      cells.map((_, i) => shownText({ text: cells[i].text, glued: continues(cells, i) }, continues(cells, i + 1))),
      ["متع\u200d", "\u200dبة", "جدا"],
    );
  });
});
