// The data of the main view for a text that the browser ran; viz/components/explore/content.py writes it for the app.

import { decodeFrame } from "../shared/frames.js";
import { download } from "./live_model.js";
import { summarize } from "./live_summary.js";
import { recordedSource } from "./recorded.js";

/** @import { Cell, Payload, Selection } from "../explore/types.js" */
/** @import { Reading } from "./live_cells.js" */
/** @import { Manifest, Model, Pass } from "./live_model.js" */
/** @typedef {{cells?: Cell[], selection?: Partial<Selection>, keepsHead?: boolean}} Before the cells shown before, or
 * the selection of an address; `keepsHead` keeps the head of a word that is gone */
/** @typedef {{text: string, pair: string|null, reading: Reading, pass: Pass}} Ran a text with its pass */

const WARM_UPS = 5; // passes before the first text, because the browser optimises the runtime while it runs
const SHARE = 0.5; // share of the earlier tokens from which a text counts as edited, as in ui/state/selection.py

/**
 * Return the place of a token in an edited text, or null if it was changed. The tokens before and after the edited part
 * keep their order. Return null too if the text is a new one.
 * @param {Cell[]} before @param {Cell[]} after @param {number|null|undefined} at
 */
export function placeAfterEdit(before, after, at) {
  const most = Math.min(before.length, after.length);
  /** @param {number} one @param {number} other */
  const same = (one, other) => before[one].text === after[other].text && before[one].special === after[other].special;
  let [front, back] = [0, 0];
  while (front < most && same(front, front)) front++;
  while (back < most - front && same(before.length - 1 - back, after.length - 1 - back)) back++;
  if (at == null || front + back < SHARE * before.length) return null;
  if (at < front) return at;
  return at >= before.length - back ? at + after.length - before.length : null;
}

/**
 * Return the measures of a template with their values, and the options. Leave out the measures without values, which
 * live_summary.js does not compute, and the orders by them.
 * @param {Pick<Payload, "measures"|"options">} template @param {Record<string, number[][]>} values by name
 */
export function fitMeasures({ measures, options }, values) {
  const missing = measures.map(({ name }) => name).filter((name) => !(name in values));
  const choices = options.order.choices.filter(({ value }) => !missing.includes(value));
  return {
    measures: measures.filter(({ name }) => name in values)
      .map((measure) => ({ ...measure, values: values[measure.name] })),
    options: { ...options, order: { ...options.order, choices } },
  };
}

/**
 * Return the payload of the main view and its source of arrays.
 * @param {Manifest} manifest @param {Ran} ran @param {string} base name of the text, different for every pass
 * @param {(Before & {selection: Partial<Selection>})|null} before @param {string} language
 */
export function liveView(manifest, { text, pair, reading, pass }, base, before, language) {
  const { layers, heads, habits, templates } = manifest;
  const { cells, written } = reading;
  const template = templates[language][pair === null ? "single" : "pair"];
  const found = summarize((layer, head) => pass.maps[layer * heads + head], manifest, cells, written, habits);
  const [focus, target] = [before?.selection.focus, before?.selection.target].map((at) =>
    before ? placeAfterEdit(before.cells ?? cells, cells, at) : null
  );
  const first = { layer: 0, head: 0, focus: Math.min(1, cells.length - 1), ...found.best };
  const fallback = before?.keepsHead ? { focus: first.focus } : first;
  const place = focus === null ? { ...fallback, target: null } : { focus, target };
  /** @type {Payload} */
  const payload = {
    ...template,
    ...{ base, text, pair, queries: cells, keys: null },
    ...fitMeasures(template, found.measures),
    selection: { ...template.selection, pinned: [], ...before?.selection, ...place },
  };
  const shape = [heads, cells.length, cells.length];
  const arrays = Object.fromEntries(Array.from({ length: layers }, (_one, layer) => {
    const data = new Float32Array(heads * cells.length ** 2);
    for (let head = 0; head < heads; head++) data.set(pass.maps[layer * heads + head], head * cells.length ** 2);
    return [`maps.${layer}`, { dtype: "float32", shape, data }];
  }));
  const source = recordedSource({
    header: { payload, layers: Array(layers).fill({}), summed: null, sampled: false, habits, said: {}, words: null },
    arrays: {
      ...arrays,
      means: { dtype: "float32", shape: [layers, heads, cells.length], data: found.means },
      counts: { dtype: "float32", shape: [layers, cells.length], data: found.counts },
    },
  });
  return { payload, source };
}

/** Return the largest difference of two lists of maps. @param {Float32Array[]} maps @param {Float32Array[]} others */
export function largestDifference(maps, others) {
  let most = 0;
  maps.forEach((map, id) => map.forEach((weight, at) => most = Math.max(most, Math.abs(weight - others[id][at]))));
  return most;
}

/**
 * Return the largest difference between the weights of the manifest's text and those of the Python app. The passes also
 * warm the model up, so that the reader's first text is not the slowest.
 * @param {Manifest} manifest @param {Model} model
 */
export async function measureDifference({ check, heads }, model) {
  const { arrays } = decodeFrame(await download(check.maps));
  const reading = model.read(check.text);
  for (let pass = 0; pass < WARM_UPS; pass++) await model.run(reading);
  const { maps } = await model.run(reading);
  const others = maps.map((map, id) => {
    const start = (id % heads) * map.length;
    return Float32Array.from(arrays[`maps.${Math.floor(id / heads)}`].data.subarray(start, start + map.length));
  });
  return largestDifference(maps, others);
}
