// The pure half of viz/components/explore/explore.js. Fixtures have unequal axes (2 layers, 3 heads, 5 queries, 7 keys).
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as colours from "../shared/colours.js";
import * as view from "./explore.js";
import * as frames from "../shared/frames.js";
import * as labels from "../shared/labels.js";
import * as moves from "../shared/moves.js";
import * as texts from "../shared/texts.js";

const explore = { ...colours, ...frames, ...labels, ...moves, ...texts, ...view };

const LAYERS = 2;
const HEADS = 3;
const KEYS = 7;

/** A frame as attention/codec.py writes it. */
function frame(header, arrays) {
  const blocks = [];
  let offset = 0;
  const entries = arrays.map(([name, dtype, shape, typed]) => {
    const entry = { name, dtype, shape, offset, bytes: typed.byteLength };
    const block = new Uint8Array(Math.ceil(typed.byteLength / 8) * 8);
    block.set(new Uint8Array(typed.buffer));
    blocks.push(block);
    offset += block.length;
    return entry;
  });
  let text = JSON.stringify({ ...header, arrays: entries });
  text += " ".repeat((8 - ((new TextEncoder().encode(text).length + 4) % 8)) % 8);
  const head = new TextEncoder().encode(text);
  const out = new Uint8Array(4 + head.length + offset);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, 4);
  let at = 4 + head.length;
  for (const block of blocks) { out.set(block, at); at += block.length; }
  return out.buffer;
}

const cell = (text, word, segment = 0) => ({ text, word, segment, special: word === null });
const WORDS = [cell("[CLS]", null), cell("the", 0), cell("animal", 1), cell("was", 2), cell("tir", 3), cell("ed", 3), cell("the", 4)];
const PAIR = [cell("[CLS]", null, 0), cell("a", 0, 0), cell("[SEP]", null, 0), cell("b", 0, 1), cell("[SEP]", null, 1)];

/** rows (layer, head, key): head (1, 2) looks at key 2 most. */
const ROWS = { layers: LAYERS, heads: HEADS, count: KEYS, data: new Float32Array(LAYERS * HEADS * KEYS) };
ROWS.data.fill(0.05);
const AT = (layer, head, key) => (layer * HEADS + head) * KEYS + key;
ROWS.data[AT(1, 2, 2)] = 0.6;
ROWS.data[AT(1, 2, 0)] = 0.2;
ROWS.data[AT(0, 1, 2)] = 0.3;
ROWS.data[AT(0, 0, 0)] = 0.9;

const DATA = {
  version: 1, state: "ready", message: "", base: "/headlight/trace/abc", view: "part=encoder&words=0", text: "the animal", pair: null,
  model: { name: "tiny", revision: "0123456789abcdef", kind: "encoder" }, layers: LAYERS, heads: HEADS,
  queries: WORDS.slice(0, 5), keys: WORDS, indexBase: 1, measures: {}, selection: {},
};

