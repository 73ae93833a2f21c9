import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { columnNames, fileStemOf, tableOf, zip } from "./tables.js";

describe("tables", () => {
  test("column names are unique and not empty", () => {
    assert.deepEqual(columnNames(["the", "", "the", "a#2", "a", "a"]), ["the", "(empty)", "the#2", "a#2", "a", "a#3"]);
    assert.equal(tableOf(["q", "=1", "'=1"], []), "q,'=1,'=1#2\r\n");
  });

  test("file names state model, head and text", () => {
    const about = { model: "org/tiny", layer: 3, head: 1, text: "The animal didn't cross the street." };
    assert.equal(fileStemOf("headlight-attention", about), "headlight-attention_tiny_3-1_the-animal--the-street");
    for (const [word, end] of [["tired", "too-tired"], ["wide", "too-wide"]]) {
      const text = `The animal didn't cross the street because it was too ${word}.`;
      assert.equal(fileStemOf("headlight-two", { text }), `headlight-two_the-animal--${end}`);
    }
    assert.equal(fileStemOf("headlight-two", { model: "../..", text: "那只动物" }), "headlight-two_那只动物");
  });

  test("a zip holds its files", () => {
    const bytes = zip({ "a.csv": "123456789" });
    const view = new DataView(bytes.buffer);
    assert.equal(view.getUint32(0, true), 0x04034b50);
    assert.equal(view.getUint32(14, true), 0xcbf43926); // the published CRC-32 of 123456789
    assert.equal(view.getUint32(bytes.length - 22, true), 0x06054b50);
    assert.equal(view.getUint32(bytes.length - 6, true), 30 + 5 + 9); // the directory follows the only file
  });
});
