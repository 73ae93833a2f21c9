import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { HEADS, LAYERS } from "../shared/cases.mjs";
import { gridKey, gridLayout, orderHeads, pageOf, slotPlace, slotUnder } from "./grid_layout.js";

describe("the grid's layout", () => {
  const sizes = [[6, 12, 440, 520], [12, 12, 440, 520], [24, 16, 440, 520]];

  for (const [layers, heads, width, height] of sizes) {
    test(`${layers} × ${heads} fits a wide page without paging`, () => {
      const layout = gridLayout({ width, height, layers, heads, least: 15 });
      assert.equal(layout.pages, 1);
      assert.equal(layout.lines, 1);
      assert.ok(layout.width <= width && layout.height <= height && layout.cell >= 15);
    });

    test(`${layers} × ${heads} on a phone keeps cells of 24 px`, () => {
      const layout = gridLayout({ width: 354, height: 420, layers, heads, least: 24 });
      assert.ok(layout.cell >= 24 && layout.width <= 354 && layout.height <= 420);
      assert.ok(layout.pages * layout.perPage >= layers);
    });
  }

  test("every slot is where it is drawn, on every page", () => {
    for (const order of ["layer", "entropy"]) {
      for (let page = 0; page < 4; page++) {
        const layout = gridLayout({ width: 354, height: 420, layers: 24, heads: 16, least: 24, page });
        for (let y = layout.top; y < layout.height; y += layout.cell) {
          for (let x = layout.left; x < layout.width; x += layout.cell) {
            const slot = slotUnder(layout, order, x + 3, y + 3);
            const [line, column] = slotPlace(layout, order, slot);
            assert.equal(line - layout.firstLayer * layout.lines, Math.round((y - layout.top) / layout.cell));
            assert.equal(column, Math.round((x - layout.left) / layout.cell));
            assert.equal(pageOf(layout, order, slot), page);
          }
        }
      }
    }
  });

  test("outside the maps there is nothing", () => {
    const layout = gridLayout({ width: 300, height: 200, layers: LAYERS, heads: HEADS, least: 15 });
    assert.equal(slotUnder(layout, "layer", 2, 30), -1);
    assert.equal(slotUnder(layout, "layer", 40, 5), -1);
    assert.equal(slotUnder(layout, "layer", 299, 40), -1);
  });

  test("orders", () => {
    const values = [0.3, 0.1, 0.2, 0.1, 0.9, 0];
    assert.deepEqual(orderHeads(6, null), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(orderHeads(6, values), [5, 1, 3, 2, 0, 4]);
    assert.deepEqual(orderHeads(6, values, true), [4, 0, 2, 1, 3, 5]);
    assert.deepEqual(orderHeads(6, null, true), [0, 1, 2, 3, 4, 5]);
  });

  test("keys move one map and stop at the edges", () => {
    const layout = gridLayout({ width: 300, height: 200, layers: LAYERS, heads: HEADS, least: 15 });
    const key = (name, slot) => gridKey(name, slot, layout, "layer");
    assert.deepEqual(key("ArrowRight", 0), { slot: 1 });
    assert.deepEqual(key("ArrowRight", 2), { slot: 2 });
    assert.deepEqual(key("ArrowDown", 1), { slot: 4 });
    assert.deepEqual(key("ArrowDown", 4), { slot: 4 });
    assert.deepEqual(key("Home", 5), { slot: 3 });
    assert.deepEqual(key("End", 0), { slot: 2 });
    assert.deepEqual(key("Enter", 0), { keep: true });
    assert.deepEqual(key("Escape", 0), { back: true });
    assert.equal(key("x", 0), null);
  });
});