describe("numbers", () => {
  test("float16 gives what IEEE 754 says", () => {
    const cases = [[0x0000, 0], [0x3c00, 1], [0xc000, -2], [0x3555, 0.333251953125], [0x0001, 2 ** -24], [0x7bff, 65504], [0x7c00, Infinity], [0xfc00, -Infinity]];
    for (const [bits, value] of cases) assert.equal(explore.float16(bits), value);
    assert.ok(Number.isNaN(explore.float16(0x7e00)));
    assert.ok(Object.is(explore.float16(0x8000), -0));
  });

  test("every half agrees with DataView where the engine has it", { skip: !("getFloat16" in DataView.prototype) }, () => {
    const view = new DataView(new ArrayBuffer(2));
    for (let bits = 0; bits < 65536; bits += 7) {
      view.setUint16(0, bits);
      assert.ok(Object.is(explore.float16(bits), view.getFloat16(0)) || Number.isNaN(view.getFloat16(0)));
    }
  });

  test("sqrt8 undoes round(255 · √w) to within 0.004", () => {
    for (let w = 0; w <= 1; w += 0.01) assert.ok(Math.abs(explore.sqrt8(Math.round(255 * Math.sqrt(w))) - w) < 0.004);
  });

  test("a frame gives back its header and arrays", () => {
    const grid = Uint8Array.from({ length: LAYERS * HEADS }, (_, i) => i);
    const buffer = frame({ sampled: true, text: "é中" }, [["grid", "sqrt8", [LAYERS, HEADS, 1, 1], grid], ["w", "float16", [3], new Uint16Array([0x3c00, 0x3800, 0])], ["f", "float32", [1, 2], new Float32Array([0.1, 7])]]);
    const { header, arrays } = explore.decodeFrame(buffer);
    assert.equal(header.sampled, true);
    assert.equal(header.text, "é中");
    assert.deepEqual([...arrays.grid.data], [0, 1, 2, 3, 4, 5]);
    assert.deepEqual([...arrays.w.data], [1, 0.5, 0]);
    assert.deepEqual(arrays.f.shape, [1, 2]);
    assert.equal(arrays.f.data[1], 7);
  });

  test("a broken frame is refused in words", () => {
    assert.throws(() => explore.decodeFrame(new ArrayBuffer(2)), /at least 4 bytes/);
    assert.throws(() => explore.decodeFrame(new Uint8Array([255, 0, 0, 0, 1]).buffer), /255 bytes long/);
    assert.throws(() => explore.decodeFrame(frame({}, [["w", "float64", [1], new Float64Array(1)]])), /coded as float64/);
    assert.throws(() => explore.decodeFrame(frame({}, [["w", "float16", [9], new Uint16Array(2)]])), /needs 18 bytes/);
  });

  test("weights are short but never falsely zero", () => {
    assert.deepEqual([0, 0.677, 1, 0.004, 0.0001].map(explore.short), ["0.00", "0.68", "1.00", "0.004", "<0.001"]);
  });

  test("a scale ends at the largest weight rounded up", () => {
    assert.deepEqual([0.677, 0.95, 1, 0.0123, 0.2, 0.2039, 0].map(explore.niceTop), [0.7, 1, 1, 0.02, 0.2, 0.2, 1]);
  });
});

describe("pooling", () => {
  test("edges and their inverse agree with attention/pooling.py", () => {
    assert.deepEqual([0, 1, 2].map((i) => explore.edge(i, 7, 3)), [0, 2, 4]);
    for (const [length, cells] of [[7, 3], [17, 17], [100, 48], [8192, 500]]) {
      for (let j = 0; j < length; j++) {
        const i = explore.pooledIndex(j, length, cells);
        assert.ok(explore.edge(i, length, cells) <= j && j < explore.edge(i + 1, length, cells));
      }
    }
  });

  test("the largest of each cell survives", () => {
    const values = new Float32Array([1, 2, 0, 0, 0, 5]);
    assert.deepEqual([...explore.poolMax(values, 3, [0, 2], [0, 3], 2, 2)], [1, 2, 0, 5]);
    assert.deepEqual([...explore.poolMax(values, 3, [1, 2], [1, 3], 1, 1)], [5]);
    assert.deepEqual([...explore.poolMax(values, 3, [0, 2], [0, 3], 2, 3)], [...values]);
  });

  test("a thin diagonal is never lost", () => {
    const n = 97;
    const values = Float32Array.from({ length: n * n }, (_, i) => (Math.floor(i / n) === i % n ? 1 : 0));
    const pooled = explore.poolMax(values, n, [0, n], [0, n], 10, 10);
    for (let i = 0; i < 10; i++) assert.equal(pooled[i * 11], 1);
  });

  test("a tile says what it holds at a cell, and over how many", () => {
    const tile = { q0: 2, q1: 7, k0: 0, k1: 7, rows: 2, cols: 3, data: new Float32Array([1, 2, 3, 4, 5, 6]) };
    assert.deepEqual(explore.tileAt(tile, 2, 0), { value: 1, rows: 2, cols: 2 });
    assert.deepEqual(explore.tileAt(tile, 6, 6), { value: 6, rows: 3, cols: 3 });
    assert.equal(explore.tileAt(tile, 1, 0), null);
    assert.equal(explore.tileAt(tile, 2, 7), null);
    assert.equal(explore.isExact(tile), false);
    assert.equal(explore.isExact({ ...tile, rows: 5, cols: 7 }), true);
  });

  test("a small map becomes a tile over all cells", () => {
    const grid = { layers: 2, heads: 3, rows: 1, cols: 2, data: Uint8Array.from({ length: 12 }, (_, i) => i * 20), sampled: false };
    const tile = explore.thumbTile(grid, 1, 2, 5, 7);
    assert.deepEqual([tile.q1, tile.k1, tile.rows, tile.cols], [5, 7, 1, 2]);
    assert.ok(Math.abs(tile.data[1] - (220 / 255) ** 2) < 1e-6);
  });
});

