// The history's entries.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createEntries } from "./idle_tracker.js";

test("the history has one entry for each action", () => {
  const shown = ["/"];
  const history = {
    pushState: (_state, _title, url) => shown.push(url),
    replaceState: (_state, _title, url) => shown.splice(-1, 1, url),
  };
  const entries = createEntries(history);
  const writes = (...urls) => urls.forEach((url) => history.pushState({}, "", url));
  writes("/?a");
  assert.deepEqual(shown, ["/?a"], "before any action");
  entries.heard({ type: "keydown" });
  writes("/?b", "/next?b", "/next?c");
  entries.heard({ type: "click" });
  writes("/next?d");
  assert.deepEqual(shown, ["/?a", "/next?c", "/next?d"]);
  entries.heard({ type: "popstate" });
  writes("/next?e");
  assert.deepEqual(shown, ["/?a", "/next?c", "/next?e"]);
});
