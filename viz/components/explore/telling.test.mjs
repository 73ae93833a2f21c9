import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { FIRST } from "./selection.js";
import { createTeller } from "./telling.js";

describe("what is kept is told", () => {
  const slip = { address: "/headlight/kept", token: "abc" };
  const head = (number) => ({ ...FIRST, head: number });

  test("by a question where there is a slip, and no run is asked for", async () => {
    const asked = [];
    const runs = [];
    const tell = createTeller(async (address, { method, body }) => {
      asked.push([method, address, JSON.parse(body)]);
      return { status: 204 };
    });
    assert.equal(await tell(slip, head(1), (told) => runs.push(told)), true);
    assert.deepEqual(asked, [["POST", "/headlight/kept", { slip: "abc", selection: head(1) }]]);
    assert.deepEqual(runs, []);
  });

  test("by a run where there is none, where it is refused, and where nobody answers", async () => {
    const runs = [];
    const run = (told) => runs.push(told.head);
    const answers = [async () => ({ status: 410 }), async () => ({ status: 409 }), () => Promise.reject(new Error())];
    for (const [at, ask] of answers.entries()) assert.equal(await createTeller(ask)(slip, head(at), run), false);
    assert.equal(await createTeller(() => assert.fail("asked"))(null, head(3), run), false);
    assert.deepEqual(runs, [0, 1, 2, 3]);
  });

  test("one after the other, however long the first takes", async () => {
    const asked = [];
    const waiting = [];
    const tell = createTeller((_address, { body }) => {
      asked.push(JSON.parse(body).selection.head);
      return new Promise((done) => waiting.push(() => done({ status: 204 })));
    });
    const both = [tell(slip, head(1), () => {}), tell(slip, head(2), () => {})];
    await Promise.resolve();
    await Promise.resolve();
    assert.deepEqual(asked, [1]);
    waiting[0]();
    await both[0];
    await Promise.resolve();
    assert.deepEqual(asked, [1, 2]);
    waiting[1]();
    assert.deepEqual(await Promise.all(both), [true, true]);
  });
});
