// Tests of viz/components/tree/tree_layout.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrangeTree, BOX_HIGH, childrenOf, depthsOf, lineBetween, rowsOf, treeKey, wayTo } from "./tree_layout.js";

/** Create a tree of `count` nodes, each below an earlier node; the result depends only on the seed. */
function random(count, seed) {
  let state = seed;
  const next = () => (state = (1103515245 * state + 12345) % 2 ** 31) / 2 ** 31;
  return Array.from({ length: count }, (_, i) => (i === 0 ? -1 : Math.floor(i * next() ** 0.3)));
}
const TREES = [[-1], [-1, 0, 0, 0], [-1, 0, 1, 2, 3], ...[1, 2, 3, 4].map((seed) => random(150, seed))];
const nodesOf = (parents) =>
  parents.map((parent, i) => ({ id: `n${i}`, parent, text: "x".repeat(1 + (i % 5)), kind: "other" }));

// root ─ a ─ b ─ c        (0; 1, 2, 3)
//      │   └ d            (4)
//      └ e ─ f            (5, 6)
const SMALL = [-1, 0, 1, 2, 1, 0, 5];

describe("rows of a tree", () => {
  test("by hand", () => {
    assert.deepEqual(depthsOf(SMALL), [0, 1, 2, 3, 2, 1, 2]);
    assert.deepEqual(rowsOf(SMALL), [0, 0, 0, 0, 1, 2, 2]);
    assert.deepEqual(rowsOf([-1, 0, 1, 0]), [0, 0, 0, 1], "what ends early leaves its row to others");
    assert.deepEqual(rowsOf([-1, 0, 0, 2]), [1, 0, 1, 1], "a child before the longest stands above it");
    assert.deepEqual(rowsOf([-1, 0, 0, 2, 0]), [1, 0, 1, 1, 2]);
  });

  test("a chain is one straight line", () => {
    assert.deepEqual(new Set(rowsOf(Array.from({ length: 200 }, (_, i) => i - 1))), new Set([0]));
  });

  for (const [at, parents] of TREES.entries()) {
    const [rows, depths, children] = [rowsOf(parents), depthsOf(parents), childrenOf(parents)];
    test(`laws of tree ${at}`, () => {
      const taken = new Set(rows.map((row, i) => `${row}/${depths[i]}`));
      assert.equal(taken.size, parents.length, "no two nodes in one place");
      assert.equal(Math.min(...rows), 0);
      children.forEach((own, i) => {
        if (own.length) {
          assert.ok(own.some((child) => rows[child] === rows[i]), "a parent stands beside one of its children");
        }
        own.slice(1).forEach((child, k) => assert.ok(rows[child] > rows[own[k]], "children keep their order"));
      });
    });
    test(`no lines cross in tree ${at}`, () => {
      const spans = children.flatMap((
        own,
        i,
      ) => (own.length
        ? [[depths[i], Math.min(...own.map((c) => rows[c])), Math.max(...own.map((c) => rows[c]))]]
        : [])
      );
      spans.forEach(([depth, low, high], i) =>
        spans.slice(i + 1).forEach(([other, first, last]) =>
          assert.ok(depth !== other || high < first || last < low, "the children of two nodes do not mix")
        )
      );
    });
  }
});

describe("places of a tree", () => {
  test("no two boxes touch, and all lie inside", () => {
    for (const parents of TREES) {
      const { spots, width, height } = arrangeTree(nodesOf(parents), (node) => 20 * node.text.length);
      const boxes = [...spots].sort((a, b) => a.row - b.row || a.depth - b.depth);
      boxes.forEach((box, i) => {
        assert.ok(box.x >= 0 && box.x + box.w <= width && box.y >= 0 && box.y + BOX_HIGH <= height);
        const next = boxes[i + 1];
        if (next?.row === box.row) assert.ok(next.x >= box.x + box.w + 9, "beside each other");
        else if (next) assert.ok(next.y >= box.y + BOX_HIGH + 4, "below each other");
      });
    }
  });

  test("a chain is packed closer than branches", () => {
    const chain = arrangeTree(nodesOf([-1, 0, 1]), () => 30);
    const fork = arrangeTree(nodesOf([-1, 0, 0]), () => 30);
    assert.equal(chain.spots[1].x - chain.spots[0].x, 39);
    assert.equal(fork.spots[1].x - fork.spots[0].x, 60);
  });

  test("a search of 4 beams, 40 steps and 8 branches stays low", () => {
    const parents = [-1];
    let alive = [0];
    for (let step = 0; step < 40; step++) {
      const made = alive.flatMap((beam) => Array.from({ length: 8 }, () => parents.push(beam) - 1));
      alive = [3, 8, 17, 30].map((at) => made[at % made.length]);
    }
    const { rows } = arrangeTree(nodesOf(parents), () => 60);
    assert.ok(rows >= 32 && rows <= 100, `${rows} rows`);
  });

  test("a line leaves the parent's right edge and meets the child's left one", () => {
    const from = { depth: 0, row: 1, x: 4, y: 35, w: 30 };
    assert.equal(lineBetween(from, { depth: 1, row: 1, x: 64, y: 35, w: 30 }), "M34 47H64");
    assert.equal(lineBetween(from, { depth: 1, row: 2, x: 64, y: 66, w: 30 }), "M34 47H44q5 0 5 5V73q0 5 5 5H64");
    assert.equal(lineBetween(from, { depth: 1, row: 0, x: 64, y: 4, w: 30 }), "M34 47H44q5 0 5 -5V21q0 -5 5 -5H64");
  });
});

describe("keys in a tree", () => {
  const { spots } = arrangeTree(nodesOf(SMALL), () => 30);
  const go = (key, at, current = -1) => treeKey(key, at, SMALL, spots, wayTo(SMALL, current));

  test("to the parent, to a child, in the column, to both ends", () => {
    assert.deepEqual([go("ArrowLeft", 6), go("ArrowLeft", 0)], [5, 0]);
    assert.deepEqual([go("ArrowRight", 0), go("ArrowRight", 0, 6), go("ArrowRight", 3)], [1, 5, 3]);
    assert.deepEqual([go("ArrowDown", 2), go("ArrowDown", 4), go("ArrowDown", 6), go("ArrowUp", 6), go("ArrowUp", 2)], [
      4,
      6,
      6,
      4,
      2,
    ]);
    assert.deepEqual([go("Home", 6), go("End", 0), go("End", 0, 5), go("End", 5)], [0, 3, 6, 6]);
    assert.equal(go("a", 1), null);
  });

  test("the way to a node has its ancestors and itself", () => {
    assert.deepEqual([...wayTo(SMALL, 4)].sort(), [0, 1, 4]);
    assert.equal(wayTo(SMALL, -1).size, 0);
  });
});
