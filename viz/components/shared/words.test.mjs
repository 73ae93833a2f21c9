import assert from "node:assert/strict";
import { test } from "node:test";

import { _, speak } from "./words.js";

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
