// The model of a static site in the browser: download of its files, rows of the embedding table, and passes.

import { _ } from "../shared/words.js";
import { readText } from "./live_cells.js";
import { headWeights } from "./recorded.js";
import { unpack } from "./unpack.js";

/** @import { Habits } from "../shared/frames.js" */
/** @import { Payload } from "../explore/types.js" */
/** @import { Reading, Tokenizer } from "./live_cells.js" */
/** @import { Feed } from "./live_worker.js" */
/** @typedef {{file: string, bytes: number}} Part a file, with its size on the way */
/** @typedef {Record<"runtime"|"worker"|"tokenizers"|"wasm"|"graph"|"tokenizer", Part>} Files */
/** @typedef {{shape: number[], data: Float32Array}} Numbers */
/**
 * The contents of live/model-….json, which viz/site_live.py writes.
 * @typedef {object} Manifest
 * @property {string} name of the model
 * @property {number} layers @property {number} heads @property {number} channels
 * @property {import("./live_similarity.js").Pooling|null} pooling null if the page does not know it
 * @property {number} longest tokens of a text at most
 * @property {Files} files
 * @property {string[]} rows files of the embedding table @property {number} rowsPerFile
 * @property {Record<string, {single: Payload, pair: Payload}>} templates by language
 * @property {Habits|null} habits
 * @property {{text: string, maps: string}} check a text with the weights of the Python app
 */
/** @typedef {{maps: Float32Array[], states: Numbers, milliseconds: number}} Pass maps by layer × heads + head */
/** @typedef {Awaited<ReturnType<typeof openModel>>} Model */
/** @typedef {{signal?: AbortSignal, report?: (bytes: number) => void}} Progress */

/** Return the address of a file of the site. @param {string} file */
const address = (file) => new URL(file, document.baseURI).href;

/** Return the content of a file without gzip. @param {string} file @param {Progress} [progress] */
export async function download(file, { signal, report } = {}) {
  const answer = await fetch(address(file), { signal });
  if (!answer.ok || !answer.body) throw new Error(_("The server answered {status}.", { status: answer.status }));
  const parts = [];
  const reader = answer.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    report?.(part.value.byteLength);
  }
  return unpack(await new Blob(parts).arrayBuffer());
}

/**
 * Start the worker of the model. Return a function that asks it and one that ends it.
 * @param {string} script
 */
function startWorker(script) {
  const worker = new Worker(address(script), { type: "module" });
  /** @type {Map<number, {done: (result: Record<string, Numbers>) => void, fail: (error: Error) => void}>} */
  const waiting = new Map();
  let asked = 0;
  worker.onmessage = ({ data: { id, result, error } }) => {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asker?.done(result);
    else asker?.fail(new Error(error));
  };
  worker.onerror = ({ message }) => {
    for (const { fail } of waiting.values()) fail(new Error(message));
    waiting.clear();
  };
  return {
    /** @param {object} question @param {Transferable[]} [given] @returns {Promise<Record<string, Numbers>>} */
    ask: (question, given = []) =>
      new Promise((done, fail) => {
        waiting.set(++asked, { done, fail });
        worker.postMessage({ id: asked, ...question }, given);
      }),
    end: () => worker.terminate(),
  };
}

/**
 * Return a function that returns rows of the embedding table, (token, channel); files are fetched as needed. A file has
 * the scale of each row as float32, then its numbers as int16.
 * @param {Pick<Manifest, "rows"|"rowsPerFile"|"channels">} manifest @param {(file: string) => Promise<ArrayBuffer>} get
 */
