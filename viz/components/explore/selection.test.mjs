import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DATA } from "../shared/cases.mjs";
import {
  attendingLayer,
  changed,
  createEchoes,
  ends,
  FIRST,
  fitSelection,
  neighbour,
  togglePin,
  turned,
} from "./selection.js";

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

  test("a new word that is asked about is asked for its own strongest link", () => {
    const out = { ...FIRST, focus: 3, target: 2 };
    assert.equal(changed(out, { focus: 4 }).target, null);
    assert.equal(changed(out, { focus: 3 }).target, 2, "the same word keeps what was picked");
    assert.deepEqual(ends(changed(out, { focus: 4, target: 1 })), ["focus", "target"]);
    assert.equal(changed(out, { focus: 4, target: 1 }).target, 1);
    assert.equal(changed(out, { target: 1 }).focus, 3);
    const into = { ...out, facing: "in" };
    assert.equal(changed(into, { target: 4 }).focus, null);
    assert.equal(changed(into, { focus: 4 }).target, 2);
    assert.deepEqual(changed(out, null), out);
  });

  test("the same word asked the other way is the link's other end, and back", () => {
    const out = { ...FIRST, focus: 3, target: 2 };
    const into = changed(out, turned(out, "in", false));
    assert.deepEqual([into.facing, into.focus, into.target], ["in", null, 3]);
    const back = changed(into, turned({ focus: 5, target: 3 }, "out", false));
    assert.deepEqual([back.facing, back.focus, back.target], ["out", 3, null]);
    const cross = changed(out, turned({ focus: 3, target: 2 }, "in", true));
    assert.deepEqual([cross.facing, cross.focus, cross.target], ["in", 3, 2], "of two texts the link stays");
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
    assert.equal(echoes.isNews(at(1)), true); // the back button
  });

  test("where the server sends no echo, what stood before is news", () => {
    const echoes = createEchoes();
    const at = (head) => ({ ...FIRST, head });
    echoes.isNews(at(0));
    echoes.sent(at(1));
    echoes.settled(at(1));
    assert.equal(echoes.isNews(at(1)), false, "a run for another reason tells it again");
    assert.equal(echoes.isNews(at(0)), true, "the way back");
  });

  test("a layer without attention is passed over in the direction of the move", () => {
    const data = { ...DATA, layers: 5, attending: [1, 3] };
    assert.deepEqual([[2, 1], [2, 3], [4, 3], [0, 1], [3, 1]].map((move) => attendingLayer(data, ...move)), [
      3,
      1,
      3,
      1,
      3,
    ]);
    assert.equal(fitSelection(data, { layer: 2 }).layer, 3);
    assert.deepEqual(fitSelection(data, { pinned: [[2, 0], [3, 0]] }).pinned, [[3, 0]]);
    assert.equal(attendingLayer(DATA, 0), 0);
  });

  test("the head after the last is the first, whichever layers have attention", () => {
    const data = { ...DATA, layers: 5, heads: 2, attending: [1, 3] };
    const steps = [[1, 0, 1], [1, 1, 1], [3, 1, 1], [1, 0, -1]];
    const found = steps.map(([layer, head, sign]) => neighbour(data, layer, head, sign));
    assert.deepEqual(found.map(({ layer, head }) => [layer, head]), [[1, 1], [3, 0], [1, 0], [3, 1]]);
    assert.deepEqual(neighbour({ ...DATA, layers: 2, heads: 2 }, 1, 1, 1), { layer: 0, head: 0 });
  });
});
