// Decoding of arrays in frames of attention/codec.py.

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

/** Bytes per number. @type {Record<string, number>} */
const WIDTHS = { sqrt8: 1, signed8: 1, float16: 2, float32: 4 };

/** @typedef {{name: string, dtype: string, shape: number[], offset: number, bytes: number}} Entry */
/** @typedef {{dtype: string, shape: number[], data: Uint8Array|Int8Array|Float32Array}} Decoded */
/**
 * @typedef {{means: (number|null)[][][], reach: number, first: boolean}} Habits (layer, head, place);
 * attention/excess.py
 */
/**
 * @typedef {{arrays?: Entry[], sampled?: boolean, rows?: number[]|null, habits?: Habits|null, text?: string}} Header
 */
/** @typedef {{header: Header, arrays: Record<string, Decoded>}} Frame */

/**
 * Decode a frame of attention/codec.py: uint32 header length | JSON header | raw little-endian blocks. sqrt8 and
 * signed8 remain bytes, float16 and float32 become Float32Array.
 * @param {ArrayBuffer} buffer @returns {Frame}
 */
export function decodeFrame(buffer) {
  if (buffer.byteLength < 4) throw new Error(`A frame has at least 4 bytes; this answer has ${buffer.byteLength}.`);
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) {
    throw new Error(`The frame's header should be ${length} bytes long; the answer has only ${buffer.byteLength}.`);
  }
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Frame["arrays"]} */
  const arrays = {};
  for (const entry of header.arrays ?? []) arrays[entry.name] = decodeArray(buffer, 4 + length, entry);
  return { header, arrays };
}

/** @param {ArrayBuffer} buffer @param {number} body @param {Entry} entry @returns {Decoded} */
function decodeArray(buffer, body, { name, dtype, shape, offset, bytes }) {
  const width = WIDTHS[dtype];
  if (!width) throw new Error(`Array ${name} is coded as ${dtype}; expected sqrt8, signed8, float16 or float32.`);
  const count = shape.reduce((product, size) => product * size, 1);
  if (bytes !== count * width || body + offset + bytes > buffer.byteLength) {
    throw new Error(
      `Array ${name} of shape ${shape.join("×")} needs ${
        count * width
      } bytes inside the answer; its entry says ${bytes}.`,
    );
  }
  const block = buffer.slice(body + offset, body + offset + bytes); // an aligned copy, so that the frame can be freed
  if (dtype === "sqrt8") return { dtype, shape, data: new Uint8Array(block) };
  if (dtype === "signed8") return { dtype, shape, data: new Int8Array(block) };
  const data = dtype === "float16" ? decodeHalves(new Uint16Array(block)) : new Float32Array(block);
  return { dtype, shape, data };
}
