// Sources of arrays: routes of a server, messages of a notebook's kernel, or arrays in an exported file.

import { decodeFrame } from "../shared/frames.js";
import { _ } from "../shared/words.js";

/** @typedef {import("../shared/frames.js").Frame} Frame */
/** @import { Asked, Rows, Source, SourceHooks } from "./types.js" */

export const THUMB = 48; // cells of a thumbnail on each side

export const TILE = 512; // cells of a tile on each side at most

const RETRIED = [429, 502, 503, 504];

/** @param {number} milliseconds @param {AbortSignal} [signal] */
const pause = (milliseconds, signal) => /** @type {Promise<void>} */ (new Promise((done, fail) => {
  const timer = setTimeout(done, milliseconds);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    fail(signal.reason);
  }, { once: true });
}));

/**
 * Return an array of an answer: bytes in a grid, floats in everything else.
 * @template {Uint8Array|Int8Array|Float32Array} Data
 * @param {Frame} answer @param {string} name @param {number} dimensions @param {{new(): Data}} kind
 * @returns {{shape: number[], data: Data}}
 */
function arrayOf(answer, name, dimensions, kind) {
  const array = answer.arrays[name];
  if (array?.shape.length !== dimensions) {
    throw new Error(_("The server's answer lacks the array “{name}” ({dimensions} dimensions).", { name, dimensions }));
  }
  if (!(array.data instanceof kind)) {
    throw new Error(_("The array “{name}” is coded as {dtype}.", { name, dtype: array.dtype }));
  }
  return { shape: array.shape, data: array.data };
}

/**
 * Return a Source for the routes of ui/routes/traces.py. Network errors are retried; `onLost` and `onFound` report
 * them.
 * @param {{base: string, view: string}} data @param {SourceHooks & {fetch?: typeof fetch, wait?: typeof pause}} [hooks]
 * @returns {Source}
 */
export function httpSource({ base, view }, hooks = {}) {
  const ask = hooks.fetch ?? ((/** @type {Parameters<typeof fetch>} */ ...args) => globalThis.fetch(...args));
  const wait = hooks.wait ?? pause;
  /**
   * @param {string} name @param {Record<string, number>} query @param {AbortSignal|undefined} signal
   * @returns {Promise<Frame>}
   */
  async function get(name, query, signal) {
    const numbers = Object.entries(query).map(([field, value]) => [field, String(value)]);
    const address = `${base}/${name}?${view ? `${view}&` : ""}${new URLSearchParams(numbers)}`;
    for (let attempt = 0;; attempt++) {
      const answer = await ask(address, { signal }).catch((error) => {
        if (signal?.aborted || error?.name === "AbortError") throw error;
        return null; // no network or no server, so retry
      });
      if (answer?.ok) {
        hooks.onFound?.();
        return decodeFrame(await answer.arrayBuffer());
      }
      if (answer?.status === 410) hooks.onGone?.();
      if (answer && !RETRIED.includes(answer.status)) throw new Error(await refusal(answer));
      hooks.onLost?.();
      await wait(Math.min(8000, 500 * 2 ** attempt), signal);
    }
  }
  return framesSource(get);
}

/**
 * Return a Source for frames of any origin.
 * @param {(name: keyof Asked, query: Record<string, number>, signal?: AbortSignal) => Promise<Frame>} get
 * @returns {Source}
 */
export function framesSource(get) {
  /** @param {{shape: number[], data: Float32Array}} array @returns {Rows} */
  const asRows = ({ shape: [layers, heads, count], data }) => ({ layers, heads, count, data });
  return {
    async grid(size, { signal } = {}) {
      const answer = await get("grid", { size }, signal);
      const signed = answer.arrays.grid?.data instanceof Int8Array;
      const { shape, data } = signed ? arrayOf(answer, "grid", 4, Int8Array) : arrayOf(answer, "grid", 4, Uint8Array);
      const { rows, habits } = answer.header;
      return {
        layers: shape[0],
        heads: shape[1],
        rows: shape[2],
        cols: shape[3],
        data,
        sampled: Boolean(answer.header.sampled),
        means: arrayOf(answer, "means", 3, Float32Array).data,
        counts: arrayOf(answer, "counts", 2, Float32Array).data,
        summed: Array.isArray(rows) ? new Set(rows) : null,
        habits: habits ?? null,
      };
    },
    rows: async (query, { signal } = {}) =>
      asRows(arrayOf(await get("rows", { query }, signal), "rows", 3, Float32Array)),
    columns: async (key, { signal } = {}) =>
      asRows(arrayOf(await get("columns", { key }, signal), "columns", 3, Float32Array)),
    async tile(query, { signal } = {}) {
      const { shape, data } = arrayOf(await get("tile", query, signal), "tile", 2, Float32Array);
      return { q0: query.q0, q1: query.q1, k0: query.k0, k1: query.k1, rows: shape[0], cols: shape[1], data };
    },
  };
}

/** Return a sentence for an answer that is not a frame. @param {Response} answer */
async function refusal(answer) {
  const text = (await answer.text().catch(() => "")).trim();
  try {
    const told = JSON.parse(text);
    if (told.message || told.error) return String(told.message ?? told.error);
  } catch { /* not JSON, so use the text itself */ }
  return text && text.length < 300 && !text.startsWith("<")
    ? text
    : _("The server answered {status}.", { status: answer.status });
}
