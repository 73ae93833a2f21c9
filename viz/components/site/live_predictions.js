// The model for masked words in the browser: the likeliest words at each mask of a text.

import { readText } from "./live_cells.js";
import { integers, openGraph } from "./live_model.js";

/** @import { Reading } from "./live_cells.js" */
/** @import { Files, Progress } from "./live_model.js" */
/**
 * The contents of live/masks-….json, which viz/site_live.py writes.
 * @typedef {{name: string, longest: number, files: Files}} MaskManifest
 */
/** @typedef {{word: string, probability: number}} Prediction */
/** @typedef {Awaited<ReturnType<typeof openPredictor>>} Predictor */

export const MASK = "[MASK]";
const SHOWN = 10; // words of each mask

/**
 * Return a file whose first half has its even bytes, and whose second half has its odd bytes.
 * @param {ArrayBuffer} content
 */
export function interleave(content) {
  const [from, to] = [new Uint8Array(content), new Uint8Array(content.byteLength)];
  const middle = Math.ceil(from.length / 2);
  for (let at = 0; at < middle; at++) to[2 * at] = from[at];
  for (let at = middle; at < from.length; at++) to[2 * (at - middle) + 1] = from[at];
  return to.buffer;
}

/** Return the positions of the masks. @param {Reading} reading */
export const masksOf = ({ cells }) => cells.flatMap(({ text, special }, at) => !special && text === MASK ? [at] : []);

/**
 * Return the likeliest words with their probabilities, as inference/runners/masked_words.py.
 * @param {Float32Array} logits (token of the vocabulary,) @param {string[]} tokens @returns {Prediction[]}
 */
export function likeliest(logits, tokens) {
  const most = logits.reduce((largest, value) => Math.max(largest, value), -Infinity);
  const powers = Float64Array.from(logits, (value) => Math.exp(value - most));
  const total = powers.reduce((sum, value) => sum + value, 0);
  const order = Uint32Array.from(powers, (_value, token) => token).sort((one, other) => powers[other] - powers[one]);
  return [...order.subarray(0, SHOWN)].map((token) => ({
    word: tokens[token].replace(/^##(?=.)/, "…"),
    probability: powers[token] / total,
  }));
}

/**
 * Download the model for masked words and open it. Return functions that read a text, predict its masks, and end it.
 * @param {MaskManifest} manifest @param {Progress} progress
 */
export async function openPredictor({ files }, progress) {
  const { tokenizer, worker, vocabulary } = await openGraph(files, progress, interleave);
  /** @type {string[]} */
  const tokens = [];
  for (const [token, id] of Object.entries(vocabulary)) tokens[id] = token;
  return {
    /** @param {string} text */
    read: (text) => readText(tokenizer, text),
    /** Return the predictions for each mask. @param {Reading} reading */
    async predict(reading) {
      const feeds = { ids: integers(reading.ids), types: integers(reading.types), masks: integers(masksOf(reading)) };
      const { logits: { shape: [masks, size], data } } = await worker.ask({ run: feeds });
      return Array.from({ length: masks }, (_one, at) => likeliest(data.subarray(at * size, (at + 1) * size), tokens));
    },
    end: worker.end,
  };
}
