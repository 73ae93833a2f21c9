import assert from "node:assert/strict";
import { test } from "node:test";

import { matching, opens, rank } from "./palette.js";

const entry = (title, note = "", kind = "page") => ({ id: title, kind, title, note });
const ENTRIES = [entry("Attention heads"), entry("Compare"), entry("Head roles & scores"), entry("Tokens", "Subwords")];
const titles = (typed) => matching(ENTRIES, typed).map(({ title }) => title);

test("an empty text finds everything in its order", () => {
  assert.deepEqual(titles(""), ENTRIES.map(({ title }) => title));
});

test("the start of a title comes before the start of a word, and a note comes last", () => {
  assert.deepEqual(titles("head"), ["Head roles & scores", "Attention heads"]);
  assert.deepEqual(titles("sub"), ["Tokens"]);
  assert.deepEqual(titles("okens"), ["Tokens"]);
  assert.ok(rank(ENTRIES[3], ["tok"]) < rank(ENTRIES[3], ["oken"]));
  assert.ok(rank(ENTRIES[3], ["oken"]) < rank(ENTRIES[3], ["subw"]));
});

test("further words find an entry after its title and its note", () => {
  const mlm = { ...entry("Masked words"), aliases: "MLM cloze" };
  assert.deepEqual(matching([mlm, ...ENTRIES], "mlm").map(({ title }) => title), ["Masked words"]);
  assert.ok(rank(mlm, ["mask"]) < rank(mlm, ["cloze"]));
});

test("a setting comes before a term that matches as well", () => {
  const term = { ...entry("Special token", "", "term"), id: "" };
  const found = matching([term, entry("Hide special tokens", "", "setting")], "special tok");
  assert.deepEqual(found.map(({ kind }) => kind), ["setting", "term"]);
});

test("every typed word is needed, whatever its case and accents", () => {
  assert.deepEqual(titles("SCORES head"), ["Head roles & scores"]);
  assert.deepEqual(titles("compáre"), ["Compare"]);
  assert.deepEqual(titles("compare nothing"), []);
});

test("Ctrl+K and ⌘K open the search, other keys do not", () => {
  const press = (key, more = {}) =>
    opens({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
  assert.equal(press("k", { ctrlKey: true }), true);
  assert.equal(press("K", { metaKey: true }), true);
  assert.equal(press("k"), false);
  assert.equal(press("k", { ctrlKey: true, shiftKey: true }), false);
  assert.equal(press("j", { ctrlKey: true }), false);
});
