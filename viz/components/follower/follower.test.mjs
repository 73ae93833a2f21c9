import assert from "node:assert/strict";
import { test } from "node:test";

import { afterTyping, follow, typingLeft } from "./follower.js";

/** A server with answers from the test. */
function server() {
  const asked = [];
  return {
    asked,
    ask: (since) => new Promise((resolve, reject) => asked.push({ since, resolve, reject })),
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a change is told once, and asked from there", async () => {
  const { asked, ask } = server();
  const told = [];
  const view = follow(ask, (version) => told.push(version));
  view.from(3);
  assert.deepEqual(asked.map((one) => one.since), [3]);
  asked[0].resolve(5);
  await settled();
  assert.deepEqual(told, [5]);
  assert.deepEqual(asked.map((one) => one.since), [3, 5]);
});

test("nothing new is not told", async () => {
  const { asked, ask } = server();
  const told = [];
  follow(ask, (version) => told.push(version)).from(3);
  asked[0].resolve(3);
  await settled();
  assert.deepEqual(told, []);
  assert.equal(asked.length, 2);
});

test("a server that is away is asked again later", async () => {
  const { asked, ask } = server();
  const waiting = [];
  const told = [];
  follow(ask, (version) => told.push(version), (then) => waiting.push(then)).from(1);
  asked[0].reject(new Error("away"));
  await settled();
  assert.equal(asked.length, 1);
  waiting[0]();
  asked[1].resolve(2);
  await settled();
  assert.deepEqual(told, [2]);
});

test("what the page shows already is not told again", async () => {
  const { asked, ask } = server();
  const told = [];
  const view = follow(ask, (version) => told.push(version));
  view.from(1);
  view.from(2);
  asked[0].resolve(2);
  await settled();
  assert.deepEqual(told, []);
  assert.deepEqual(asked.map((one) => one.since), [1, 2]);
});

test("who is gone asks no more", async () => {
  const { asked, ask } = server();
  const told = [];
  const view = follow(ask, (version) => told.push(version));
  view.from(1);
  view.stop();
  asked[0].resolve(9);
  await settled();
  assert.deepEqual(told, []);
  assert.equal(asked.length, 1);
});

test("a rerun waits while the focused field gets text, and until a pause", () => {
  const field = {};
  assert.equal(typingLeft({ field, at: 1000 }, field, 1500), 2500);
  assert.equal(typingLeft({ field, at: 1000 }, field, 4000), 0);
  assert.equal(typingLeft({ field, at: 1000 }, {}, 1500), 0);
  assert.equal(typingLeft({ field: null, at: 0 }, null, 1), 0);
  const waited = [], left = [2500, 700, 0];
  let acted = 0;
  afterTyping(() => left.shift(), () => acted++, (then, ms) => waited.push([ms, acted]) && then());
  assert.deepEqual([waited, acted], [[[2500, 0], [700, 0]], 1]);
});
