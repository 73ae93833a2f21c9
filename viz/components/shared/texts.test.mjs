import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { csv, csvField, isRtl, visible } from "./texts.js";

describe("tokens", () => {
  test("nothing invisible stays invisible", () => {
    assert.equal(visible(""), "∅");
    assert.equal(visible("\n"), "⏎");
    assert.equal(visible("  "), "␣␣");
    assert.equal(visible("\u202eevil"), "⟨U+202E⟩evil");
    assert.equal(visible("<script>"), "<script>");
  });

  test("direction is that of the first letter", () => {
    assert.equal(isRtl("123 שלום abc"), true);
    assert.equal(isRtl("abc שלום"), false);
    assert.equal(isRtl("123"), false);
  });
});

describe("links and tables", () => {
  test("CSV quotes what needs it and is never a formula", () => {
    assert.equal(
      csv([["a,b", 'say "x"', "=1+1", "-", 0.5, "line\nbreak"]]),
      '"a,b","say ""x""",\'=1+1,-,0.5,"line\nbreak"\r\n',
    );
    assert.equal(csvField(-0.5), "-0.5");
  });
});
