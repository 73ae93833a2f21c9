import assert from "node:assert/strict";
import { test } from "node:test";

import { typing } from "./projector.js";

test("a letter that is typed is no command", () => {
  assert.equal(typing([{ tagName: "INPUT" }, { tagName: "DIV" }]), true);
  assert.equal(typing([{ tagName: "SPAN" }, { tagName: "textarea" }]), true);
  assert.equal(typing([{ tagName: "DIV", isContentEditable: true }]), true);
  assert.equal(typing([{ tagName: "BUTTON" }, {}]), false);
});