describe("colour", () => {
  /** OKLab lightness, Björn Ottosson 2020. */
  const lightness = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    const cone = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]]
      .map(([x, y, z]) => Math.cbrt(x * r + y * g + z * b));
    return 0.2104542553 * cone[0] + 0.793617785 * cone[1] - 0.0040720468 * cone[2];
  };

  test("the palette's steps are even in lightness, and more is darker on light", () => {
    const steps = explore.ANCHORS.map((hex) => lightness(explore.parseColour(hex)));
    const even = (steps[0] - steps.at(-1)) / (steps.length - 1);
    for (let i = 1; i < steps.length; i++) assert.ok(Math.abs(steps[i - 1] - steps[i] - even) < 0.01, `step ${i}`);
  });

  test("on dark themes it is reversed", () => {
    const [light, dark] = [explore.ramp(false), explore.ramp(true)];
    assert.deepEqual([...light.slice(0, 3)], [...dark.slice(-3)]);
    assert.deepEqual([...light.slice(-3)], [...dark.slice(0, 3)]);
  });

  test("text on any colour of the ramp reads at 4.5 : 1 or better", () => {
    for (const table of [explore.ramp(false), explore.ramp(true)]) {
      for (let i = 0; i < 256; i++) {
        const rgb = [...table.slice(3 * i, 3 * i + 3)];
        assert.ok(explore.contrast(rgb, explore.parseColour(explore.inkOn(rgb))) >= 4.5, `level ${i}`);
      }
    }
  });

  test("levels follow the scale that is named", () => {
    assert.equal(explore.level(0.25, 1, "linear"), 64);
    assert.equal(explore.level(0.25, 1, "sqrt"), 128);
    assert.equal(explore.level(3, 1, "linear"), 255);
    assert.equal(explore.level(0, 0.5, "sqrt"), 0);
  });

  test("Streamlit's ways of writing colours are read", () => {
    assert.deepEqual(explore.parseColour("#0e1117"), [14, 17, 23]);
    assert.deepEqual(explore.parseColour(" #fff "), [255, 255, 255]);
    assert.deepEqual(explore.parseColour("#ff4b4bff"), [255, 75, 75]);
    assert.deepEqual(explore.parseColour("rgba(49, 51, 63, 0.6)"), [49, 51, 63]);
    assert.equal(explore.parseColour(""), null);
    assert.equal(explore.parseColour("url(x)"), null);
  });

  test("eight head colours, all different, on each theme", () => {
    for (const list of Object.values(explore.HEAD_COLOURS)) assert.equal(new Set(list).size, 8);
  });
});

describe("tokens", () => {
  test("nothing invisible stays invisible", () => {
    assert.equal(explore.visible(""), "∅");
    assert.equal(explore.visible("\n"), "⏎");
    assert.equal(explore.visible("  "), "␣␣");
    assert.equal(explore.visible("\u202eevil"), "⟨U+202E⟩evil");
    assert.equal(explore.visible("<script>"), "<script>");
  });

  test("pieces of one word belong together", () => {
    assert.deepEqual(WORDS.map((_, i) => explore.continues(WORDS, i)), [false, false, false, false, false, true, false]);
    assert.equal(explore.continues(PAIR, 3), false); // the same word number, another segment
  });

  test("Arabic pieces keep their joined forms", () => {
    const cells = [cell("متع", 0), cell("بة", 0), cell("جدا", 1)];
    assert.deepEqual(cells.map((_, i) => explore.chipText(cells, i)), ["متع\u200d", "\u200dبة", "جدا"]);
  });

  test("direction is that of the first letter", () => {
    assert.equal(explore.isRtl("123 שלום abc"), true);
    assert.equal(explore.isRtl("abc שלום"), false);
    assert.equal(explore.isRtl("123"), false);
  });

  test("a quoted token says where it stands when the text repeats it", () => {
    assert.equal(explore.quote(WORDS, 2, 1), "“animal”");
    assert.equal(explore.quote(WORDS, 1, 1), "“the” at position 2");
    assert.equal(explore.quote(WORDS, 0, 1), "[CLS]");
    assert.equal(explore.quote([cell("لم", 0)], 0), "“\u2068لم\u2069”");
  });

  test("pair filters leave one segment's rows and columns", () => {
    assert.equal(explore.isPair(PAIR), true);
    assert.equal(explore.isPair(WORDS), false);
    assert.deepEqual(explore.filterRange(PAIR, PAIR, "ab"), { q0: 0, q1: 3, k0: 3, k1: 5 });
    assert.deepEqual(explore.filterRange(PAIR, PAIR, "ba"), { q0: 3, q1: 5, k0: 0, k1: 3 });
    assert.deepEqual(explore.filterRange(PAIR, PAIR, "all"), { q0: 0, q1: 5, k0: 0, k1: 5 });
  });
});

