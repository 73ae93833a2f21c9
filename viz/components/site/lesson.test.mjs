import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { worksheetText } from "./lesson.js";
import { textOfTree } from "./markup.js";
import { createProgress, isOver } from "./progress.js";
import { accepts, normalizeWord, numberOf } from "./question.js";

/** Return a store like localStorage. */
const memory = (kept = {}) => ({ getItem: (key) => kept[key] ?? null, setItem: (key, value) => (kept[key] = value) });

describe("progress", () => {
  test("answers of a lesson survive a reload, by the site's path", () => {
    const store = memory();
    const first = createProgress("/a/", store);
    first.note("order", 2, { answer: "x", tries: 1, right: true });
    first.note("order", 2, { hints: 1 });
    first.setPlace("order", 2);
    const again = createProgress("/a/", store);
    const { answer, hints, right } = again.answer("order", 2);
    assert.deepEqual([again.place("order"), answer, hints, right], [2, "x", 1, true]);
    assert.equal(createProgress("/b/", store).place("order"), 0);
    again.forget("order");
    assert.deepEqual([again.place("order"), again.answer("order", 2).tries], [2, 0]);
  });
  test("an answered question is right, kept or revealed", () => {
    const none = { tries: 0, right: null, revealed: false };
    assert.equal(isOver(none), false);
    assert.equal(isOver({ ...none, tries: 1 }), true);
    assert.equal(isOver({ ...none, tries: 1, right: false }), false);
    assert.equal(isOver({ ...none, tries: 1, right: false, revealed: true }), true);
    const progress = createProgress("/", undefined);
    progress.note("a", 1, { tries: 1, right: true });
    progress.note("a", 3, { tries: 1, right: false });
    assert.equal(progress.count("a", [1, 2, 3]), 2);
  });
  test("damaged and full storage is no error", () => {
    const full = { getItem: () => "{", setItem: () => assert.fail("full") };
    const progress = createProgress("/", full);
    progress.note("__proto__", 0, { tries: 1 });
    progress.note("a", 0, { tries: 1 });
    assert.equal(progress.answer("a", 0).tries, 1);
    for (const kept of ["[]", '{"a": 3}', '{"a": {"answers": 1, "place": "x"}}']) {
      const damaged = createProgress("/", memory({ "headlight lessons /": kept }));
      assert.deepEqual([damaged.place("a"), damaged.answer("a", 0).tries], [0, 0]);
    }
  });
});

test("a number may have a decimal comma, a true minus, a fraction bar and a percent sign", () => {
  const read = ["0.5", " 0,5 ", "−2", "1/4", "22%", "22 ％"].map(numberOf);
  assert.deepEqual(read.map((number) => number?.value), [0.5, 0.5, -2, 0.25, 22, 22]);
  assert.deepEqual(read.map((number) => number?.sign), [false, false, false, false, true, true]);
  assert.deepEqual(["", "x", "Infinity", "%", "1/0", "/2", "22%%"].map(numberOf), Array(7).fill(null));
});
test("a percent sign makes a share, or a number in per cent", () => {
  const plain = { tolerance: 0.005, is_share: false, is_percentage: false };
  const answer = (number, given, more = {}) => accepts({ ...plain, answers: [number], ...more }, "number", given);
  assert.deepEqual([answer(1, "100%"), answer(1, "1%"), answer(1, "100")], [true, false, false]);
  assert.deepEqual([answer(0.22, "22 %"), answer(22, "22%"), answer(22, "0,22")], [true, true, false]);
  const inPercent = { is_percentage: true };
  assert.deepEqual([answer(0.8, "0.8%", inPercent), answer(0.8, "80%", inPercent)], [true, false]);
});
test("a percentage answers a question about a share, but not one in bits", () => {
  const share = { answers: [0.85], tolerance: 0.005, is_share: true };
  assert.deepEqual([0.85, 85, 8.5].map((given) => accepts(share, "number", given)), [true, true, false]);
  assert.equal(accepts({ answers: [0.33], tolerance: 0.3, is_share: false }, "number", 7), false);
});

test("an article, quotes and final punctuation of a word do not count", () => {
  assert.deepEqual(["the dog", " “A dog.” ", "The 'dog'!", "dog。"].map(normalizeWord), ["DOG", "DOG", "DOG", "DOG"]);
  assert.deepEqual(["the", "An", "?", "theory", "a"].map(normalizeWord), ["THE", "AN", "?", "THEORY", "A"]);
  const the = { answers: ["the"], tolerance: 0, is_share: false, is_percentage: false };
  assert.deepEqual(["“The”", "a", "dog"].map((given) => accepts(the, "word", given)), [true, false, false]);
});

test("the text of a tree has a line for each block", () => {
  assert.equal(textOfTree([["p", "a ", ["strong", "b"]], ["ul", ["li", "c"]]]), "a b\nc\n\n");
});

test("the worksheet has every question with its answer", () => {
  const progress = createProgress("/", undefined);
  progress.note("own", 1, { text: "one\ntwo", tries: 1, right: false });
  const steps = [{ title: "Look" }, { title: "Say", question: { ask: [["p", "Which?"]] } }];
  const lines = worksheetText({ name: "own", title: "Own", steps }, progress).split("\n");
  assert.deepEqual(lines.filter(Boolean), ["# Own", "## 2. Say", "Which?", "> one", "> two", "Not right."]);
});
