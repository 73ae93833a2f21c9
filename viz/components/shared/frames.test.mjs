import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { frame, HEADS, LAYERS } from "./cases.mjs";
import { decodeFrame, decodeWhole, float16, meaningOf, sqrt8 } from "./frames.js";

describe("numbers", () => {
  test("float16 gives what IEEE 754 says", () => {
    const cases = [
      [0x0000, 0],
      [0x3c00, 1],
      [0xc000, -2],
      [0x3555, 0.333251953125],
      [0x0001, 2 ** -24],
      [0x7bff, 65504],
      [0x7c00, Infinity],
      [0xfc00, -Infinity],
    ];
    for (const [bits, value] of cases) assert.equal(float16(bits), value);
    assert.ok(Number.isNaN(float16(0x7e00)));
    assert.ok(Object.is(float16(0x8000), -0));
  });

  test(
    "every half agrees with DataView where the engine has it",
    { skip: !("getFloat16" in DataView.prototype) },
    () => {
      const view = new DataView(new ArrayBuffer(2));
      for (let bits = 0; bits < 65536; bits += 7) {
        view.setUint16(0, bits);
        assert.ok(Object.is(float16(bits), view.getFloat16(0)) || Number.isNaN(view.getFloat16(0)));
      }
    },
  );

  test("sqrt8 undoes round(255 · √w) to within 0.004", () => {
    for (let w = 0; w <= 1; w += 0.01) assert.ok(Math.abs(sqrt8(Math.round(255 * Math.sqrt(w))) - w) < 0.004);
  });

  test("whole numbers have their low bytes before their high bytes", () =>
    assert.deepEqual([...decodeWhole(Uint8Array.of(2, 3, 88, 0, 0, 2))], [1, -2, 300]));

  test("a frame gives back its header and arrays", () => {
    const grid = Uint8Array.from({ length: LAYERS * HEADS }, (_, i) => i);
    const buffer = frame({ sampled: true, text: "é中" }, [
      ["grid", "sqrt8", [LAYERS, HEADS, 1, 1], grid],
      [
        "w",
        "float16",
        [3],
        new Uint16Array([0x3c00, 0x3800, 0]),
      ],
      ["f", "float32", [1, 2], new Float32Array([0.1, 7])],
      ["n", "whole", [1], Uint8Array.of(3, 0)],
    ]);
    const { header, arrays } = decodeFrame(buffer);
    assert.equal(header.sampled, true);
    assert.equal(header.text, "é中");
    assert.deepEqual([...arrays.grid.data], [0, 1, 2, 3, 4, 5]);
    assert.deepEqual([...arrays.w.data], [1, 0.5, 0]);
    assert.deepEqual(arrays.f.shape, [1, 2]);
    assert.equal(arrays.f.data[1], 7);
    assert.deepEqual([...arrays.n.data], [-2]);
  });

  test("a broken frame is refused with the number that is wrong", () => {
    assert.throws(() => decodeFrame(new ArrayBuffer(2)), /\b2\b/);
    assert.throws(() => decodeFrame(new Uint8Array([255, 0, 0, 0, 0, 0, 0, 0, 1]).buffer), /\b255\b/);
    assert.throws(() => decodeFrame(frame({}, [["w", "F64", [1], new Float64Array(1)]])), /\bF64\b/);
    assert.throws(() => decodeFrame(frame({}, [["w", "float16", [9], new Uint16Array(2)]])), /\b18\b.*\b4\b/);
  });
});

describe("bytes with signs", () => {
  test("they stand for numbers on both sides of zero", () => {
    const bytes = new Int8Array([-127, -64, 0, 127]);
    assert.deepEqual([...bytes].map((byte) => Number(meaningOf(bytes)(byte).toFixed(3))), [-1, -0.254, 0, 1]);
    assert.equal(meaningOf(new Uint8Array(1))(255), 1);
  });
});
