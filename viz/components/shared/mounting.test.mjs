// The entry point of a component: a view for each parent, from the mount to the end.
import assert from "node:assert/strict";
import { test } from "node:test";

import { mounting } from "./mounting.js";
import { _ } from "./words.js";

test("a parent's view is made once, updated at every call, closed at the end, and then made anew", () => {
  const told = [];
  const parent = { querySelector: (name) => (name === "#thing" ? place : null) };
  const place = {};
  let made = 0;
  const component = mounting("thing", (root) => {
    assert.equal(root, place);
    const number = ++made;
    return {
      update: (data, pick) => {
        told.push(`${number} has ${data}`);
        pick(data);
      },
      close: () => told.push(`${number} is closed`),
    };
  });
  const call = (data) =>
    component({ data, parentElement: parent, setTriggerValue: (name, value) => told.push(`${name} ${value}`) });
  call("a");
  const end = call("b");
  end();
  call("c");
  assert.deepEqual(told, [
    "1 has a",
    "picked a",
    "1 has b",
    "picked b",
    "1 is closed",
    "2 has c",
    "picked c",
  ]);
});

test("a view that has nothing to close, in a parent of its own, ends too", () => {
  const component = mounting("thing", () => ({ update: () => {} }));
  component({ data: 1, parentElement: { querySelector: () => null }, setTriggerValue: () => {} })();
});

test("in another language a view is made anew", () => {
  const told = [];
  const place = {};
  const component = mounting("thing", () => {
    const name = _("Save");
    return { update: () => told.push(name), close: () => told.push("closed") };
  });
  const call = (data) => component({ data, parentElement: { querySelector: () => place }, setTriggerValue: () => {} });
  call({});
  call({ words: { Save: "保存" } });
  call({ words: { Save: "保存" } });
  call({});
  assert.deepEqual(told, ["Save", "closed", "保存", "保存", "closed", "Save"]);
});
