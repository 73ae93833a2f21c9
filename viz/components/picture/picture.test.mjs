// Tests of the pure functions in viz/components/picture. Grids have unequal sides, and begin after two tokens without a
// patch.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as looks from "./picture_looks.js";
import { lines, rowProvenance, rowTable } from "./picture_saving.js";
import { inBase64, keeper, lookOf } from "./picture_source.js";
import { lookSaid, tokenName } from "./picture_words.js";

/** @type {import("./picture_looks.js").PatchGrid} */
const GRID = { rows: 2, columns: 3, start: 2, box: [0.25, 0, 1, 0.5] };

describe("patches", () => {
  test("a point inside what the model was given is a patch, one outside is none", () => {
    assert.equal(looks.tokenUnder(GRID, 0.26, 0.01), 2);
    assert.equal(looks.tokenUnder(GRID, 0.99, 0.49), 7);
    assert.equal(looks.tokenUnder(GRID, 0.2, 0.1), null);
    assert.equal(looks.tokenUnder(GRID, 0.5, 0.6), null);
    assert.equal(looks.tokenUnder(GRID, 1, 0.1), null);
  });
  test("the middle of each patch is under itself", () => {
    for (let token = 2; token < 8; token++) {
      const [x, y, w, h] = looks.patchBox(GRID, /** @type {looks.PatchPlace} */ (looks.patchOf(GRID, token)));
      assert.equal(looks.tokenUnder(GRID, x + w / 2, y + h / 2), token);
    }
    assert.equal(looks.patchOf(GRID, 1), null);
    assert.equal(looks.patchOf(GRID, 8), null);
  });
  test("keys move over patches and stop at the edges; from elsewhere they begin in the middle", () => {
    assert.equal(looks.patchKey("ArrowRight", 2, GRID), 3);
    assert.equal(looks.patchKey("ArrowRight", 4, GRID), 4);
    assert.equal(looks.patchKey("ArrowDown", 3, GRID), 6);
    assert.equal(looks.patchKey("End", 5, GRID), 7);
    assert.equal(looks.patchKey("ArrowDown", 0, GRID), 6);
    assert.equal(looks.patchKey("a", 3, GRID), null);
  });
});

describe("looks", () => {
  test("the brightest patch is wholly bright, and brightness is a root", () => {
    assert.deepEqual([...looks.brightness([0, 0.01, 0.04])], [0, 128, 255]);
    assert.deepEqual([...looks.brightness([0, 0])], [0, 0]);
  });
  test("ninths hold every patch once", () => {
    const grid = { ...GRID, rows: 3, columns: 6 };
    const parts = looks.ninths(grid, Array.from({ length: 18 }, (_none, i) => i));
    assert.deepEqual(parts.map(({ patches }) => patches), Array(9).fill(2));
    assert.deepEqual(parts.map(({ sum }) => sum), [1, 5, 9, 13, 17, 21, 25, 29, 33]);
  });
  test("a row and a column of a map", () => {
    const map = Uint8Array.from([255, 0, 0, 255]);
    assert.deepEqual([...lookOf(map, "out", 1)], [0, 1]);
    assert.deepEqual([...lookOf(Uint8Array.from([0, 255, 255, 255]), "in", 0)], [0, 1]);
  });
  test("a sentence says which ninth gets most, and what stays with tokens without a patch", () => {
    const weights = [0.25, 0.25, 0, 0, 0.4, 0, 0, 0.1];
    const said = lookSaid({ head: "Head 1-2", token: "[CLS]", facing: "out", grid: GRID, weights });
    assert.equal(
      said,
      "Head 1-2: [CLS] attends 50% to patches, most to the upper right (40%), 50% to special tokens.",
    );
    const taken = lookSaid({ head: "H", token: "[CLS]", facing: "out", by: "norms", grid: GRID, weights });
    assert.match(taken, /^H: by weight × value norm, \[CLS\] takes 50% from patches/);
    assert.equal(tokenName(GRID, [{ at: 0, name: "[CLS]" }], 0), "[CLS]");
    assert.equal(tokenName(GRID, [], 6), "the patch in row 2, column 2");
  });
});

