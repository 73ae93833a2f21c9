// Pictures as files, on systems without a font for some letters.
import assert from "node:assert/strict";
import { test } from "node:test";

import { boxed } from "./prints.js";

/** Create a document with canvases that have glyphs for these letters only; all others look alike. */
function system(letters) {
  globalThis.document = {
    createElement() {
      let shown = "";
      const context = {
        fillText: (text) => shown = text,
        getImageData: () => ({ data: [letters.includes(shown) ? shown.codePointAt(0) : 0] }),
      };
      return { setAttribute() {}, append() {}, getContext: () => context };
    },
  };
}

test("Chinese letters that a system has no font for are noticed", () => {
  system("abc");
  assert.equal(boxed("第 3 层", "serif"), true);
  assert.equal(boxed("layer 3", "serif"), false);
  system("abc第");
  assert.equal(boxed("第 3 层", "serif"), true, "a font may have the commoner ones only");
  system("abc第层");
  assert.equal(boxed("第 3 层", "serif"), false);
});
