// The history's entries and scroll positions.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createEntries } from "./idle_tracker.js";
import { createPositions } from "./scroll_positions.js";

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
  entries.heard({ type: "keydown" });
  entries.goOn();
  writes("/next?f");
  assert.deepEqual(shown, ["/?a", "/next?c", "/next?f"], "a sentence goes on");
  entries.goOn();
  entries.heard({ type: "pointerdown" });
  writes("/next?g");
  assert.deepEqual(shown, ["/?a", "/next?c", "/next?f", "/next?g"]);
});

test("an earlier address gets its scroll position back once it is drawn", () => {
  const view = { address: "/a", top: 0 };
  const scrolls = [];
  const positions = createPositions({
    address: () => view.address,
    top: () => view.top,
    scrollTo: (top) => scrolls.push(top),
  });
  view.top = 700;
  positions.note();
  Object.assign(view, { address: "/b", top: 0 });
  positions.pageRests();
  view.address = "/a";
  positions.moved();
  assert.deepEqual(scrolls, []);
  positions.pageRests();
  positions.pageRests();
  assert.deepEqual(scrolls, [700]);
  view.address = "/never";
  positions.moved();
  positions.pageRests();
  view.address = "/a";
  positions.moved();
  positions.note();
  positions.pageRests();
  assert.deepEqual(scrolls, [700], "neither an unknown address, nor after a visitor's action");
});
