import assert from "node:assert/strict";
import { test } from "node:test";

import { changed, continues, createDraft, createPace, isLive, linkOf, overwritten, submits } from "./composer.js";

const value = (text, pair = "") => ({ text, pair, target: "" });

test("a short text is read while it is typed if the box is live", () => {
  assert.equal(isLive(value("A cat"), { live: true }), true);
  assert.equal(isLive(value("A cat"), { live: false }), false);
  assert.equal(isLive(value("  "), { live: true }), false);
  assert.equal(isLive(value("a".repeat(1500)), { live: true }), true);
  assert.equal(isLive(value("a".repeat(1000), "b".repeat(501)), { live: true }), false);
});

test("a sentence goes on if words follow the text at the last pause", () => {
  assert.equal(continues("A cat sat", "A cat"), true);
  assert.equal(continues("一只猫睡着了", "一只猫"), true);
  for (const text of ["A cat.", "A cat", "The cat sat", "A ca"]) assert.equal(continues(text, "A cat"), false, text);
  assert.equal(continues("A cat", null), false, "no pause, or the box was left");
});

test("a text that comes from the box does not overwrite what was typed since", () => {
  const sent = new Set(["A ca", "A cat"]);
  assert.deepEqual(overwritten(value("A"), value("A cat"), sent), []);
  assert.deepEqual(overwritten(value("A cat"), value("A dog"), sent), ["text"]);
  assert.deepEqual(overwritten(null, value("A dog"), new Set([""])), ["text"]);
  assert.deepEqual(changed(value("A"), value("A")), []);
});

test("a typed text that was not submitted is kept for a page with the same text", () => {
  const draft = createDraft();
  draft.keep(value("A"), value("A cat"));
  assert.deepEqual(draft.take(value("A")), value("A cat"));
  assert.deepEqual(draft.take(value("A")), value("A cat"), "the box may be left again");
  assert.equal(draft.take(value("A dog")), null);
  assert.equal(draft.take(value("A")), null, "another text has taken its place");
  draft.keep(value("A"), value("A cat"));
  draft.keep(value("A"), value("A"));
  assert.equal(draft.take(value("A")), null);
  draft.keep(value("A"), value("A cat"));
  draft.forget();
  assert.equal(draft.take(value("A")), null, "it was submitted");
});

test("Enter submits, unless it begins a line or ends a composition", () => {
  const press = (more) => submits({ key: "Enter", shiftKey: false, isComposing: false, ...more });
  assert.equal(press({}), true);
  assert.equal(press({ shiftKey: true }), false);
  assert.equal(press({ isComposing: true }), false);
});

test("one text is on its way at a time, and slow answers end the reading while typing", () => {
  let now = 0;
  const pace = createPace(() => now);
  assert.equal(pace.isBusy(), false);
  pace.sent("A cat");
  pace.shown("A");
  assert.equal(pace.isBusy(), true, "the answer is that to an earlier text");
  now = 400;
  pace.shown("A cat");
  assert.deepEqual([pace.isBusy(), pace.isSlow()], [false, false]);
  for (const [text, isSlow] of /** @type {const} */ ([["A cat sat", false], ["A cat sat on", true]])) {
    pace.sent(text);
    now += 1600;
    pace.shown(text);
    assert.deepEqual([pace.isBusy(), pace.isSlow()], [false, isSlow], "a single slow answer may be chance");
  }
  pace.sent("A cat sat.");
  now += 100;
  pace.shown("A cat sat.");
  assert.equal(pace.isSlow(), false, "a quick answer to the button lets the box follow again");
  pace.sent("lost");
  now += 10001;
  assert.equal(pace.isBusy(), false);
});

test("a link names the model and the text, and not the class", () => {
  const named = { model: "small", text: "A cat & 猫." };
  const link = new URL(linkOf("http://a.org/base/tokens?class=ABC234&layer=3", named, {}));
  assert.equal(link.pathname, "/base/tokens");
  assert.deepEqual(Object.fromEntries(link.searchParams), { layer: "3", ...named });
  assert.equal(new URL(linkOf("http://a.org/?text=Dogs.", named, {})).searchParams.get("text"), "Dogs.");
});

test("a link names the model that the page used, without the selected head of another model", () => {
  const replaced = { model: "small", layer: "", head: "" };
  const link = linkOf("http://a.org/?model=big&layer=3&head=1&text=Dogs.", { model: "big" }, replaced);
  assert.deepEqual(Object.fromEntries(new URL(link).searchParams), { model: "small", text: "Dogs." });
});
