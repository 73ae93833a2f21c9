import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createFeed } from "./feed.js";

describe("where numbers come from", () => {
  test("a feed asks once, keeps what fits and aborts what is no longer asked", async () => {
    const asked = [];
    const aborted = [];
    const source = {
      rows: (query, { signal }) => {
        asked.push(query);
        signal.addEventListener("abort", () => aborted.push(query));
        return query === 9 ? new Promise(() => {}) : Promise.resolve({ data: new Float32Array(100) });
      },
    };
    let arrived = 0;
    const feed = createFeed(source, { onArrive: () => arrived++, onError: assert.fail, budget: 1000 });
    const round = (...queries) => {
      feed.begin();
      for (const query of queries) feed.get("rows", query);
      return feed.end();
    };
    assert.equal(round(1), false);
    assert.equal(round(1), false);
    await new Promise(setImmediate);
    assert.equal(round(1), true);
    assert.deepEqual([asked, arrived], [[1], 1]);
    round(9);
    round(2);
    assert.deepEqual(aborted, [9]);
    await new Promise(setImmediate);
    round(3);
    await new Promise(setImmediate);
    assert.equal(feed.peek("rows", 1), null); // the oldest answer was evicted at the budget's limit
    assert.ok(feed.peek("rows", 3));
  });

  test("a failed question is told once and asked again only on retry", async () => {
    let calls = 0;
    const errors = [];
    const source = {
      grid: async () => {
        calls++;
        throw new Error("no");
      },
    };
    const feed = createFeed(source, { onArrive: () => {}, onError: (error) => errors.push(error.message) });
    feed.get("grid", 48);
    await new Promise(setImmediate);
    feed.get("grid", 48);
    await new Promise(setImmediate);
    assert.deepEqual([calls, errors], [1, ["no"]]);
    feed.retry();
    feed.get("grid", 48);
    assert.equal(calls, 2);
  });
});
