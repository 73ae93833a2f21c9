// Sources of an image and its maps: routes of the server (ui/routes/pictures.py), or the data in a standalone file.

import { decodeFrame, sqrt8 } from "../shared/frames.js";
import { _ } from "../shared/words.js";

/** @typedef {"head"|"norms"|"rollout"} Kind kind of map: weights, weights scaled by value norms, rollout */
/** @typedef {{heads: number, count: number, data: Float32Array}} EveryHead of a token: a row in each head */
/**
 * @typedef {object} PictureSource
 * @property {string} photo address of the image
 * @property {(facing: "out"|"in", token: number, by: Kind) => Promise<EveryHead>} every
 * @property {(layer: number, head: number, by: Kind) => Promise<Uint8Array>} map square-root bytes, (query, key)
 */
/** @typedef {{shape: number[], data: string}} Packed square-root bytes, deflated, in base64 */
/**
 * @typedef {object} Inside written into a file by viz/components/picture/content.py
 * @property {string} photo
 * @property {Record<string, Packed>} maps by "kind.layer.head", and "rollout"
 * @property {Record<string, Packed>} every by "kind.facing.token"
 * @property {string} absent message if the file lacks an array
 */

/** The error for a trace that the server no longer has; the page must compute it again. */
export const FORGOTTEN = new Error();

/** The weight of each square-root byte. */
export const WEIGHT = Float32Array.from({ length: 256 }, (_none, byte) => sqrt8(byte));

/** @param {{base: string, view: string}} data @returns {PictureSource} */
export function routes({ base, view }) {
  /** @param {string} name @param {Record<string, number>} query */
  async function get(name, query) {
    const numbers = Object.entries(query).map(([field, value]) => [field, String(value)]);
    const answer = await fetch(`${base}/${name}?${view}&${new URLSearchParams(numbers)}`);
    if (answer.status === 410) throw FORGOTTEN;
    if (!answer.ok) throw new Error(_("The server answered {status}.", { status: answer.status }));
    return decodeFrame(await answer.arrayBuffer()).arrays;
  }
  return {
    photo: `${base}/picture.jpg?${view}`,
    async every(facing, token, by) {
      const name = facing === "out" ? "rows" : "columns";
      const asked = { [facing === "out" ? "query" : "key"]: token };
      const array = (await get(by === "norms" ? `norms_${name}` : name, asked))[name];
      const [layers, heads, count] = array.shape;
      return { heads: layers * heads, count, data: /** @type {Float32Array} */ (array.data) };
    },
    async map(layer, head, by) {
      const array = (await get(by === "head" ? "patches" : by, by === "rollout" ? {} : { layer, head })).map;
      return /** @type {Uint8Array} */ (array.data);
    },
  };
}

/** Encode bytes in base64. @param {Uint8Array} bytes */
export function inBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

/** @param {Inside} inside @returns {PictureSource} */
export function ofFile({ photo, maps, every, absent }) {
  /** @param {Packed|undefined} packed */
  async function open(packed) {
    if (!packed) throw new Error(absent);
    const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  }
  return {
    photo,
    async every(facing, token, by) {
      const packed = every[`${by}.${facing}.${token}`];
      const data = Float32Array.from(await open(packed), (byte) => WEIGHT[byte]);
      const [layers, heads, count] = packed.shape;
      return { heads: layers * heads, count, data };
    },
    map: (layer, head, by) => open(maps[by === "rollout" ? by : `${by}.${layer}.${head}`]),
  };
}

/**
 * Return a token's row or column of a head's map, as weights.
 * @param {Uint8Array} map @param {"out"|"in"} facing @param {number} token
 */
export function lookOf(map, facing, token) {
  const count = Math.round(Math.sqrt(map.length));
  const [from, step] = facing === "out" ? [token * count, 1] : [token, count];
  return Float32Array.from({ length: count }, (_none, i) => WEIGHT[map[from + i * step]]);
}

/**
 * Create a cache of answers by key, which evicts the oldest. While a request is in flight, only the last of the later
 * requests is kept. `arrived` is called after each answer.
 * @template Answer
 * @param {number} most number of cached answers @param {() => void} arrived @param {(error: Error) => void} failed
 */
export function keeper(most, arrived, failed) {
  /** @type {Map<string, Answer>} */
  const kept = new Map();
  /** @type {Set<string>} */
  const refused = new Set();
  let asking = "";
  /** @type {{key: string, ask: () => Promise<Answer>}|null} */
  let next = null;
  /** @param {string} key @param {() => Promise<Answer>} ask */
  function start(key, ask) {
    asking = key;
    ask().then(
      (answer) => {
        kept.set(key, answer);
        if (kept.size > most) kept.delete(/** @type {string} */ (kept.keys().next().value));
      },
      (error) => {
        refused.add(key);
        failed(error);
      },
    ).then(() => {
      asking = "";
      const then = next;
      next = null;
      if (then && !kept.has(then.key)) start(then.key, then.ask);
      arrived();
    });
  }
  return {
    /**
     * Return a cached answer; else request it and return null.
     * @param {string} key @param {() => Promise<Answer>} ask
     */
    get(key, ask) {
      const found = kept.get(key);
      if (found !== undefined) return found;
      if (asking === "" && !refused.has(key)) start(key, ask);
      else if (asking !== key && !refused.has(key)) next = { key, ask };
      return null;
    },
  };
}
