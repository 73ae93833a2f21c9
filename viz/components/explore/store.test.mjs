import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createStore } from "./store.js";

describe("the selection", () => {
  test("a store tells its listeners once per change", () => {
    const store = createStore({ a: 1, b: 2 });
    let calls = 0;
    const stop = store.subscribe(() => calls++);
    store.set({ a: 1 });
    store.set({ a: 3 });
    stop();
    store.set({ a: 4 });
    assert.equal(calls, 1);
    assert.deepEqual(store.state, { a: 4, b: 2 });
  });
});
