// Tests of the pure functions in viz/components/matrices/sheet.js. Fixtures have unequal axes (2 rows, 3 columns).
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { brief, cells, digits, labelOf, largest, said, scaleEnd, table } from "./sheet.js";

const SHEET = {
  name: "Q = X·W_Q",
  rows: ["je", "=1+1"],
  columns: [],
  note: "",
  palette: "diverging",
  limit: null,
  markedRows: [],
  markedColumns: [],
};
const VALUES = { tall: 2, wide: 3, data: new Float32Array([0.1, -2, 0, -Infinity, NaN, 1 / 3]) };

describe("numbers", () => {
  test("all the digits of a float32 and no more", () => {
    assert.deepEqual([0.1, -2, 0, 1 / 3, 16777217, 1e-8].map((value) => digits(Math.fround(value))), [
      "0.1",
      "−2",
      "0",
      "0.33333334",
      "16777216",
      "1e−8",
    ]);
    assert.deepEqual([Infinity, -Infinity].map(digits), ["∞", "−∞"]);
    for (let i = 0; i < 2000; i++) {
      const value = Math.fround((Math.random() - 0.5) * 10 ** (i % 12 - 6));
      assert.equal(Math.fround(Number(digits(value).replaceAll("−", "-"))), value);
    }
  });

  test("a cell's number is short, and never a 0 that is none", () => {
    const cases = [
      [0, "0"],
      [0.1, "0.10"],
      [-1.005, "−1.00"],
      [0.004, "0.004"],
      [-0.0004, "≈0"],
      [-0.0005, "−0.001"],
      [123.4, "123"],
      [-99.96, "−100"],
      [12345, "1e4"],
      [NaN, ""],
      [-Infinity, "−∞"],
    ];
    for (const [value, text] of cases) assert.equal(brief(value), text);
  });

  test("a scale ends at or above the largest finite size, within two digits", () => {
    assert.equal(scaleEnd(new Float32Array([0.1, -2.31, Infinity, NaN])), 2.4);
    assert.equal(scaleEnd(new Float32Array([0.68])), 0.68);
    assert.equal(scaleEnd(new Float32Array([0, 0])), 1);
    assert.equal(scaleEnd(new Float32Array([0.0999])), 0.1);
  });
});

describe("cells", () => {
  test("where there are more cells than pixels, the largest size under a pixel is shown with its sign", () => {
    const data = new Float32Array([1, -3, 2, 0.5, NaN, NaN, 0, -Infinity]);
    assert.deepEqual([...largest({ tall: 2, wide: 4, data }, 1, 2).data], [-3, -Infinity]);
    assert.deepEqual([...largest({ tall: 2, wide: 4, data }, 2, 2).data], [-3, 2, NaN, -Infinity]);
    assert.deepEqual([...largest({ tall: 2, wide: 4, data }, 2, 4).data], [...data], "enough pixels: nothing changes");
  });

  test("few columns show their numbers, many do not, and the page may decide", () => {
    const given = { tall: 4, room: 600, left: 60, numbers: null };
    assert.equal(cells({ ...given, wide: 12 }).digitsShown, true);
    assert.equal(cells({ ...given, wide: 13 }).digitsShown, false);
    assert.equal(cells({ ...given, wide: 12, tall: 400 }).digitsShown, false);
    assert.equal(cells({ ...given, wide: 64, numbers: true }).digitsShown, true);
    assert.equal(cells({ ...given, wide: 2, numbers: false }).digitsShown, false);
  });

  test("a matrix without numbers fits the room", () => {
    for (const [tall, wide, room] of [[512, 384, 350], [512, 384, 1200], [1, 768, 350], [17, 32, 1200]]) {
      const { w, h } = cells({ tall, wide, room, left: 60, numbers: null });
      assert.ok(w * wide <= room - 60 && h * tall <= 420 + 1e-9, `${tall}×${wide} in ${room}`);
      assert.ok(w > 0 && h > 0);
    }
  });

  test("what is said names row, column and number; without labels they are counted from 0", () => {
    assert.deepEqual(said(SHEET, VALUES, { row: 0, col: 1 }), ["je · column 1", "−2"]);
    assert.deepEqual(said({ ...SHEET, rows: [] }, VALUES, { row: 1, col: 2 }), ["row 1 · column 2", "0.33333334"]);
    assert.equal(labelOf({ ...SHEET, rows: ["\u202e"] }, "rows", 0), "⟨U+202E⟩");
  });

  test("a file holds names and all digits, and nothing that a spreadsheet would run", () => {
    const [head, first, second] = table(SHEET, VALUES).split("\r\n");
    assert.equal(head, "Q = X·W_Q,0,1,2");
    assert.equal(first, "je,0.1,-2,0");
    assert.equal(second, "'=1+1,-Infinity,NaN,0.33333334");
  });
});
