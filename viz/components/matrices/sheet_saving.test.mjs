// A matrix as SVG: a shape for each number, and escaped texts. 2 rows, 3 columns.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { svgPen } from "../shared/pens.js";
import { paperOfSheet } from "./sheet_saving.js";

const SHEET = {
  name: "first <b>",
  rows: ["je", "suis"],
  columns: ["a", "b", "c"],
  note: "a & b",
  palette: /** @type {"sequential"} */ ("sequential"),
  limit: 1,
  markedRows: [1],
  markedColumns: [],
};
/** @type {[string, string][]} */
const ABOUT = [["model", "tiny"], ["text", "je <b> suis"]];
const VALUES = { tall: 2, wide: 3, data: new Float32Array([0.1, 0.5, 1, 0.25, NaN, 0.75]) };

/** @param {boolean} numbers */
function svg(numbers) {
  const paper = paperOfSheet(SHEET, VALUES, numbers, ABOUT);
  const pen = svgPen(paper.width, paper.height, paper.family);
  paper.draw(pen);
  return { text: pen.finish(), paper };
}
const count = (text, pattern) => text.match(pattern)?.length ?? 0;

// Node has no canvas to measure text: seven pixels a letter, as in a browser without a canvas context.
Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });

describe("a matrix on paper", () => {
  test("every number is a shape of its colour, and what is none is hatched", () => {
    const { text } = svg(false);
    const { rows, columns } = SHEET;
    const empty = svgCells(VALUES.data.map(() => NaN));
    assert.equal(svgCells(VALUES.data) - empty, 5);
    assert.equal(count(text, /<path /g), 1);
    for (const label of [...rows, ...columns]) assert.ok(text.includes(`>${label}</text>`), label);
  });

  test("digits are written where they are shown, and a marked row has its frame", () => {
    assert.ok(svg(true).text.includes(">0.75</text>"));
    assert.ok(!svg(false).text.includes(">0.75</text>"));
    assert.equal(count(svg(true).text, /stroke-width="2"/g), 1);
  });

  test("all digits have the same weight", () => {
    const digits = [...svg(true).text.matchAll(/<text([^>]*)>[01]\.\d\d</g)].map(([, style]) => style);
    assert.equal(digits.length, 5);
    assert.equal(new Set(digits.map((style) => style.match(/font-weight="\d+"/)?.[0])).size, 1);
  });

  test("names are text, and everything stands on the paper", () => {
    const { text, paper } = svg(true);
    assert.ok(text.includes("first &lt;b&gt;") && text.includes("a &amp; b") && !text.includes("<b>"));
    assert.ok(text.includes(">model: tiny"), "which model and text");
    for (const [, x, y] of text.matchAll(/<(?:text|rect) x="([\d.-]+)" y="([\d.-]+)"/g)) {
      assert.ok(Number(x) >= 0 && Number(x) <= paper.width && Number(y) >= 0 && Number(y) <= paper.height);
    }
  });
});

/** Return the number of shapes in a picture with these numbers. @param {Float32Array} data */
function svgCells(data) {
  const paper = paperOfSheet(SHEET, { ...VALUES, data }, false, []);
  const pen = svgPen(paper.width, paper.height, paper.family);
  paper.draw(pen);
  return count(pen.finish(), /<rect /g);
}
