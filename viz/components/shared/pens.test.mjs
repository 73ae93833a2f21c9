import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { svgPen, xmlEscape } from "./pens.js";

describe("links and tables", () => {
  test("XML text is escaped, and what XML cannot hold is replaced", () => {
    assert.equal(xmlEscape(`<script a="b">'&`), "&lt;script a=&quot;b&quot;&gt;&#39;&amp;");
    assert.equal(xmlEscape("a\u0000b\ud800c😀"), "a\ufffdb\ufffdc😀");
  });

  test("the SVG pen writes escaped marks", () => {
    const pen = svgPen(100, 50, 'a"b');
    pen.text("</text><script>", 1, 2, { rotate: -90 });
    pen.rect(0, 0, 5, 5, { fill: '"/><x' });
    pen.lines([[0, 1, 2.5, 3], [4, 5, 6, 7]], { stroke: "red", width: 1 });
    const svg = pen.finish();
    assert.ok(svg.includes('d="M0 1L2.5 3M4 5L6 7"'));
    assert.ok(svg.startsWith("<svg ") && svg.endsWith("</svg>"));
    assert.ok(!svg.includes("<script") && !svg.includes("<x") && svg.includes("&lt;/text&gt;"));
  });
});
