import assert from "node:assert/strict";
import { test } from "node:test";

import themeChange from "./theme_change.js";

test("a theme that changes is told once, a language that changes is the document's", () => {
  let colour = "white";
  const told = [];
  globalThis.ShadowRoot ??= class {};
  globalThis.document = { documentElement: { lang: "en" } };
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
