// Maps of a recorded picture, computed in the browser from queries and keys; viz/site_entries.py writes the file.
//
//   header  {payload, said, layers: Layer[], photo}
//   arrays  those of recorded.js; norms.L (key-value head, key) of the values; rollout, square-root bytes (query, key)

import { headWeights } from "./recorded.js";

/** @import { PictureData } from "../picture/picture.js" */
/** @import { PictureSource } from "../picture/picture_source.js" */
/** @import { Decoded, Frame } from "../shared/frames.js" */
/** @import { Layer } from "./recorded.js" */
/** @typedef {Record<string, Partial<PictureData>>} ShotSaid fields of the payload by language */
/** @typedef {{payload: PictureData, said: ShotSaid, layers: Layer[], photo: string}} Shot */

/**
 * Scale the rows of a map by the norm of each key's value, so that each sums to one.
 * @param {Float32Array} map @param {ArrayLike<number>} norms of the keys
 */
export function scaleByNorms(map, norms) {
  const scaled = new Float32Array(map.length);
  const count = norms.length;
  for (let row = 0; row < map.length; row += count) {
    let sum = 0;
    for (let key = 0; key < count; key++) sum += scaled[row + key] = map[row + key] * norms[key];
    for (let key = 0; key < count && sum > 0; key++) scaled[row + key] /= sum;
  }
  return scaled;
}

/**
 * Return the selection of an address if it fits the picture, else the first selection.
 * @param {PictureData} data @param {Record<string, unknown>} raw untrusted
 */
export function fitPicture({ selection, layers, heads, tokens }, raw) {
  const fitting = { ...selection };
  for (
    const [name, end] of /** @type {["layer"|"head"|"token", number][]} */ ([
      ["layer", layers],
      ["head", heads],
      ["token", tokens.length],
    ])
  ) {
    const value = Number(raw[name] ?? NaN);
    if (Number.isInteger(value) && value >= 0 && value < end) fitting[name] = value;
  }
  if (raw.facing === "in" || raw.facing === "out") fitting.facing = raw.facing;
  if (raw.by === "head" || raw.by === "norms" || raw.by === "rollout") fitting.by = raw.by;
  return fitting;
}

/**
 * Return a PictureSource over the queries and keys of a picture; every map is computed once, when it is first needed.
 * @param {Frame & {header: Shot}} frame @returns {PictureSource}
 */
export function recordedPicture({ header, arrays }) {
  const { layers, heads, tokens } = header.payload;
  const count = tokens.length;
  /** @type {Map<string, Float32Array>} */
  const computed = new Map();
  /** @param {number} layer @param {number} head @param {string} by */
  function mapOf(layer, head, by) {
    const id = `${by} ${layer} ${head}`;
    const known = computed.get(id);
    if (known) return known;
    const map = by === "norms" && arrays[`norms.${layer}`]
      ? scaleByNorms(mapOf(layer, head, "head"), normsOf(arrays[`norms.${layer}`], head))
      : headWeights(arrays, header.layers[layer], layer, head);
    computed.set(id, map);
    return map;
  }
  /** @param {Decoded} norms @param {number} head */
  function normsOf({ shape: [groups], data }, head) {
    const group = Math.floor(head / (heads / groups));
    return data.subarray(group * count, (group + 1) * count);
  }
  return {
    photo: header.photo,
    every(facing, token, by) {
      const data = new Float32Array(layers * heads * count);
      for (let id = 0; id < layers * heads; id++) {
        const map = mapOf(Math.floor(id / heads), id % heads, by);
        for (let at = 0; at < count; at++) {
          data[id * count + at] = map[facing === "out" ? token * count + at : at * count + token];
        }
      }
      return Promise.resolve({ heads: layers * heads, count, data });
    },
    map(layer, head, by) {
      if (by === "rollout") return Promise.resolve(/** @type {Uint8Array} */ (arrays.rollout.data));
      const bytes = Uint8Array.from(mapOf(layer, head, by), (weight) => Math.round(255 * Math.sqrt(weight)));
      return Promise.resolve(bytes);
    },
  };
}
