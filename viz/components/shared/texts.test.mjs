import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { breakable, csv, csvField, fileName, finePercent, isRtl, percent, visible } from "./texts.js";

describe("tokens", () => {
  test("nothing invisible stays invisible", () => {
    assert.equal(visible(""), "∅");
    assert.equal(visible("\n"), "⏎");
    assert.equal(visible("  "), "␣␣");
    assert.equal(visible("\u202eevil"), "⟨U+202E⟩evil");
    assert.equal(visible("<script>"), "<script>");
  });

  test("a line may end after a word, and after a Chinese character with its marks", () => {
    assert.deepEqual(breakable("one two"), ["one ", "two"]);
    assert.deepEqual(breakable("第 3 层（头），ab"), ["第 ", "3 ", "层", "（头），", "ab"]);
    assert.deepEqual(breakable("它看。“它”说"), ["它", "看。", "“它”", "说"]);
    assert.deepEqual(breakable(""), []);
  });

  test("shares are percentages that are never falsely zero", () => {
    assert.deepEqual([0, 0.512, 1, 0.004, 0.0001].map(percent), ["0%", "51%", "100%", "0.4%", "<0.1%"]);
    assert.deepEqual([0.084, 0.4026].map(finePercent), ["8.4%", "40.3%"]);
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

  test("a file's name is letters and digits of any script, and never empty", () => {
    assert.equal(fileName("Layer 3 · <b>/../", "matrix", "png"), "headlight-Layer-3-b.png");
    assert.equal(fileName("注意", "tree", "svg"), "headlight-注意.svg");
    assert.equal(fileName("…", "tree", "svg"), "headlight-tree.svg");
    assert.equal(fileName("a".repeat(99), "tree", "svg").length, "headlight-.svg".length + 60);
  });
});
