import assert from "node:assert/strict";
import { test } from "node:test";

import { leaves, typing } from "./projector.js";

test("a letter that is typed is no command", () => {
  assert.equal(typing([{ tagName: "INPUT" }, { tagName: "DIV" }]), true);
  assert.equal(typing([{ tagName: "SPAN" }, { tagName: "textarea" }]), true);
  assert.equal(typing([{ tagName: "DIV", isContentEditable: true }]), true);
  assert.equal(typing([{ tagName: "BUTTON" }, {}]), false);
  for (const type of ["checkbox", "radio", "range"]) assert.equal(typing([{ tagName: "INPUT", type }]), false);
  assert.equal(typing([{ tagName: "INPUT", type: "number" }]), true);
});

test("Escape leaves the projector view unless something else takes it", () => {
  const press = (key, defaultPrevented = false, path = [{}]) => ({ key, defaultPrevented, composedPath: () => path });
  assert.equal(leaves(press("Escape"), false), true);
  assert.equal(leaves(press("Escape"), true), false);
  assert.equal(leaves(press("Escape", true), false), false);
  assert.equal(leaves(press("Escape", false, [{ tagName: "INPUT" }]), false), false);
  assert.equal(leaves(press("Enter"), false), false);
});
