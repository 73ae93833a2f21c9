import assert from "node:assert/strict";
import { test } from "node:test";

import { _, speak, together } from "./words.js";

test("a sentence is said as it stands until another language is spoken", () => {
  assert.equal(_("Layer {layer} of {n}", { layer: 3, n: 12 }), "Layer 3 of 12");
  speak({ "Layer {layer} of {n}": "共 {n} 层，第 {layer} 层" });
  assert.equal(_("Layer {layer} of {n}", { layer: 3, n: 12 }), "共 12 层，第 3 层");
  assert.equal(_("Save"), "Save");
  speak(undefined);
  assert.equal(_("Layer {layer} of {n}", { layer: 3, n: 12 }), "Layer 3 of 12");
});

test("what stands in a value is not a place", () => {
  assert.equal(_("“{word}”", { word: "{n} $& $1", n: 5 }), "“{n} $& $1”");
});

test("a translation's space beside a value stays where Chinese meets Latin, as i18n/translation.py has it", () => {
  speak({ "{a} and {b}": "{a} 和 {b}", "{first} {then}": "{first} {then}", "Look, {a}.": "看 {a} 吧。 " });
  for (
    const [a, b, said] of [
      ["猫", "狗", "猫和狗"],
      ["BERT", "狗", "BERT 和狗"],
      ["“it”", "“cat”", "“it”和“cat”"],
      [3, "“cat”", "3 和“cat”"],
      ["（x）", "𠮷", "（x）和𠮷"],
      ["a b", " c ", "a b 和  c "],
      ["{b}", "$&", "{b} 和 $&"],
    ]
  ) assert.equal(_("{a} and {b}", { a, b }), said);
  assert.equal(_("{first} {then}", { first: "它看。", then: "BERT 说。" }), "它看。BERT 说。");
  assert.equal(_("{first} {then}", { first: "It looks.", then: "" }), "It looks. ");
  assert.equal(_("Look, {a}.", { a: "它" }), "看它吧。 ");
  speak(undefined);
  assert.equal(_("{a} and {b}", { a: "猫", b: "狗" }), "猫 and 狗", "English keeps its spaces");
});

test("sentences stand one after another as the language sets them", () => {
  assert.equal(together("It looks.", "", "It says."), "It looks. It says.");
  assert.equal(together(), "");
  speak({ "{first} {then}": "{first} {then}" });
  assert.equal(together("它看。", "", "它说。"), "它看。它说。");
  speak(undefined);
});
