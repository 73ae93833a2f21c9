// Decoding of maps in files of attention/codec.py: safetensors with JSON in the metadata.

/** Return the value of 16 bits in IEEE 754 half precision. @param {number} bits */
export function float16(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Return the weight of a square-root byte; attention/codec.py. @param {number} byte */
export const sqrt8 = (byte) => (byte / 255) ** 2;

/** Return the number of a signed square-root byte; attention/codec.py. @param {number} byte */
export const signed8 = (byte) => Math.sign(byte) * (byte / 127) ** 2;

/** Return the decoder of an array of bytes, signed or unsigned. @param {Uint8Array|Int8Array} bytes */
export const meaningOf = (bytes) => (bytes instanceof Int8Array ? signed8 : sqrt8);

/** @type {Float32Array|undefined} the value of every half, computed once */
let halves;

/** @param {Uint16Array} coded @returns {Float32Array} */
export function decodeHalves(coded) {
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => float16(bits));
  const values = new Float32Array(coded.length);
  for (let i = 0; i < coded.length; i++) values[i] = halves[coded[i]];
  return values;
}

/** Return the numbers of `whole` in attention/codec.py. @param {Uint8Array} planes low bytes, then high bytes */
export function decodeWhole(planes) {
  const values = new Float32Array(planes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const number = planes[i] + 256 * planes[values.length + i];
    values[i] = number & 1 ? -(number + 1) / 2 : number / 2;
  }
  return values;
}

/**
 * Bytes per number of each type, and the coding that the type states. @type {Record<string, [number, string]>}
 */
const CODINGS = {
  ...{ U8: [1, "sqrt8"], I8: [1, "signed8"] },
  ...{ U16: [2, "whole"], F16: [2, "float16"], F32: [4, "float32"] },
};

/** @typedef {{dtype: string, shape: number[], data_offsets: [number, number]}} Entry */
/** @typedef {{dtype: string, shape: number[], data: Uint8Array|Int8Array|Float32Array}} Decoded */
/**
 * @typedef {{means: (number|null)[][][], reach: number, first: boolean}} Habits (layer, head, place);
 * attention/excess.py
 */
/**
 * @typedef {{sampled?: boolean, rows?: number[]|null, habits?: Habits|null, text?: string}} Header
 */
/** @typedef {{header: Header, arrays: Record<string, Decoded>}} Frame */

/**
 * Decode maps: uint64 header length | JSON header | little-endian tensors. sqrt8 and signed8 remain bytes, other
 * numbers become Float32Array.
 * @param {ArrayBuffer} buffer @returns {Frame}
 */
export function decodeFrame(buffer) {
  if (buffer.byteLength < 8) throw new Error(`A frame has at least 8 bytes; this answer has ${buffer.byteLength}.`);
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (8 + length > buffer.byteLength) {
    throw new Error(`The frame's header should be ${length} bytes long; the answer has only ${buffer.byteLength}.`);
  }
  const { __metadata__: metadata, ...entries } = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 8, length)),
  );
  /** @type {Frame["arrays"]} */
  const arrays = {};
  for (const [name, entry] of Object.entries(entries)) arrays[name] = decodeArray(buffer, 8 + length, name, entry);
  return { header: JSON.parse(metadata.headlight), arrays };
}

/** @param {ArrayBuffer} buffer @param {number} body @param {string} name @param {Entry} entry @returns {Decoded} */
function decodeArray(buffer, body, name, { dtype, shape, data_offsets: [start, end] }) {
  const [width, coding] = CODINGS[dtype] ?? [0, ""];
  if (!width) throw new Error(`Array ${name} has type ${dtype}; expected ${Object.keys(CODINGS).join(", ")}.`);
  const bytes = width * shape.reduce((product, size) => product * size, 1);
  if (bytes !== end - start || body + end > buffer.byteLength) {
    throw new Error(
      `Array ${name} of shape ${shape.join("×")} needs ${bytes} bytes inside the answer; it has ${end - start}.`,
    );
  }
  const block = buffer.slice(body + start, body + end); // an aligned copy, so that the frame can be freed
  if (dtype === "U8") return { dtype: coding, shape, data: new Uint8Array(block) };
  if (dtype === "I8") return { dtype: coding, shape, data: new Int8Array(block) };
  if (dtype === "U16") return { dtype: coding, shape, data: decodeWhole(new Uint8Array(block)) };
  const data = dtype === "F16" ? decodeHalves(new Uint16Array(block)) : new Float32Array(block);
  return { dtype: coding, shape, data };
}