describe("heads", () => {
  const sheet = { left: 26, top: 18, wide: 30, tall: 20, layers: 2, heads: 3 };
  test("under the pointer, and by keys", () => {
    assert.equal(looks.headUnder(sheet, 27, 19), 0);
    assert.equal(looks.headUnder(sheet, 26 + 89, 18 + 39), 5);
    assert.equal(looks.headUnder(sheet, 26 + 91, 30), -1);
    assert.equal(looks.headUnder(sheet, 10, 30), -1);
    assert.equal(looks.headKey("ArrowDown", 1, sheet), 4);
    assert.equal(looks.headKey("ArrowRight", 2, sheet), 2);
    assert.equal(looks.headKey("x", 2, sheet), null);
  });
  test("as wide as they fit", () => {
    const of = { layers: 12, heads: 12, rows: 16, columns: 16, height: 5000, least: 24, most: 64 };
    assert.equal(looks.headSheet({ ...of, width: 386 }).wide, 30);
    assert.equal(looks.headSheet({ ...of, width: 100 }).wide, 24);
    assert.equal(looks.headSheet({ ...of, width: 2000 }).wide, 64);
    assert.equal(looks.headSheet({ ...of, width: 2000, height: 18 + 12 * 40 }).wide, 40);
  });
});

test("of questions that come while one is under way only the last is asked", async () => {
  const asked = [];
  const answers = [];
  const kept = keeper(2, () => {}, () => {});
  const ask = (name) => () => {
    asked.push(name);
    return new Promise((done) => answers.push(() => done(name)));
  };
  for (const name of ["a", "b", "c"]) assert.equal(kept.get(name, ask(name)), null);
  assert.deepEqual(asked, ["a"]);
  answers[0]();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(asked, ["a", "c"]);
  assert.equal(kept.get("a", ask("a")), "a");
});

test("a saved row has every token, and says what it is of", () => {
  const kept = { layer: 0, head: 1, token: 0, facing: /** @type {const} */ ("out"), by: /** @type {const} */ ("head") };
  const tokens = ["=CLS", "r", "a", "b", "c", "d", "e", "f"];
  const data = /** @type {import("./picture.js").PictureData} */ (/** @type {unknown} */ ({
    about: [["model", "tiny"]],
    tokens,
    grid: GRID,
  }));
  const photo = /** @type {HTMLImageElement} */ (/** @type {unknown} */ (null));
  const look = { data, photo, weights: tokens.map((_none, i) => i / 8), kept, head: "H", token: "[CLS]" };
  const table = rowTable(look);
  assert.deepEqual(rowProvenance(look), { model: "tiny", head: "H", weight: "Weights", looks: "[CLS]" });
  assert.match(table, /^token,name,row,column,weight\r\n/);
  assert.match(table, /\r\n0,'=CLS,,,0\r\n/);
  assert.match(table, /\r\n7,f,2,3,0.875\r\n/);
});

test("bytes are written as text, however many", () => {
  const bytes = Uint8Array.from({ length: 20000 }, (_none, i) => i % 256);
  assert.deepEqual([...Buffer.from(inBase64(bytes), "base64")], [...bytes]);
});

test("lines are cut between words", () => {
  assert.deepEqual(lines("one two three", 8), ["one two", "three"]);
});

test("the echo of a replaced selection is ignored, any other selection is not", () => {
  const [first, second] = [{ layer: 3, token: 2 }, { layer: 4, token: 2 }];
  const sent = [first, second];
  assert.equal(looks.isLatest(sent, { ...first }), false);
  assert.equal(looks.isLatest(sent, { ...second }), true);
  assert.deepEqual(sent, []);
  assert.equal(looks.isLatest([first, second], { ...second }), true); // the server answered both together
  assert.equal(looks.isLatest([first, second], { layer: 0, token: 0 }), true); // another picture
});