describe("the grid's layout", () => {
  const sizes = [[6, 12, 440, 520], [12, 12, 440, 520], [24, 16, 440, 520]];
  for (const [layers, heads, width, height] of sizes) {
    test(`${layers} × ${heads} fits a wide page without paging`, () => {
      const layout = explore.gridLayout({ width, height, layers, heads, least: 15 });
      assert.equal(layout.pages, 1);
      assert.equal(layout.lines, 1);
      assert.ok(layout.width <= width && layout.height <= height && layout.cell >= 15);
    });

    test(`${layers} × ${heads} on a phone keeps cells of 24 px`, () => {
      const layout = explore.gridLayout({ width: 354, height: 420, layers, heads, least: 24 });
      assert.ok(layout.cell >= 24 && layout.width <= 354 && layout.height <= 420);
      assert.ok(layout.pages * layout.perPage >= layers);
    });
  }

  test("every slot is where it is drawn, on every page", () => {
    for (const order of ["layer", "entropy"]) {
      for (let page = 0; page < 4; page++) {
        const layout = explore.gridLayout({ width: 354, height: 420, layers: 24, heads: 16, least: 24, page });
        for (let y = layout.top; y < layout.height; y += layout.cell) {
          for (let x = layout.left; x < layout.width; x += layout.cell) {
            const slot = explore.slotUnder(layout, order, x + 3, y + 3);
            const [line, column] = explore.slotPlace(layout, order, slot);
            assert.equal(line - layout.firstLayer * layout.lines, Math.round((y - layout.top) / layout.cell));
            assert.equal(column, Math.round((x - layout.left) / layout.cell));
            assert.equal(explore.pageOf(layout, order, slot), page);
          }
        }
      }
    }
  });

  test("outside the maps there is nothing", () => {
    const layout = explore.gridLayout({ width: 300, height: 200, layers: LAYERS, heads: HEADS, least: 15 });
    assert.equal(explore.slotUnder(layout, "layer", 2, 30), -1);
    assert.equal(explore.slotUnder(layout, "layer", 40, 5), -1);
    assert.equal(explore.slotUnder(layout, "layer", 299, 40), -1);
  });

  test("orders", () => {
    const values = [0.3, 0.1, 0.2, 0.1, 0.9, 0];
    assert.deepEqual(explore.orderHeads("layer", 2, 3, values), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(explore.orderHeads("entropy", 2, 3, values), [5, 1, 3, 2, 0, 4]);
    assert.deepEqual(explore.orderHeads("focus", 2, 3, values), [4, 0, 2, 1, 3, 5]);
    assert.deepEqual(explore.orderHeads("focus", 2, 3, null), [0, 1, 2, 3, 4, 5]);
  });

  test("keys move one map and stop at the edges", () => {
    const layout = explore.gridLayout({ width: 300, height: 200, layers: LAYERS, heads: HEADS, least: 15 });
    const key = (name, slot) => explore.gridKey(name, slot, layout, "layer");
    assert.deepEqual(key("ArrowRight", 0), { slot: 1 });
    assert.deepEqual(key("ArrowRight", 2), { slot: 2 });
    assert.deepEqual(key("ArrowDown", 1), { slot: 4 });
    assert.deepEqual(key("ArrowDown", 4), { slot: 4 });
    assert.deepEqual(key("Home", 5), { slot: 3 });
    assert.deepEqual(key("End", 0), { slot: 2 });
    assert.deepEqual(key("Enter", 0), { keep: true });
    assert.deepEqual(key("Escape", 0), { back: true });
    assert.equal(key("x", 0), null);
  });
});

describe("the strip's window", () => {
  test("keys follow the direction of the text", () => {
    assert.deepEqual(explore.stripKey("ArrowRight", 3, 5, false), { index: 4 });
    assert.deepEqual(explore.stripKey("ArrowRight", 3, 5, true), { index: 2 });
    assert.deepEqual(explore.stripKey("ArrowRight", 4, 5, false), { index: 4 });
    assert.deepEqual(explore.stripKey("End", 0, 5, false), { index: 4 });
    assert.equal(explore.stripKey("Enter", 0, 5, false), null); // the button's own click keeps
  });

  test("the window moves only when it must", () => {
    assert.equal(explore.windowOn(150, 100, 200, 8192), 100);
    assert.equal(explore.windowOn(4000, 100, 200, 8192), 3900);
    assert.equal(explore.windowOn(8191, 0, 200, 8192), 7992);
    assert.equal(explore.windowOn(null, 9000, 200, 8192), 7992);
    assert.equal(explore.windowOn(3, 0, 10, 5), 0);
  });
});

describe("the matrix's viewport", () => {
  const area = { w: 400, h: 400 };
  const range = { q0: 0, q1: 8192, k0: 0, k1: 8192 };

  test("everything fits at first", () => {
    const view = explore.fitView(range, area);
    assert.deepEqual(explore.shownCells(view, range, area), { q0: 0, q1: 8192, k0: 0, k1: 8192 });
    assert.equal(explore.fitView({ q0: 0, q1: 5, k0: 0, k1: 7 }, area).scale, 44);
  });

  test("zooming keeps the point under the pointer", () => {
    const before = explore.fitView(range, area);
    const after = explore.zoomAt(before, range, area, 8, 200, 100);
    assert.ok(Math.abs(before.k + 200 / before.scale - (after.k + 200 / after.scale)) < 1e-6);
    assert.ok(Math.abs(before.q + 100 / before.scale - (after.q + 100 / after.scale)) < 1e-6);
  });

  test("a view never leaves its range", () => {
    const view = explore.clampView({ scale: 10, q: 9000, k: -5 }, range, area);
    assert.deepEqual(view, { scale: 10, q: 8152, k: 0 });
    assert.ok(explore.zoomAt(view, range, area, 1e-9, 0, 0).scale >= 400 / 8192);
  });

  test("a short text is fetched whole, a long one by aligned windows of at most 512 cells", () => {
    assert.deepEqual(explore.tileWindow({ q0: 3, q1: 9, k0: 3, k1: 9 }, { q0: 0, q1: 512, k0: 0, k1: 512 }), { q0: 0, q1: 512, k0: 0, k1: 512 });
    for (const scale of [0.06, 0.3, 1, 5, 44]) {
      const shown = explore.shownCells(explore.clampView({ scale, q: 3001.5, k: 777 }, range, area), range, area);
      const tile = explore.tileWindow(shown, range);
      assert.ok(tile.q0 <= shown.q0 && tile.q1 >= shown.q1 && tile.k0 <= shown.k0 && tile.k1 >= shown.k1);
      if (shown.q1 - shown.q0 <= 448) assert.ok(tile.q1 - tile.q0 <= 512, `exact at scale ${scale}`);
      assert.equal(tile.q0 % 32, 0);
    }
  });

  test("labels thin out", () => {
    assert.equal(explore.labelStep(26), 1);
    assert.equal(explore.labelStep(6.5), 2);
    const { plain, forced } = explore.labelled(0, 20, 6.5, [7, -1]);
    assert.deepEqual(forced, [7]);
    assert.ok(!plain.includes(6) && !plain.includes(8) && plain.includes(4));
  });

  test("keys move the cell, zoom, pan and keep", () => {
    const small = { q0: 0, q1: 5, k0: 0, k1: 7 };
    assert.deepEqual(explore.matrixKey("ArrowRight", false, { row: 1, col: 6 }, small), { row: 1, col: 6 });
    assert.deepEqual(explore.matrixKey("ArrowDown", false, { row: 1, col: 6 }, small), { row: 2, col: 6 });
    assert.deepEqual(explore.matrixKey("ArrowDown", true, { row: 1, col: 6 }, small), { pan: [1, 0] });
    assert.deepEqual(explore.matrixKey("+", true, { row: 0, col: 0 }, small), { zoom: 1.5 });
    assert.deepEqual(explore.matrixKey("Enter", false, { row: 0, col: 0 }, small), { keep: true });
    assert.equal(explore.matrixKey("a", false, { row: 0, col: 0 }, small), null);
  });
});

describe("the sentence of truth", () => {
  const facts = { say: explore.WORDS, base: 1, layer: 1, head: 2, facing: "out", pivot: 3, pivots: WORDS, others: WORDS, same: true };
  const say = (change) => explore.truth({ ...facts, values: explore.slice(ROWS, 1, 2), rows: ROWS, ...change });

  test("names the head, the words, the weight and how many heads have less", () => {
    assert.equal(say({}), "Layer 2 · head 3: “was” looks most at “animal” (0.60), more than in any other head.");
  });

  test("is honest about special tokens", () => {
    assert.equal(say({ layer: 0, head: 0, values: explore.slice(ROWS, 0, 0) }),
      "Layer 1 · head 1: “was” looks mostly at [CLS] (0.90); among words most at “the” at position 2 (0.05), more than in 0 of the other 5 heads.");
  });

  test("says itself for itself", () => {
    assert.match(say({ pivot: 2 }), /“animal” looks most at itself \(0\.60\)/);
    assert.match(say({ pivot: 2, same: false }), /looks most at “animal”/);
  });

  test("turns round for what is looked at, and stays silent on what is not known", () => {
    assert.equal(say({ facing: "in", rows: null }), "Layer 2 · head 3: “was” is looked at most by “animal” (0.60).");
    assert.equal(say({ values: null }), "Layer 2 · head 3.");
  });
});

describe("links and tables", () => {
  test("the strongest links of all heads, in order", () => {
    const links = explore.topLinks(ROWS, 3);
    assert.deepEqual(links.map(({ layer, head, token }) => [layer, head, token]), [[0, 0, 0], [1, 2, 2], [0, 1, 2]]);
    const words = explore.topLinks(ROWS, 2, (i) => !WORDS[i].special);
    assert.deepEqual(words.map(({ layer, head, token }) => [layer, head, token]), [[1, 2, 2], [0, 1, 2]]);
    assert.equal(explore.topLinks(ROWS, 100).length, LAYERS * HEADS * KEYS);
  });

  test("the default target is a word and not the focus itself", () => {
    assert.equal(explore.strongestTarget(explore.slice(ROWS, 1, 2), WORDS, 3, true), 2);
    assert.notEqual(explore.strongestTarget(explore.slice(ROWS, 1, 2), WORDS, 2, true), 2);
    assert.equal(explore.strongestTarget(explore.overAllHeads(ROWS), WORDS, 3, true), 2);
    assert.ok(Math.abs(explore.overAllHeads(ROWS)[0] - 0.9) < 1e-6);
    assert.equal(explore.strongestTarget([0.9, 0.1], [cell("[CLS]", null), cell("[SEP]", null)], 1, true), 0);
  });

  test("CSV quotes what needs it and is never a formula", () => {
    assert.equal(explore.csv([["a,b", 'say "x"', "=1+1", "-", 0.5, "line\nbreak"]]), '"a,b","say ""x""",\'=1+1,-,0.5,"line\nbreak"\r\n');
    assert.equal(explore.csvField(-0.5), "-0.5");
  });

  test("XML text is escaped, and what XML cannot hold is replaced", () => {
    assert.equal(explore.xmlEscape(`<script a="b">'&`), "&lt;script a=&quot;b&quot;&gt;&#39;&amp;");
    assert.equal(explore.xmlEscape("a\u0000b\ud800c😀"), "a\ufffdb\ufffdc😀");
  });

  test("the SVG pen writes escaped marks", () => {
    const pen = explore.svgPen(100, 50, 'a"b');
    pen.text("</text><script>", 1, 2, { rotate: -90 });
    pen.rect(0, 0, 5, 5, { fill: '"/><x' });
    const svg = pen.finish();
    assert.ok(svg.startsWith("<svg ") && svg.endsWith("</svg>"));
    assert.ok(!svg.includes("<script") && !svg.includes("<x") && svg.includes("&lt;/text&gt;"));
  });

  test("captions say model, revision, text, head, scale and index base", () => {
    const text = explore.caption(DATA, explore.fitSelection(DATA, { layer: 1, head: 2 })).join("\n");
    for (const part of ["Layer 2 · head 3", "square-root", "counted from 1", "tiny @ 0123456789a…", "the animal"]) assert.ok(text.includes(part), part);
  });

  test("addresses of downloads carry the view and the selection", () => {
    const selection = explore.fitSelection(DATA, { layer: 1, head: 2, focus: 3, pinned: [[0, 1], [1, 0]] });
    const address = explore.exportAddress(DATA, selection, "csv");
    assert.equal(address, "/headlight/trace/abc/export.csv?part=encoder&words=0&layer=1&head=2&focus=3&tab=matrix&order=layer&scale=sqrt&filter=all&pinned=0.1-1.0");
  });

  test("wordings are filled in and unknown names left", () => {
    assert.equal(explore.fill("{a} and {b}", { a: 1 }), "1 and {b}");
  });
});

describe("the selection", () => {
  test("is brought into range", () => {
    const wild = explore.fitSelection(DATA, { layer: 9, head: -1, focus: 5, target: 6, tab: "x", scale: "linear", filter: "ab", pinned: [[0, 1], [5, 5], "no"] });
    assert.deepEqual(wild, { ...explore.FIRST, target: 6, scale: "linear", pinned: [[0, 1]] });
    assert.deepEqual(explore.fitSelection(DATA, undefined), explore.FIRST);
  });

  test("heads are pinned and unpinned, eight at most", () => {
    assert.deepEqual(explore.togglePin([[0, 1]], 0, 1), []);
    let pinned = [];
    for (let head = 0; head < 10; head++) pinned = explore.togglePin(pinned, 0, head);
    assert.equal(pinned.length, 8);
    assert.deepEqual(pinned.at(-1), [0, 9]);
  });

  test("an echo of what was sent is no news; a link or the back button is", () => {
    const echoes = explore.createEchoes();
    const at = (head) => ({ ...explore.FIRST, head });
    assert.equal(echoes.isNews(at(0)), true);
    assert.equal(echoes.isNews(at(0)), false);
    echoes.sent(at(1));
    echoes.sent(at(2));
    assert.equal(echoes.isNews(at(1)), false);
    assert.equal(echoes.isNews({ pinned: [], ...at(2) }), false);
    assert.equal(echoes.isNews(at(1)), true); // back
  });

  test("a store tells its listeners once per change", () => {
    const store = explore.createStore({ a: 1, b: 2 });
    let calls = 0;
    const stop = store.subscribe(() => calls++);
    store.set({ a: 1 });
    store.set({ a: 3 });
    stop();
    store.set({ a: 4 });
    assert.equal(calls, 1);
    assert.deepEqual(store.state, { a: 4, b: 2 });
  });
});

describe("where numbers come from", () => {
  const tile = () => frame({ exact: true }, [["tile", "float16", [1, 2], new Uint16Array([0x3c00, 0])]]);
  const answer = (status, body) => ({ ok: status === 200, status, arrayBuffer: async () => body, text: async () => body });
  const query = { layer: 0, head: 1, q0: 0, q1: 1, k0: 0, k1: 2, size: 512 };

  test("the address is the contract's", async () => {
    const asked = [];
    const source = explore.httpSource(DATA, { fetch: async (address) => { asked.push(address); return answer(200, tile()); } });
    const found = await source.tile(query);
    assert.equal(asked[0], "/headlight/trace/abc/tile?part=encoder&words=0&layer=0&head=1&q0=0&q1=1&k0=0&k1=2&size=512");
    assert.deepEqual([...found.data], [1, 0]);
    await assert.rejects(source.grid(48), /no array “grid”/);
    assert.equal(asked[1], "/headlight/trace/abc/grid?part=encoder&words=0&size=48");
  });

  test("a lost connection is told and tried again", async () => {
    const told = [];
    let calls = 0;
    const fetch = async () => { if (calls++ < 2) throw new TypeError("Failed to fetch"); return answer(200, tile()); };
    const source = explore.httpSource(DATA, { fetch, wait: async () => {}, onLost: () => told.push("lost"), onFound: () => told.push("found") });
    await source.tile(query);
    assert.deepEqual(told, ["lost", "lost", "found"]);
  });

  test("410 asks for the trace again; other refusals are told in the server's words", async () => {
    let gone = 0;
    const source = (status, body) => explore.httpSource(DATA, { fetch: async () => answer(status, body), onGone: () => gone++ });
    await assert.rejects(source(410, "No longer in memory.").rows(1), /No longer in memory/);
    assert.equal(gone, 1);
    await assert.rejects(source(400, '{"message": "“layer” is 9."}').rows(1), /“layer” is 9/);
    await assert.rejects(source(500, "<html>").rows(1), /answered 500/);
  });

  test("an aborted request is not retried", async () => {
    const controller = new AbortController();
    const source = explore.httpSource(DATA, { fetch: async () => { controller.abort(); throw new DOMException("aborted", "AbortError"); }, onLost: () => assert.fail() });
    await assert.rejects(source.rows(1, { signal: controller.signal }), { name: "AbortError" });
  });

  test("a feed asks once, keeps what fits and aborts what is no longer asked", async () => {
    const asked = [];
    const aborted = [];
    const source = { rows: (query, { signal }) => { asked.push(query); signal.addEventListener("abort", () => aborted.push(query)); return query === 9 ? new Promise(() => {}) : Promise.resolve({ data: new Float32Array(100) }); } };
    let arrived = 0;
    const feed = explore.createFeed(source, { onArrive: () => arrived++, onError: assert.fail, budget: 1000 });
    const round = (...queries) => { feed.begin(); for (const query of queries) feed.get("rows", query); return feed.end(); };
    assert.equal(round(1), false);
    assert.equal(round(1), false);
    await new Promise(setImmediate);
    assert.equal(round(1), true);
    assert.deepEqual([asked, arrived], [[1], 1]);
    round(9);
    round(2);
    assert.deepEqual(aborted, [9]);
    await new Promise(setImmediate);
    round(3);
    await new Promise(setImmediate);
    assert.equal(feed.peek("rows", 1), null); // the oldest went when the budget was full
    assert.ok(feed.peek("rows", 3));
  });

  test("an embedded source answers what the server would", async () => {
    const [queries, keys] = [5, 7];
    const data = Float32Array.from({ length: LAYERS * HEADS * queries * keys }, (_, i) => (i % 97) / 97);
    const source = explore.embeddedSource({ shape: [LAYERS, HEADS, queries, keys], data });
    const at = (layer, head, q, k) => data[((layer * HEADS + head) * queries + q) * keys + k];
    const rows = await source.rows(4);
    const columns = await source.columns(6);
    assert.equal(explore.slice(rows, 1, 2)[6], at(1, 2, 4, 6));
    assert.equal(explore.slice(columns, 1, 2)[4], at(1, 2, 4, 6));
    assert.deepEqual([rows.count, columns.count], [keys, queries]);
    const tile = await source.tile({ layer: 1, head: 0, q0: 1, q1: 4, k0: 2, k1: 7, size: 512 });
    assert.equal(explore.tileAt(tile, 3, 6).value, at(1, 0, 3, 6));
    const grid = await source.grid(3);
    assert.deepEqual([grid.rows, grid.cols, grid.data.length], [3, 3, LAYERS * HEADS * 9]);
    const largest = Math.max(...data.subarray(0, queries * keys));
    assert.equal(Math.max(...grid.data.subarray(0, 9)), Math.round(255 * Math.sqrt(largest)));
  });

  test("a failed question is told once and asked again only on retry", async () => {
    let calls = 0;
    const errors = [];
    const source = { grid: async () => { calls++; throw new Error("no"); } };
    const feed = explore.createFeed(source, { onArrive: () => {}, onError: (error) => errors.push(error.message) });
    feed.get("grid", 48);
    await new Promise(setImmediate);
    feed.get("grid", 48);
    await new Promise(setImmediate);
    assert.deepEqual([calls, errors], [1, ["no"]]);
    feed.retry();
    feed.get("grid", 48);
    assert.equal(calls, 2);
  });
});
