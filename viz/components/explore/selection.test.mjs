import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DATA } from "../shared/cases.mjs";
import { createEchoes, FIRST, fitSelection, togglePin } from "./selection.js";

describe("the selection", () => {
  test("is brought into range", () => {
    const wild = fitSelection(DATA, {
      layer: 9,
      head: -1,
      focus: 5,
      target: 6,
      tab: "x",
      scale: "linear",
      filter: "ab",
      pinned: [[0, 1], [5, 5], "no"],
    });
    assert.deepEqual(wild, { ...FIRST, target: 6, scale: "linear", pinned: [[0, 1]] });
    assert.deepEqual(fitSelection(DATA, undefined), FIRST);
  });

  test("heads are pinned and unpinned, eight at most", () => {
    assert.deepEqual(togglePin([[0, 1]], 0, 1), []);
    let pinned = [];
    for (let head = 0; head < 10; head++) pinned = togglePin(pinned, 0, head);
    assert.equal(pinned.length, 8);
    assert.deepEqual(pinned.at(-1), [0, 9]);
  });

  test("an echo of what was sent is no news; a link or the back button is", () => {
    const echoes = createEchoes();
    const at = (head) => ({ ...FIRST, head });
    assert.equal(echoes.isNews(at(0)), true);
    assert.equal(echoes.isNews(at(0)), false);
    echoes.sent(at(1));
    echoes.sent(at(2));
    assert.equal(echoes.isNews(at(1)), false);
    assert.equal(echoes.isNews({ pinned: [], ...at(2) }), false);
    assert.equal(echoes.isNews(at(1)), true); // back
  });
});
