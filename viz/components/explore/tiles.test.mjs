// The requested tiles: none that is invisible, and no requests while the pointer moves.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { TILE } from "./source.js";
import { linesTile, matrixTiles } from "./tiles.js";

/** A view of `rows` and `cols` that records requests and answers them immediately. */
function app({ rows, cols, hovers = false, still = true }) {
  const fetched = [];
  return {
    fetched,
    data: { queries: { length: rows } },
    keys: () => ({ length: cols }),
    shown: () => ({ layer: 1, head: 2 }),
    previewsHead: () => hovers,
    still: () => still,
    feed: {
      peek: () => null,
      get: (_kind, query) => {
        fetched.push(query);
        return query;
      },
    },
  };
}

const frame = ({ rows, cols }, view) => ({
  range: { q0: 0, q1: rows, k0: 0, k1: cols },
  area: { x: 0, y: 0, w: 600, h: 600 },
  view: view ?? { scale: 600 / Math.max(rows, cols), q: 0, k: 0 },
});

describe("the matrix", () => {
  test("of a short text is one exact tile", () => {
    const text = { rows: 20, cols: 30 };
    const short = app(text);
    const whole = { layer: 1, head: 2, q0: 0, q1: 20, k0: 0, k1: 30, size: TILE };
    assert.deepEqual(matrixTiles(short, frame(text), 1), [whole]);
    assert.deepEqual(short.fetched, [whole]);
  });

  test("of a long text is an overview, and what is zoomed into once it rests", () => {
    const text = { rows: 3000, cols: 3000 };
    const all = app(text);
    assert.equal(matrixTiles(all, frame(text), 1).length, 1);
    const near = { scale: 20, q: 1000, k: 500 };
    const rests = app(text);
    const [overview, detail] = matrixTiles(rests, frame(text, near), 1);
    assert.deepEqual([overview.q0, overview.q1, overview.k0, overview.k1], [0, 3000, 0, 3000]);
    assert.ok(detail.q0 <= 1000 && detail.q1 >= 1030 && detail.k0 <= 500 && detail.k1 >= 530);
    assert.ok(detail.q1 - detail.q0 <= detail.size);
    const moves = app({ ...text, still: false });
    assert.equal(matrixTiles(moves, frame(text, near), 1).length, 1);
    assert.equal(moves.fetched.length, 1);
  });

  test("of another head under the pointer is fetched only where it is small", () => {
    for (const [rows, fetches] of [[128, 1], [129, 0]]) {
      const text = { rows, cols: rows, hovers: true };
      const hovered = app(text);
      matrixTiles(hovered, frame(text), 1);
      assert.equal(hovered.fetched.length, fetches);
    }
  });
});

describe("lines", () => {
  test("need a short text whole, and of a long one blocks around the windows", () => {
    const asked = (size, left, right) => {
      const { q0, q1, k0, k1 } = linesTile(app({ rows: size, cols: size }), { layer: 0, head: 0 }, left, right);
      return [q0, q1, k0, k1];
    };
    assert.deepEqual(asked(128, [10, 20], [30, 40]), [0, 128, 0, 128]);
    assert.deepEqual(asked(200, [70, 90], [130, 195]), [64, 128, 128, 200]);
  });

  test("are not fetched while they are scrolled", () => {
    const moves = app({ rows: 200, cols: 200, still: false });
    assert.equal(linesTile(moves, { layer: 0, head: 0 }, [0, 10], [0, 10]), null);
    assert.deepEqual(moves.fetched, []);
  });
});