export function createTable({ rows, rowsPerFile, channels }, get = download) {
  /** @type {Map<string, Promise<ArrayBuffer>>} */
  const files = new Map();
  /** @param {string} file */
  function load(file) {
    const known = files.get(file) ?? get(file);
    files.set(file, known);
    known.catch(() => files.delete(file));
    return known;
  }
  return /** @param {number[]} ids */ async (ids) => {
    const found = await Promise.all(ids.map((id) => load(rows[Math.floor(id / rowsPerFile)])));
    const table = new Float32Array(ids.length * channels);
    ids.forEach((id, at) => {
      const many = found[at].byteLength / (4 + 2 * channels); // the last file may have fewer rows
      const scale = new Float32Array(found[at], 0, many)[id % rowsPerFile];
      const numbers = new Int16Array(found[at], 4 * many + 2 * channels * (id % rowsPerFile), channels);
      for (let channel = 0; channel < channels; channel++) table[at * channels + channel] = numbers[channel] * scale;
    });
    return table;
  };
}

/**
 * Download a graph with its tokenizer, and open it in a worker.
 * @param {Files} files @param {Progress} progress @param {(content: ArrayBuffer) => ArrayBuffer} [restore] returns the
 * graph of its file's content
 */
export async function openGraph(files, progress, restore = (content) => content) {
  const [wasm, content, tokens] = await Promise.all(
    [files.wasm, files.graph, files.tokenizer].map(({ file }) => download(file, progress)),
  );
  const { Tokenizer: Kind } = await import(address(files.tokenizers.file));
  /** @type {{model: {vocab: Record<string, number>}}} */
  const stated = JSON.parse(new TextDecoder().decode(tokens));
  /** @type {Tokenizer} */
  const tokenizer = new Kind(stated, {});
  progress.signal?.throwIfAborted();
  const worker = startWorker(files.worker.file);
  progress.signal?.addEventListener("abort", () => worker.end());
  const graph = restore(content);
  await worker.ask({ open: { runtime: address(files.runtime.file), wasm, graph } }, [wasm, graph]);
  return { tokenizer, worker, vocabulary: stated.model.vocab };
}

/**
 * Throw an error if a text has too many tokens.
 * @param {{ids: number[]}} reading @param {{longest: number}} manifest
 */
export function refuseLong({ ids: { length: tokens } }, { longest: most }) {
  if (tokens <= most) return;
  throw new Error(_("The text has {tokens} tokens; the limit here is {most}. Shorten it.", { most, tokens }));
}

/** Return numbers as an input of a graph, (token,) int64. @param {number[]} numbers @returns {Feed} */
export const integers = (numbers) => ({
  type: "int64",
  data: BigInt64Array.from(numbers, BigInt),
  dims: [numbers.length],
});

/**
 * Download the model and open it. Return functions that read a text, run it, and end the model.
 * @param {Manifest} manifest @param {Progress} progress
 */
export async function openModel(manifest, progress) {
  const { files, layers, heads, channels } = manifest;
  const { tokenizer, worker } = await openGraph(files, progress);
  const table = createTable(manifest);

  /**
   * Return the maps and the states of a text; ablated heads are numbers, layer × heads + head.
   * @param {Reading} reading @param {number[]} [ablated] @returns {Promise<Pass>}
   */
  async function run({ ids, types }, ablated = []) {
    const size = ids.length;
    const words = await table(ids);
    const started = performance.now();
    const kept = new Float32Array(layers * heads).fill(1);
    for (const id of ablated) kept[id] = 0;
    /** @type {Record<string, Feed>} */
    const feeds = {
      words: { type: "float32", data: words, dims: [size, channels] },
      types: integers(types),
      kept: { type: "float32", data: kept, dims: [layers, heads] },
    };
    const found = await worker.ask({ run: feeds });
    const arrays = Object.fromEntries(
      Object.entries(found).map(([name, numbers]) => [name, { dtype: "float32", ...numbers }]),
    );
    const maps = Array.from(
      { length: layers * heads },
      (_one, id) => headWeights(arrays, {}, Math.floor(id / heads), id % heads),
    );
    return { maps, states: found.states, milliseconds: performance.now() - started };
  }
  return {
    /** @param {string} text @param {string|null} [pair] */
    read: (text, pair = null) => readText(tokenizer, text, pair),
    run,
    end: worker.end,
  };
}
