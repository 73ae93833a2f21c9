import assert from "node:assert/strict";
import { test } from "node:test";

import themeChange, { isDark, paperScale } from "./theme_change.js";

test("a theme that changes is told once, a language that changes is the document's", () => {
  let colour = "white";
  const told = [];
  globalThis.ShadowRoot ??= class {};
  globalThis.document = { documentElement: { lang: "en", classList: { toggle: () => {} } } };
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => ` ${colour}` });
  const called = (language) =>
    themeChange({ parentElement: {}, data: { language }, setTriggerValue: (_name, value) => told.push(value) });

  called("en");
  called("zh-Hans");
  assert.equal(document.documentElement.lang, "zh-Hans");
  assert.deepEqual(told, []);
  colour = "black";
  called("zh-Hans");
  called("zh-Hans");
  assert.deepEqual(told, ["black"]);
});

test("a dark background is dark, and wide charts are made to fit on paper", () => {
  assert.deepEqual(["#0e1117", "#ffffff", "#fdf6e3", "white"].map(isDark), [true, false, false, false]);
  assert.equal(paperScale(1280), 0.5);
  assert.equal(paperScale(390), 1);
});
