// Headlight's main view: one text, every layer and head, linked by one selection.
//
// What each mark means
//   strip      a chip is one token (or word). Accent outline: the focus. Accent dashes: the target. Shade: the weight
//              between the focus and this token in the chosen head, on the matrix's own colour scale. Pale: special token.
//   sentence   what the numbers on the strip say, and in how many other heads the same weight is smaller.
//   grid       one small map per head, layers downwards, heads to the right; a pixel is the largest weight of the cells
//              under it, on one scale from 0 to 1 for all so that heads compare. Accent: the chosen head.
//              A coloured corner: a pinned head.
//   matrix     row = the token that looks, column = the token looked at; accent frame: the focus row; the scale is the
//              one the legend states and ends at the head's own largest weight, rounded up.
//   lines      left = the token that looks, right = what it looks at; width and opacity grow with the weight; one colour
//              per head (the chosen head in the text's colour, pinned heads in Okabe and Ito's colours).
//   links      one cell per layer and head: the weight from the focus to the target, on the scale 0 to its largest.
//
// Knows nothing of models: every number comes from a Source (HTTP routes in Streamlit, embedded arrays in an exported
// file). Token and user text reaches the page only through textContent, fillText and xmlEscape.

import { clamp, colourAt, css, inkOn, level, readTheme, themeOf } from "../shared/colours.js";
import { createTip, h, pageTop, save_as, setAttribute, setText } from "../shared/elements.js";
import { decodeFrame, sqrt8 } from "../shared/frames.js";
import { elide, labelStep, labelled, textWidth } from "../shared/labels.js";
import { ARROWS, cellKey, stripKey, windowOn } from "../shared/moves.js";
import { RTL, csv, cut, isRtl, joinedForm, visible } from "../shared/texts.js";

// ------------------------------------------------------------------------------------------------ 1. the contract

/** @typedef {{text: string, special: boolean, segment: number, word: number|null}} Cell */
/**
 * @typedef {object} Selection
 * @property {number} layer 0-based
 * @property {number} head 0-based
 * @property {number|null} focus row (query) index
 * @property {number|null} target column (key) index; null: the word that the focus looks at most in the chosen head (in any head when that orders the grid)
 * @property {"matrix"|"lines"} tab
 * @property {"layer"|"entropy"|"distance"|"focus"} order
 * @property {"sqrt"|"linear"} scale
 * @property {"all"|"aa"|"ab"|"ba"|"bb"} filter
 * @property {[number, number][]} pinned at most 8 (layer, head)
 */
/**
 * @typedef {object} Payload mirrors viz/components/explore/explore.py payload()
 * @property {1} version
 * @property {"ready"|"loading"|"failed"} state
 * @property {string} message
 * @property {string} base fetch prefix
 * @property {string} view appended to each fetch
 * @property {{name: string, revision: string|null, kind: string}} model
 * @property {string} text
 * @property {string|null} pair
 * @property {number} layers
 * @property {number} heads
 * @property {Cell[]} queries
 * @property {Cell[]|null} keys null: the same as queries
 * @property {boolean} causal
 * @property {string} direction name of the part
 * @property {{entropy: number[][], distance: number[][]}} measures (layer, head)
 * @property {0|1} indexBase added when a layer, head or position is shown
 * @property {boolean} sampled
 * @property {Selection} selection
 * @property {Record<string, string>} [words] other wordings of WORDS (translations)
 */
/** @typedef {{layers: number, heads: number, rows: number, cols: number, data: Uint8Array, sampled: boolean}} Grid */
/** @typedef {{layers: number, heads: number, count: number, data: Float32Array}} Rows (layer, head, token) */
/** @typedef {{q0: number, q1: number, k0: number, k1: number, rows: number, cols: number, data: Float32Array}} Tile */
/** @typedef {{layer: number, head: number, q0: number, q1: number, k0: number, k1: number, size: number}} TileQuery */
/**
 * @typedef {object} Source where numbers come from; each answer is a promise of decoded arrays
 * @property {(size: number, options?: {signal?: AbortSignal}) => Promise<Grid>} grid
 * @property {(query: number, options?: {signal?: AbortSignal}) => Promise<Rows>} rows
 * @property {(key: number, options?: {signal?: AbortSignal}) => Promise<Rows>} columns
 * @property {(query: TileQuery, options?: {signal?: AbortSignal}) => Promise<Tile>} tile
 */
/** @typedef {{selection?: (value: Selection) => void, again?: (count: number) => void}} Report */

const THUMB = 48; // pixels of a small map
const TILE = 512; // most cells of a tile, each way
const MOST_PINNED = 8;

/** Every word on screen; data.words may replace any of them. {name} is filled in. */
export const WORDS = {
  looksAt: "looks at",
  lookedAt: "is looked at by",
  strip: "Tokens of the text",
  stripHint: "Click a word to ask about it.",
  direction: "What the shades show",
  pickTarget: "Pick target",
  pickTargetHint: "Then click the word you want to link to (or Alt-click any word).",
  segmentA: "A",
  segmentB: "B",
  queriesRow: "looks",
  keysRow: "is looked at",
  range: "tokens {from}–{to} of {count}",
  moveWindow: "Move the window over the text",
  earlier: "Earlier tokens",
  later: "Later tokens",
  head: "Layer {layer} · head {head}",
  headShort: "{layer}·{head}",
  most: "{head}: {focus} looks most at {key} ({weight})",
  mostly: "{head}: {focus} looks mostly at {key} ({weight})",
  itself: "itself",
  among: "; among words most at {key} ({weight})",
  received: "{head}: {focus} is looked at most by {key} ({weight})",
  rank: ", more than in {below} of the other {others} heads",
  rankFirst: ", more than in any other head",
  noFocus: "{head}: rows spread over {entropy} bits and look {distance} tokens away on average. Click a word to ask about it.",
  noFocusBare: "{head}. Click a word to ask about it.",
  grid: "Every head",
  gridLabel: "Grid of all heads. {head}. Arrow keys move, Enter keeps, Escape returns.",
  gridNote: "One small map per head: row looks at column, largest weight under each pixel, {scale} 0 to 1 for all.",
  gridOrdered: "Left: the measure of the first head of each line.",
  gridSampled: "Long text: pooled over some of the rows only.",
  layersDown: "layers ↓ heads →",
  page: "layers {from}–{to} of {count}",
  pageBefore: "Earlier layers",
  pageAfter: "Later layers",
  order: "Order",
  orderLayer: "by layer",
  orderEntropy: "sharpest first (entropy)",
  orderDistance: "nearest first (distance)",
  orderFocus: "{focus} → {target} first",
  orderFocusBare: "focus → target first",
  entropy: "entropy {value} bits",
  distance: "mean distance {value} tokens",
  link: "{from} → {to} {weight}",
  views: "View of the chosen head",
  matrix: "Matrix",
  lines: "Lines",
  headBefore: "Previous head",
  headAfter: "Next head",
  pin: "Pin",
  unpin: "Unpin",
  pinHint: "Keep this head's lines while you look at others (8 at most)",
  scale: "Scale",
  scaleSqrt: "square root",
  scaleLinear: "linear",
  sqrtScale: "square-root colour scale",
  linearScale: "linear colour scale",
  filter: "Pairs",
  filterAll: "all",
  filterAA: "A → A",
  filterAB: "A → B",
  filterBA: "B → A",
  filterBB: "B → B",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  zoomFit: "Whole map",
  axes: "Row: the token that looks. Column: what it looks at.",
  rowCorner: "looks ↓",
  columnCorner: "at →",
  rowAxis: "row: the token that looks",
  columnAxis: "column: what it looks at",
  matrixLabel: "Attention matrix, {head}. Rows look at columns. Arrow keys move the cell, plus and minus zoom, Enter keeps the row as focus.",
  matrixNote: "Click a cell to ask about its row.",
  matrixZoom: "Wheel or pinch zooms, dragging pans.",
  pooled: "max of {rows}×{cols} cells",
  linesLabel: "Lines of attention, {head}. Left looks at right. Arrow keys move the focus.",
  linesNote: "Left looks at right. Wider and stronger means more; weights under {least} are not drawn.",
  linesLeft: "looks …",
  linesRight: "… at",
  current: "chosen head",
  links: "Who links {focus} to what?",
  linksBare: "Who links a word to what?",
  linksNote: "One cell per head: its weight from {focus} to {target}; the darkest is {top}.",
  linksNoteDark: "One cell per head: its weight from {focus} to {target}; the brightest is {top}.",
  target: "Target",
  strongest: "strongest: {target}",
  top: "Strongest links from {focus} over all heads",
  withSpecial: "with special tokens",
  layer: "layer",
  headColumn: "head",
  token: "looks at",
  weight: "weight",
  download: "Download as CSV",
  export: "Export",
  exportFigure: "{figure} as {format}",
  numbers: "Numbers as {format}",
  page_html: "This view as HTML",
  gridName: "Grid",
  captionBase: "layers, heads and positions counted from {base}",
  lost: "Connection lost, retrying …",
  again: "This result left the server's memory; it is being computed again …",
  working: "Working …",
  failed: "Something went wrong.",
  retry: "Try again",
};

/** @param {string} template @param {Record<string, unknown>} [values] */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// ------------------------------------------------------------------------------------------------ 2. numbers

/** Two decimals; small weights keep one digit rather than become 0.00. @param {number} weight */
export function short(weight) {
  if (weight > 0 && weight < 0.005) return weight < 0.0005 ? "<0.001" : weight.toFixed(3);
  return weight.toFixed(2);
}

/** The end of a colour scale: the largest weight rounded up to one leading digit (a byte's rounding forgiven). @param {number} largest */
export function niceTop(largest) {
  if (!(largest > 0)) return 1;
  const step = 10 ** Math.floor(Math.log10(Math.min(largest, 1)) + 1e-9);
  const parts = Math.ceil(largest / step - 0.05);
  return Math.min(1, Number((parts * step).toPrecision(2)));
}

/** First source cell of pooled cell i when `length` cells are pooled to `cells`; attention/pooling.py edges(). */
export const edge = (i, length, cells) => Math.floor((i * length) / cells);

/** The pooled cell that source cell j falls into. */
export const pooledIndex = (j, length, cells) => Math.floor(((j + 1) * cells - 1) / length);

/**
 * What a tile holds at a cell, and over which cells it is the largest weight.
 * @param {Tile} tile @param {number} query @param {number} key
 */
export function tileAt(tile, query, key) {
  if (query < tile.q0 || query >= tile.q1 || key < tile.k0 || key >= tile.k1) return null;
  const [tall, wide] = [tile.q1 - tile.q0, tile.k1 - tile.k0];
  const r = pooledIndex(query - tile.q0, tall, tile.rows);
  const c = pooledIndex(key - tile.k0, wide, tile.cols);
  const rows = edge(r + 1, tall, tile.rows) - edge(r, tall, tile.rows);
  const cols = edge(c + 1, wide, tile.cols) - edge(c, wide, tile.cols);
  return { value: tile.data[r * tile.cols + c], rows, cols };
}

/** @param {Tile} tile */
export const isExact = (tile) => tile.rows === tile.q1 - tile.q0 && tile.cols === tile.k1 - tile.k0;

/**
 * The largest value of each of outRows × outCols cells over rows r0..r1 and columns c0..c1 of a row-major array.
 * out must not be larger than the window. @returns {Float32Array}
 */
export function poolMax(data, cols, [r0, r1], [c0, c1], outRows, outCols) {
  const out = new Float32Array(outRows * outCols);
  const [tall, wide] = [r1 - r0, c1 - c0];
  const place = Int32Array.from({ length: wide }, (_, c) => pooledIndex(c, wide, outCols));
  for (let r = 0; r < tall; r++) {
    const to = pooledIndex(r, tall, outRows) * outCols;
    const from = (r0 + r) * cols + c0;
    for (let c = 0; c < wide; c++) {
      const at = to + place[c];
      if (data[from + c] > out[at]) out[at] = data[from + c];
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ 3. tokens as shown

/** Whether cell i continues the word of the cell before it. @param {Cell[]} cells @param {number} i */
export function continues(cells, i) {
  const [before, here] = [cells[i - 1], cells[i]];
  return Boolean(before && here && here.word !== null && before.word === here.word && before.segment === here.segment);
}

/** A chip's text: pieces of one Arabic word keep their joined letter forms. @param {Cell[]} cells @param {number} i */
export function chipText(cells, i) {
  return joinedForm(visible(cells[i].text), continues(cells, i), continues(cells, i + 1));
}

/** A token in a sentence: “it”; isolated where its direction differs, with its position where the text repeats it. */
export function quote(cells, i, indexBase = 0) {
  const text = visible(cells[i].text);
  const repeated = !cells[i].special && cells.some((cell, j) => j !== i && cell.text === cells[i].text);
  const place = repeated ? ` at position ${i + indexBase}` : "";
  if (cells[i].special) return text;
  return (RTL.test(text) ? `“\u2068${text}\u2069”` : `“${text}”`) + place;
}

/** Consecutive cells of a segment, [start, end). @param {Cell[]} cells @param {number} segment */
export function segmentRange(cells, segment) {
  const start = cells.findIndex((cell) => cell.segment === segment);
  if (start < 0) return [0, cells.length];
  let end = cells.length;
  while (cells[end - 1].segment !== segment) end--;
  return [start, end];
}

/** Which rows and columns a pair filter leaves. @param {Cell[]} queries @param {Cell[]} keys @param {string} filter */
export function filterRange(queries, keys, filter) {
  if (filter === "all") return { q0: 0, q1: queries.length, k0: 0, k1: keys.length };
  const [q0, q1] = segmentRange(queries, filter[0] === "a" ? 0 : 1);
  const [k0, k1] = segmentRange(keys, filter[1] === "a" ? 0 : 1);
  return { q0, q1, k0, k1 };
}

/** @param {Cell[]} cells */
export const isPair = (cells) => cells.some((cell) => cell.segment === 0) && cells.some((cell) => cell.segment === 1);

// ------------------------------------------------------------------------------------------------ 4. layout

/**
 * Where the small maps stand. Layers go down and heads to the right; where a row of heads would need cells smaller than
 * `least`, a layer takes several lines, and where the layers do not fit, they are paged.
 */
export function gridLayout({ width, height, layers, heads, least, most = 56, left = 26, top = 18, page = 0 }) {
  const room = Math.max(width - left, least);
  let lines = 1;
  while (Math.floor(room / Math.ceil(heads / lines)) < least && lines < heads) lines++;
  const perLine = Math.ceil(heads / lines);
  const wide = Math.floor(room / perLine);
  let cell = Math.min(wide, most, Math.floor((height - top) / (layers * lines)));
  let perPage = layers;
  if (cell < least) {
    cell = clamp(wide, least, Math.max(least, 32));
    perPage = clamp(Math.floor((height - top) / (cell * lines)), 1, layers);
  }
  const pages = Math.ceil(layers / perPage);
  const at = clamp(page, 0, pages - 1);
  const shown = Math.min(perPage, layers - at * perPage);
  const gap = cell >= 24 ? 3 : cell >= 16 ? 2 : 1;
  return { cell, gap, left, top, lines, perLine, perPage, pages, page: at, firstLayer: at * perPage, shownLayers: shown,
    width: left + perLine * cell, height: top + shown * lines * cell, layers, heads };
}

/** Heads (as layer * heads + head) in the order they are shown. */
export function orderHeads(order, layers, heads, values) {
  const ids = Array.from({ length: layers * heads }, (_, id) => id);
  if (order === "layer" || !values) return ids;
  const sign = order === "focus" ? -1 : 1;
  return ids.sort((a, b) => sign * (values[a] - values[b]) || a - b);
}

/** (line, column) of the slot-th shown head. */
export function slotPlace(layout, order, slot) {
  if (order !== "layer") return [Math.floor(slot / layout.perLine), slot % layout.perLine];
  const [layer, head] = [Math.floor(slot / layout.heads), slot % layout.heads];
  return [layer * layout.lines + Math.floor(head / layout.perLine), head % layout.perLine];
}

/** The slot at (line, column), or -1. */
export function slotAt(layout, order, line, column) {
  if (column < 0 || column >= layout.perLine || line < 0) return -1;
  if (order !== "layer") {
    const slot = line * layout.perLine + column;
    return slot < layout.layers * layout.heads ? slot : -1;
  }
  const [layer, head] = [Math.floor(line / layout.lines), (line % layout.lines) * layout.perLine + column];
  return layer < layout.layers && head < layout.heads ? layer * layout.heads + head : -1;
}

/** The slot under a point of the canvas, or -1. */
export function slotUnder(layout, order, x, y) {
  const column = Math.floor((x - layout.left) / layout.cell);
  const line = Math.floor((y - layout.top) / layout.cell);
  if (y < layout.top || line >= layout.shownLayers * layout.lines) return -1;
  return slotAt(layout, order, line + layout.firstLayer * layout.lines, column);
}

/** The page on which a slot stands. */
export function pageOf(layout, order, slot) {
  return Math.floor(slotPlace(layout, order, slot)[0] / (layout.perPage * layout.lines));
}

/** What a key does in the grid: {slot}, {keep}, {back} or null. */
export function gridKey(key, slot, layout, order) {
  if (key === "Enter" || key === " ") return { keep: true };
  if (key === "Escape") return { back: true };
  const [line, column] = slotPlace(layout, order, slot);
  const page = layout.perPage * layout.lines;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-page, 0], PageDown: [page, 0] };
  if (key === "Home" || key === "End") {
    for (let at = key === "Home" ? 0 : layout.perLine - 1; at >= 0 && at < layout.perLine; at += key === "Home" ? 1 : -1) {
      if (slotAt(layout, order, line, at) >= 0) return { slot: slotAt(layout, order, line, at) };
    }
  }
  const step = steps[key];
  if (!step) return null;
  const next = slotAt(layout, order, line + step[0], column + step[1]);
  return { slot: next < 0 ? slot : next };
}

// -- the matrix's viewport: {scale: pixels per cell, q, k: the cell at the top left, fractions allowed}

/** The view that shows all of a range in an area. @param {{w: number, h: number}} area */
export function fitView(range, area, most = 44) {
  const scale = Math.min(area.w / Math.max(1, range.k1 - range.k0), area.h / Math.max(1, range.q1 - range.q0), most);
  return { scale: scale >= 4 ? Math.floor(scale * 2) / 2 : scale, q: range.q0, k: range.k0 };
}

/** A view brought back inside its range. */
export function clampView(view, range, area) {
  const least = fitView(range, area).scale;
  const scale = clamp(view.scale, least, Math.max(least, 44));
  return {
    scale,
    q: clamp(view.q, range.q0, Math.max(range.q0, range.q1 - area.h / scale)),
    k: clamp(view.k, range.k0, Math.max(range.k0, range.k1 - area.w / scale)),
  };
}

/** Zoom by a factor, the point (x, y) of the area staying where it is. */
export function zoomAt(view, range, area, factor, x, y) {
  const least = fitView(range, area).scale;
  const scale = clamp(view.scale * factor, least, Math.max(least, 44));
  return clampView({ scale, q: view.q + y / view.scale - y / scale, k: view.k + x / view.scale - x / scale }, range, area);
}

/** The whole cells that a view shows. */
export function shownCells(view, range, area) {
  return {
    q0: Math.max(range.q0, Math.floor(view.q)),
    q1: Math.min(range.q1, Math.ceil(view.q + area.h / view.scale - 1e-6)),
    k0: Math.max(range.k0, Math.floor(view.k)),
    k1: Math.min(range.k1, Math.ceil(view.k + area.w / view.scale - 1e-6)),
  };
}

/**
 * Which tile to fetch for what is shown: everything when it fits in one tile, else a window a little larger than what is
 * shown, aligned so that panning finds the same tiles again.
 */
export function tileWindow(shown, range, size = TILE) {
  const fits = (r) => r.q1 - r.q0 <= size && r.k1 - r.k0 <= size;
  if (fits(range)) return { ...range };
  const span = Math.max(shown.q1 - shown.q0, shown.k1 - shown.k0);
  const block = 2 ** Math.max(0, Math.ceil(Math.log2(span / (size - 64))));
  const [start, end] = [(at, low) => Math.max(low, Math.floor(at / (block * 32)) * block * 32),
    (at, high) => Math.min(high, Math.ceil(at / (block * 32)) * block * 32)];
  return { q0: start(shown.q0, range.q0), q1: end(shown.q1, range.q1), k0: start(shown.k0, range.k0), k1: end(shown.k1, range.k1) };
}


/** What a key does in the matrix: {row, col}, {zoom}, {fit}, {pan}, {keep}, {back} or null. */
export function matrixKey(key, shift, { row, col }, range) {
  if (ARROWS[key] && shift) return { pan: ARROWS[key] };
  const to = cellKey(key, { row, col }, range);
  if (to) return to;
  if (key === "+" || key === "=") return { zoom: 1.5 };
  if (key === "-" || key === "_") return { zoom: 1 / 1.5 };
  if (key === "0") return { fit: true };
  if (key === "Enter" || key === " ") return { keep: true };
  return key === "Escape" ? { back: true } : null;
}

// ------------------------------------------------------------------------------------------------ 5. numbers into words

/** One head's slice of an array (layer, head, token). @param {Rows} rows */
export const slice = (rows, layer, head) => {
  const start = (layer * rows.heads + head) * rows.count;
  return rows.data.subarray(start, start + rows.count);
};

/** Index of the largest value for which `allowed` holds, or -1. */
export function argmax(values, allowed = (_) => true) {
  let best = -1;
  for (let i = 0; i < values.length; i++) if (allowed(i) && (best < 0 || values[i] > values[best])) best = i;
  return best;
}

/** In how many other heads the token has less weight. @param {Rows} rows */
export function headsBelow(rows, layer, head, token) {
  const mine = slice(rows, layer, head)[token];
  let below = 0;
  for (let id = 0; id < rows.layers * rows.heads; id++) if (rows.data[id * rows.count + token] < mine) below++;
  return below;
}

/** "Layer 3 · head 1" with the index base the data asks for. */
export const headName = (say, base, layer, head) => fill(say.head, { layer: layer + base, head: head + base });

/**
 * The sentence of truth: where the focus looks (or who looks at it) in the chosen head, in the numbers shown.
 * @param {{say: typeof WORDS, base: number, layer: number, head: number, facing: "out"|"in", pivot: number, pivots: Cell[],
 *   others: Cell[], same: boolean, values: Float32Array|null, rows: Rows|null}} facts values: weights of this head
 */
export function truth(facts) {
  const { say, base, pivot, pivots, others, values, rows, layer, head } = facts;
  const name = headName(say, base, layer, head);
  if (!values) return `${name}.`;
  const focus = quote(pivots, pivot, base);
  const top = argmax(values);
  const word = argmax(values, (i) => !others[i].special);
  const called = (i) => (facts.same && i === pivot ? say.itself : quote(others, i, base));
  const template = facts.facing === "in" ? say.received : values[top] > 0.5 && others[top].special ? say.mostly : say.most;
  let text = fill(template, { head: name, focus, key: called(top), weight: short(values[top]) });
  const said = others[top].special && word >= 0 ? word : top;
  if (said !== top) text += fill(say.among, { key: called(said), weight: short(values[said]) });
  if (rows && rows.layers * rows.heads > 1) {
    const below = headsBelow(rows, layer, head, said);
    const rest = rows.layers * rows.heads - 1;
    text += fill(below === rest ? say.rankFirst : say.rank, { below, others: rest });
  }
  return `${text}.`;
}

/** The strongest links of a focus over all heads, strongest first. @param {Rows} rows @param {(token: number) => boolean} allowed */
export function topLinks(rows, most, allowed = (_) => true) {
  /** @type {{layer: number, head: number, token: number, weight: number}[]} */
  const best = [];
  for (let id = 0, at = 0; id < rows.layers * rows.heads; id++) {
    for (let token = 0; token < rows.count; token++, at++) {
      const weight = rows.data[at];
      if (!(weight > 0) || (best.length === most && weight <= best[most - 1].weight) || !allowed(token)) continue;
      let place = best.length;
      while (place > 0 && best[place - 1].weight < weight) place--;
      best.splice(place, 0, { layer: Math.floor(id / rows.heads), head: id % rows.heads, token, weight });
      if (best.length > most) best.pop();
    }
  }
  return best;
}

/** The largest weight of each token over all heads, (token,). @param {Rows} rows */
export function overAllHeads(rows) {
  const most = new Float32Array(rows.count);
  for (let at = 0, token = 0; at < rows.data.length; at++, token++) {
    if (token === rows.count) token = 0;
    if (rows.data[at] > most[token]) most[token] = rows.data[at];
  }
  return most;
}

/** The key that a focus looks at most: words before special tokens, itself last. @param {ArrayLike<number>} weights (key,) */
export function strongestTarget(weights, keys, focus, same) {
  const word = argmax(weights, (i) => !keys[i].special && !(same && i === focus));
  return word >= 0 ? word : argmax(weights);
}

/** Text as XML character data or attribute value; characters XML cannot hold become U+FFFD. @param {unknown} text */
export function xmlEscape(text) {
  return String(text)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[mark] ?? mark);
}

// ------------------------------------------------------------------------------------------------ 6. the one selection

/** @type {Selection} */
export const FIRST = { layer: 0, head: 0, focus: null, target: null, tab: "matrix", order: "layer", scale: "sqrt", filter: "all", pinned: [] };

/** A selection that fits the data: every field present and in range. @param {Payload} data @param {Partial<Selection>} raw @returns {Selection} */
export function fitSelection(data, raw) {
  const keys = data.keys ?? data.queries;
  const whole = (value, count, other) => (Number.isInteger(value) && value >= 0 && value < count ? value : other);
  const one = (value, choices) => (choices.includes(value) ? value : choices[0]);
  const pinned = (Array.isArray(raw?.pinned) ? raw.pinned : []).filter((pin) => Array.isArray(pin) && whole(pin[0], data.layers, -1) >= 0 && whole(pin[1], data.heads, -1) >= 0);
  return {
    layer: whole(raw?.layer, data.layers, 0),
    head: whole(raw?.head, data.heads, 0),
    focus: whole(raw?.focus, data.queries.length, null),
    target: whole(raw?.target, keys.length, null),
    tab: one(raw?.tab, ["matrix", "lines"]),
    order: one(raw?.order, ["layer", "entropy", "distance", "focus"]),
    scale: one(raw?.scale, ["sqrt", "linear"]),
    filter: one(isPair(data.queries) && isPair(keys) ? raw?.filter : "all", ["all", "aa", "ab", "ba", "bb"]),
    pinned: pinned.slice(0, MOST_PINNED).map(([layer, head]) => [layer, head]),
  };
}

/** @param {Selection} selection */
const canonical = (selection) => JSON.stringify(Object.keys(FIRST).map((name) => selection?.[name] ?? null));

/** Add a head to the pinned ones, or take it away. @param {[number, number][]} pinned @returns {[number, number][]} */
export function togglePin(pinned, layer, head) {
  const rest = pinned.filter(([l, h]) => l !== layer || h !== head);
  return rest.length < pinned.length ? rest : [...pinned, /** @type {[number, number]} */ ([layer, head])].slice(-MOST_PINNED);
}

/**
 * Tells a selection that comes from outside (the back button, a link) from the echo of one this view has sent.
 */
export function createEchoes() {
  let last = "";
  /** @type {string[]} */
  let sent = [];
  return {
    sent: (selection) => { sent = [...sent, canonical(selection)].slice(-32); },
    /** Whether an incoming selection is news. */
    isNews(selection) {
      const text = canonical(selection);
      if (text === last) return false;
      last = text;
      const at = sent.lastIndexOf(text);
      if (at >= 0) sent = sent.slice(at + 1);
      return at < 0;
    },
  };
}

/** A value with listeners. @template T @param {T} first */
export function createStore(first) {
  let state = first;
  const listeners = new Set();
  return {
    get state() { return state; },
    set(patch) {
      const next = { ...state, ...patch };
      if (Object.keys(patch).every((name) => Object.is(state[name], next[name]))) return;
      state = next;
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

// ------------------------------------------------------------------------------------------------ 7. where numbers come from

const RETRIED = [429, 502, 503, 504];

/** @param {number} milliseconds @param {AbortSignal} [signal] */
const pause = (milliseconds, signal) =>
  new Promise((done, fail) => {
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); }, { once: true });
  });

/** @param {any} answer @param {string} name @param {number} dimensions */
function arrayOf(answer, name, dimensions) {
  const array = answer.arrays[name];
  if (array?.shape.length !== dimensions) throw new Error(`The server's answer has no array “${name}” of ${dimensions} dimensions.`);
  return array;
}

/**
 * The routes of ui/routes/traces.py as a Source. Network errors are retried, told through `onLost` and `onFound`.
 * @param {{base: string, view: string}} data
 * @param {{onLost?: () => void, onFound?: () => void, onGone?: () => void, fetch?: typeof fetch, wait?: typeof pause}} [hooks]
 * @returns {Source}
 */
export function httpSource({ base, view }, hooks = {}) {
  const ask = hooks.fetch ?? ((...args) => globalThis.fetch(...args));
  const wait = hooks.wait ?? pause;
  async function get(name, query, signal) {
    const address = `${base}/${name}?${view ? `${view}&` : ""}${new URLSearchParams(query)}`;
    for (let attempt = 0; ; attempt++) {
      const answer = await ask(address, { signal }).catch((error) => {
        if (signal?.aborted || error?.name === "AbortError") throw error;
        return null; // no network, no server: try again
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
  const asRows = (array) => ({ layers: array.shape[0], heads: array.shape[1], count: array.shape[2], data: array.data });
  return {
    async grid(size, { signal } = {}) {
      const answer = await get("grid", { size }, signal);
      const { shape, data } = arrayOf(answer, "grid", 4);
      return { layers: shape[0], heads: shape[1], rows: shape[2], cols: shape[3], data, sampled: Boolean(answer.header.sampled) };
    },
    rows: async (query, { signal } = {}) => asRows(arrayOf(await get("rows", { query }, signal), "rows", 3)),
    columns: async (key, { signal } = {}) => asRows(arrayOf(await get("columns", { key }, signal), "columns", 3)),
    async tile(query, { signal } = {}) {
      const { shape, data } = arrayOf(await get("tile", query, signal), "tile", 2);
      return { q0: query.q0, q1: query.q1, k0: query.k0, k1: query.k1, rows: shape[0], cols: shape[1], data };
    },
  };
}

/**
 * A Source for a file without a server: all maps of a short text, (layer, head, query, key) as Float32Array.
 * `weights` is what decodeFrame gives for an array of that name.
 * @param {{shape: number[], data: Float32Array}} weights @returns {Source}
 */
export function embeddedSource({ shape: [layers, heads, queries, keys], data }) {
  const map = (id) => data.subarray(id * queries * keys, (id + 1) * queries * keys);
  const pick = (count, at) => ({ layers, heads, count, data: Float32Array.from({ length: layers * heads * count }, (_, i) => at(Math.floor(i / count), i % count)) });
  const pooled = (id, r, c, size) => poolMax(map(id), keys, r, c, Math.min(size, r[1] - r[0]), Math.min(size, c[1] - c[0]));
  return {
    async grid(size) {
      const [rows, cols] = [Math.min(size, queries), Math.min(size, keys)];
      const bytes = new Uint8Array(layers * heads * rows * cols);
      for (let id = 0; id < layers * heads; id++) {
        bytes.set(pooled(id, [0, queries], [0, keys], size).map((weight) => Math.round(255 * Math.sqrt(clamp(weight, 0, 1)))), id * rows * cols);
      }
      return { layers, heads, rows, cols, data: bytes, sampled: false };
    },
    rows: async (query) => pick(keys, (id, key) => map(id)[query * keys + key]),
    columns: async (key) => pick(queries, (id, query) => map(id)[query * keys + key]),
    async tile({ layer, head, q0, q1, k0, k1, size }) {
      return { q0, q1, k0, k1, rows: Math.min(size, q1 - q0), cols: Math.min(size, k1 - k0), data: pooled(layer * heads + head, [q0, q1], [k0, k1], size) };
    },
  };
}

/** One sentence for an answer that is not a frame. @param {Response} answer */
async function refusal(answer) {
  const text = (await answer.text().catch(() => "")).trim();
  try {
    const told = JSON.parse(text);
    if (told.message || told.error) return String(told.message ?? told.error);
  } catch { /* not JSON: below */ }
  return text && text.length < 300 && !text.startsWith("<") ? text : `The server answered ${answer.status}.`;
}

/**
 * What the parts ask for while they draw: an answer at once if it is here, else null and a redraw when it arrives.
 * Questions that the last drawing no longer asked are aborted; answers are kept, least recently used first to go.
 * @param {Source} source @param {{onArrive: () => void, onError: (error: Error) => void, budget?: number}} hooks
 */
export function createFeed(source, { onArrive, onError, budget = 64 * 2 ** 20 }) {
  const answers = new Map(); // key -> {value, bytes}
  const flying = new Map(); // key -> AbortController
  const failed = new Set();
  const wanted = new Set();
  let held = 0;
  const keyOf = (kind, query) => `${kind} ${JSON.stringify(query)}`;
  function store(key, value) {
    answers.set(key, { value, bytes: value.data.byteLength });
    held += value.data.byteLength;
    for (const [old, { bytes }] of answers) {
      if (held <= budget || old === key) break;
      if (wanted.has(old)) continue;
      answers.delete(old);
      held -= bytes;
    }
  }
  function start(kind, query) {
    const key = keyOf(kind, query);
    const controller = new AbortController();
    flying.set(key, controller);
    source[kind](query, { signal: controller.signal }).then(
      (value) => { if (flying.get(key) === controller) { flying.delete(key); store(key, value); onArrive(); } },
      (error) => {
        if (flying.get(key) !== controller) return;
        flying.delete(key);
        if (controller.signal.aborted) return;
        failed.add(key);
        onError(error);
      },
    );
  }
  const feed = {
    begin: () => wanted.clear(),
    /** The answer if it is here, without asking. */
    peek(kind, query) {
      const key = keyOf(kind, query);
      const found = answers.get(key);
      if (!found) return null;
      answers.delete(key);
      answers.set(key, found);
      return found.value;
    },
    get(kind, query) {
      const key = keyOf(kind, query);
      wanted.add(key);
      const value = feed.peek(kind, query);
      if (!value && !flying.has(key) && !failed.has(key)) start(kind, query);
      return value;
    },
    /** Fetch what will likely be asked next, when nothing else is under way. */
    warm(kind, query) {
      if (flying.size === 0 && !answers.has(keyOf(kind, query)) && !failed.has(keyOf(kind, query))) start(kind, query);
    },
    /** End of a drawing: forget what nobody asked for. Whether everything asked for was here. */
    end() {
      const missing = [...wanted].filter((key) => !answers.has(key));
      for (const [key, controller] of missing.length ? flying : []) {
        if (wanted.has(key)) continue;
        flying.delete(key);
        controller.abort();
      }
      return missing.length === 0;
    },
    retry() { failed.clear(); onArrive(); },
    close() {
      for (const controller of flying.values()) controller.abort();
      flying.clear();
    },
  };
  return feed;
}

// ------------------------------------------------------------------------------------------------ 8. pens: canvas and SVG

/**
 * A pen draws on a canvas or writes SVG; figures know only pens. Text stands on the middle of its line.
 * @param {CanvasRenderingContext2D} ctx @param {string} family @param {number} ratio device pixels per unit
 */
function canvasPen(ctx, family, ratio) {
  const font = (size, weight = 400) => `${weight} ${size}px ${family}`;
  return {
    ratio,
    font,
    text(text, x, y, { size = 12, fill = "#000", align = "left", rotate = 0, weight = 400 } = {}) {
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate((rotate * Math.PI) / 180);
      Object.assign(ctx, { font: font(size, weight), fillStyle: fill, textAlign: align, textBaseline: "middle", direction: "ltr" });
      ctx.fillText(text, 0, 0);
      ctx.restore();
    },
    rect(x, y, w, h, { fill, stroke, width = 1, dash = [] } = {}) {
      if (fill) { ctx.fillStyle = fill; ctx.fillRect(x, y, w, h); }
      if (!stroke) return;
      ctx.setLineDash(dash);
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width });
      ctx.strokeRect(x, y, w, h);
      ctx.setLineDash([]);
    },
    curve(x1, y1, x2, y2, { stroke, width, alpha }) {
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width, globalAlpha: alpha });
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
      ctx.stroke();
      ctx.globalAlpha = 1;
    },
    image(picture, x, y, w, h) {
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(picture, x, y, w, h);
    },
    clip(x, y, w, h, draw) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(x, y, w, h);
      ctx.clip();
      draw();
      ctx.restore();
    },
  };
}

/** @param {number} value */
const tidy = (value) => String(Math.round(value * 100) / 100);

/** Attributes of an SVG element, escaped. @param {Record<string, string|number|undefined>} attributes */
const marks = (attributes) =>
  Object.entries(attributes).filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? tidy(value) : xmlEscape(value)}"`).join("");

/** The same pen, writing SVG. @param {number} width @param {number} height @param {string} family */
export function svgPen(width, height, family = "sans-serif") {
  /** @type {string[]} */
  const parts = [];
  let clips = 0;
  return {
    ratio: 1,
    vector: true,
    font: (size, weight = 400) => `${weight} ${size}px ${family}`,
    text(text, x, y, { size = 12, fill = "#000", align = "left", rotate = 0, weight = 400 } = {}) {
      const anchor = { left: "start", right: "end", center: "middle" }[align];
      const turn = rotate ? `rotate(${rotate} ${tidy(x)} ${tidy(y)})` : undefined;
      parts.push(`<text${marks({ x, y, "font-size": size, fill, "text-anchor": anchor, "dominant-baseline": "central", transform: turn,
        "font-weight": weight === 400 ? undefined : weight })}>${xmlEscape(text)}</text>`);
    },
    rect(x, y, w, h, { fill, stroke, width: line = 1, dash } = {}) {
      parts.push(`<rect${marks({ x, y, width: w, height: h, fill: fill ?? "none", stroke, "stroke-width": stroke ? line : undefined,
        "stroke-dasharray": dash?.join(" ") })}/>`);
    },
    curve(x1, y1, x2, y2, { stroke, width: line, alpha }) {
      const [a, b, c, d, m] = [x1, y1, x2, y2, (x1 + x2) / 2].map(tidy);
      parts.push(`<path${marks({ d: `M${a} ${b}C${m} ${b} ${m} ${d} ${c} ${d}`, fill: "none", stroke, "stroke-width": line, "stroke-opacity": alpha })}/>`);
    },
    image(picture, x, y, w, h) {
      parts.push(`<image${marks({ x, y, width: w, height: h, preserveAspectRatio: "none", style: "image-rendering:pixelated",
        href: picture.toDataURL("image/png") })}/>`);
    },
    clip(x, y, w, h, draw) {
      const id = `clip${clips++}`;
      parts.push(`<clipPath id="${id}"><rect${marks({ x, y, width: w, height: h })}/></clipPath><g clip-path="url(#${id})">`);
      draw();
      parts.push("</g>");
    },
    finish: () =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${xmlEscape(family)}">`
      + `<rect width="${width}" height="${height}" fill="#ffffff"/>${parts.join("")}</svg>`,
  };
}

// ------------------------------------------------------------------------------------------------ 9. figures: arrays to pens

/** Levels (0..255, row-major) as a small canvas. */
function levelCanvas(levels, rows, cols, palette) {
  const canvas = document.createElement("canvas");
  canvas.width = cols;
  canvas.height = rows;
  const image = new ImageData(cols, rows);
  const out = new Uint32Array(image.data.buffer);
  for (let i = 0; i < out.length; i++) out[i] = palette[levels[i]];
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** One head's small map as a (pooled) tile. @param {Grid} grid @returns {Tile} */
export function thumbTile(grid, layer, head, queries, keys) {
  const size = grid.rows * grid.cols;
  const start = (layer * grid.heads + head) * size;
  const data = Float32Array.from(grid.data.subarray(start, start + size), sqrt8);
  return { q0: 0, q1: queries, k0: 0, k1: keys, rows: grid.rows, cols: grid.cols, data };
}

/** All small maps of a page as one picture, at device resolution. @param {Grid} grid @param {number[]} order heads by slot */
function gridPicture(grid, layout, order, kind, theme, scale, ratio) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(layout.width * ratio));
  canvas.height = Math.max(1, Math.round(layout.height * ratio));
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const size = Math.max(1, Math.round((layout.cell - layout.gap) * ratio));
  const levels = Uint8Array.from({ length: 256 }, (_, byte) => (scale === "sqrt" ? byte : Math.round(255 * sqrt8(byte))));
  const palette = Uint32Array.from(levels, (at) => theme.palette[at]);
  for (let slot = 0; slot < order.length; slot++) {
    const [x, y] = slotCorner(layout, kind, slot);
    if (y === null) continue;
    smallMap(out, canvas.width, grid, order[slot], Math.round(x * ratio), Math.round(y * ratio), size, palette);
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Top left of a slot on its page; y is null on other pages. */
function slotCorner(layout, kind, slot) {
  const [line, column] = slotPlace(layout, kind, slot);
  const at = line - layout.firstLayer * layout.lines;
  const shown = at >= 0 && at < layout.shownLayers * layout.lines;
  return [layout.left + column * layout.cell, shown ? layout.top + at * layout.cell : null];
}

/** One small map into pixels: pooled by the largest weight where it has more cells than pixels, else enlarged. */
function smallMap(out, stride, grid, id, x, y, size, palette) {
  const cells = grid.rows * grid.cols;
  let map = grid.data.subarray(id * cells, (id + 1) * cells);
  const [rows, cols] = [Math.min(grid.rows, size), Math.min(grid.cols, size)];
  if (rows < grid.rows || cols < grid.cols) map = Uint8Array.from(poolMax(map, grid.cols, [0, grid.rows], [0, grid.cols], rows, cols));
  const column = Int32Array.from({ length: size }, (_, px) => edge(px, cols, size));
  for (let py = 0; py < size; py++) {
    const from = edge(py, rows, size) * cols;
    const to = (y + py) * stride + x;
    for (let px = 0; px < size; px++) out[to + px] = palette[map[from + column[px]]];
  }
}

/** The grid's names and marks over its picture. */
function drawGrid(pen, { layout, order, kind, values, theme, selected, hovered, pinned, base, picture }) {
  pen.image(picture, 0, 0, layout.width, layout.height);
  const size = layout.cell - layout.gap;
  const label = { size: 11, fill: theme.muted };
  if (kind === "layer") {
    const step = labelStep(layout.cell, 16);
    for (let c = 0; c < layout.perLine; c += step) pen.text(String(c + base), layout.left + c * layout.cell + size / 2, layout.top - 9, { ...label, align: "center" });
    const down = labelStep(layout.cell * layout.lines, 12);
    for (let l = 0; l < layout.shownLayers; l += down) {
      pen.text(String(l + layout.firstLayer + base), layout.left - 6, layout.top + (l * layout.lines + 0.5) * layout.cell - layout.gap / 2, { ...label, align: "right" });
    }
  }
  for (let slot = 0; slot < order.length; slot++) {
    const [x, y] = slotCorner(layout, kind, slot);
    if (y === null) continue;
    if (values && slot % layout.perLine === 0 && layout.cell >= 12) pen.text(short(values[order[slot]]).replace(/^0\./, "."), layout.left - 5, y + size / 2, { ...label, align: "right" });
    pen.rect(x, y, size, size, { stroke: theme.hair, width: 0.5 });
    const pin = pinned.indexOf(order[slot]);
    const corner = Math.max(4, Math.round(size / 5));
    if (pin >= 0) pen.rect(x + size - corner, y, corner, corner, { fill: theme.heads[pin] });
    if (order[slot] === hovered) pen.rect(x - 1, y - 1, size + 2, size + 2, { stroke: theme.text, width: 1.5 });
    if (order[slot] === selected) pen.rect(x - 1.5, y - 1.5, size + 3, size + 3, { stroke: theme.accent, width: 2.5 });
  }
}

/** How much room labels take beside and above a matrix. */
function gutters(pen, queries, keys, range, size, most = 116) {
  const widest = (cells, from, to) => {
    const step = Math.max(1, Math.floor((to - from) / 200));
    let width = 12;
    for (let i = from; i < to; i += step) width = Math.max(width, textWidth(cut(visible(cells[i].text), 24), pen.font(size, 600)));
    return Math.min(Math.ceil(width), most);
  };
  return { left: widest(queries, range.q0, range.q1) + 12, top: Math.max(44, widest(keys, range.k0, range.k1) + 12) };
}

/** @type {WeakMap<Tile, {key: string, canvas: HTMLCanvasElement}>} the last picture made of each tile */
const rasters = new WeakMap();

/** The shown part of a tile: pooled to device pixels, coloured at cell resolution, enlarged without smoothing. */
function drawTile(pen, spec, tile) {
  const { area, view, theme } = spec;
  const shown = shownCells(view, spec.range, area);
  const [tall, wide] = [tile.q1 - tile.q0, tile.k1 - tile.k0];
  const q = [Math.max(shown.q0, tile.q0), Math.min(shown.q1, tile.q1)];
  const k = [Math.max(shown.k0, tile.k0), Math.min(shown.k1, tile.k1)];
  if (q[1] <= q[0] || k[1] <= k[0]) return;
  const r = [pooledIndex(q[0] - tile.q0, tall, tile.rows), pooledIndex(q[1] - 1 - tile.q0, tall, tile.rows) + 1];
  const c = [pooledIndex(k[0] - tile.k0, wide, tile.cols), pooledIndex(k[1] - 1 - tile.k0, wide, tile.cols) + 1];
  const [stepQ, stepK] = [tall / tile.rows, wide / tile.cols];
  const [w, h] = [(c[1] - c[0]) * stepK * view.scale, (r[1] - r[0]) * stepQ * view.scale];
  const [rows, cols] = [Math.min(r[1] - r[0], Math.ceil(h * pen.ratio)), Math.min(c[1] - c[0], Math.ceil(w * pen.ratio))];
  const key = [r, c, rows, cols, spec.top, spec.scale, theme.name].join();
  let raster = rasters.get(tile);
  if (raster?.key !== key) {
    const pooled = poolMax(tile.data, tile.cols, r, c, rows, cols);
    raster = { key, canvas: levelCanvas(pooled.map((weight) => level(weight, spec.top, spec.scale)), rows, cols, theme.palette) };
    rasters.set(tile, raster);
  }
  const x = area.x + (tile.k0 + c[0] * stepK - view.k) * view.scale;
  const y = area.y + (tile.q0 + r[0] * stepQ - view.q) * view.scale;
  pen.clip(area.x, area.y, area.w, area.h, () => {
    if (pen.vector && rows * cols <= 4096 && rows === r[1] - r[0]) vectorCells(pen, raster.canvas, spec, x, y, w / cols, h / rows);
    else pen.image(raster.canvas, x, y, w, h);
  });
}

/** Small matrices in SVG: one rectangle per cell. */
function vectorCells(pen, canvas, spec, x, y, stepX, stepY) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < canvas.width * canvas.height; i++) {
    const [row, col] = [Math.floor(i / canvas.width), i % canvas.width];
    pen.rect(x + col * stepX, y + row * stepY, stepX + 0.05, stepY + 0.05, { fill: css([data[4 * i], data[4 * i + 1], data[4 * i + 2]]) });
  }
}

/** The matrix with its tokens. @param {any} spec queries, keys, range, area, view, tiles (coarse first), top, scale, theme, focus, target, hover */
function drawMatrix(pen, spec) {
  const { area, view, theme, range } = spec;
  const shown = shownCells(view, range, area);
  const x = (k) => area.x + (k - view.k) * view.scale;
  const y = (q) => area.y + (q - view.q) * view.scale;
  for (const tile of spec.tiles) drawTile(pen, spec, tile);
  const [right, bottom] = [Math.min(x(range.k1), area.x + area.w), Math.min(y(range.q1), area.y + area.h)];
  pen.rect(area.x - 0.5, area.y - 0.5, right - area.x + 1, bottom - area.y + 1, { stroke: theme.hair });
  pen.clip(area.x - 2, area.y - 2, right - area.x + 4, bottom - area.y + 4, () => {
    if (spec.hover) {
      pen.rect(area.x, y(spec.hover.row), right - area.x, Math.max(1, view.scale), { stroke: theme.text });
      pen.rect(x(spec.hover.col), area.y, Math.max(1, view.scale), bottom - area.y, { stroke: theme.text });
    }
    if (spec.focus !== null) pen.rect(area.x, y(spec.focus), right - area.x, Math.max(2, view.scale), { stroke: theme.accent, width: 1.5 });
    if (spec.target !== null) pen.rect(x(spec.target), area.y, Math.max(2, view.scale), bottom - area.y, { stroke: theme.accent, dash: [3, 3] });
  });
  drawRowLabels(pen, spec, shown, y);
  drawColumnLabels(pen, spec, shown, x);
  if (!spec.corner) return;
  pen.text(spec.corner[0], area.x - 8, area.y - 17, { size: 11, fill: theme.muted, align: "right" });
  pen.text(spec.corner[1], area.x - 8, area.y - 32, { size: 11, fill: theme.muted, align: "right" });
}

function labelStyle(spec, cell, i, chosen, forced) {
  const { theme } = spec;
  return { size: spec.size, fill: cell.special && !forced ? theme.muted : theme.text, weight: i === chosen || forced ? 600 : 400 };
}

function drawRowLabels(pen, spec, shown, y) {
  const { plain, forced } = labelled(shown.q0, shown.q1, spec.view.scale, [spec.focus ?? -1, spec.hover?.row ?? -1]);
  const room = spec.area.x - 10;
  for (const [list, strong] of [[plain, false], [forced, true]]) {
    for (const i of list) {
      const middle = y(i) + spec.view.scale / 2;
      if (middle < spec.area.y - 1 || middle > spec.area.y + spec.area.h + 1) continue;
      const style = labelStyle(spec, spec.queries[i], i, spec.focus, strong);
      const text = elide(visible(spec.queries[i].text), room, pen.font(style.size, style.weight));
      if (i === spec.focus) pen.rect(spec.area.x - 5, middle - 6, 3, 12, { fill: spec.theme.accent });
      pen.text(text, spec.area.x - 8, middle, { ...style, align: "right" });
    }
  }
}

function drawColumnLabels(pen, spec, shown, x) {
  const { plain, forced } = labelled(shown.k0, shown.k1, spec.view.scale, [spec.target ?? -1, spec.hover?.col ?? -1]);
  const room = spec.area.y - 10;
  for (const [list, strong] of [[plain, false], [forced, true]]) {
    for (const i of list) {
      const middle = x(i) + spec.view.scale / 2;
      if (middle < spec.area.x - 1 || middle > spec.area.x + spec.area.w + 1) continue;
      const style = labelStyle(spec, spec.keys[i], i, spec.target, strong);
      const text = elide(visible(spec.keys[i].text), room, pen.font(style.size, style.weight));
      const flat = !strong && [...text].length === 1;
      pen.text(text, middle, spec.area.y - 7 - (flat ? 3 : 0), { ...style, align: flat ? "center" : "left", rotate: flat ? 0 : -90 });
    }
  }
}

const LEAST_LINE = 0.02; // weights under it are not drawn as lines (the caption says so)

/**
 * Two columns of tokens and the lines between them.
 * @param {any} spec left and right {cells, start, end, x}, top, step (row height), layers [{tile, colour}], emphasis {side, index}|null
 */
function drawLines(pen, spec) {
  const middle = (side, i) => spec.top + (i - side.start + 0.5) * spec.step;
  const strong = spec.emphasis;
  for (const pass of [false, true]) {
    for (const { tile, colour } of spec.layers) {
      for (let q = spec.left.start; q < spec.left.end; q++) {
        for (let k = spec.right.start; k < spec.right.end; k++) {
          const chosen = !strong || (strong.side === "left" ? q === strong.index : k === strong.index);
          if (chosen !== pass) continue;
          const weight = tileAt(tile, q, k)?.value ?? 0;
          if (weight < LEAST_LINE) continue;
          const alpha = (spec.scale === "sqrt" ? Math.sqrt(weight) : weight) * (chosen ? 0.95 : 0.13);
          pen.curve(spec.left.x, middle(spec.left, q), spec.right.x, middle(spec.right, k), { stroke: colour, width: 0.75 + 4 * weight, alpha });
        }
      }
    }
  }
  const name = { size: 11, fill: spec.theme.muted };
  pen.text(spec.names[0], spec.left.x - 8, 10, { ...name, align: "right" });
  pen.text(spec.names[1], spec.right.x + 8, 10, name);
  drawLineTokens(pen, spec, spec.left, "right", spec.focus);
  drawLineTokens(pen, spec, spec.right, "left", spec.target);
}

function drawLineTokens(pen, spec, side, align, chosen) {
  const { theme, size, step } = spec;
  const away = align === "right" ? -8 : 8;
  for (let i = side.start; i < side.end; i++) {
    const y = spec.top + (i - side.start + 0.5) * step;
    const bold = i === chosen || (spec.emphasis?.index === i && (spec.emphasis.side === "left") === (align === "right"));
    const style = { size, align, fill: side.cells[i].special && !bold ? theme.muted : theme.text, weight: bold ? 600 : 400 };
    const text = elide(visible(side.cells[i].text), side.room, pen.font(size, style.weight));
    if (i === chosen) {
      const width = textWidth(text, pen.font(size, 600)) + 10;
      pen.rect(align === "right" ? side.x - 3 - width : side.x + 3, y - step / 2 + 1, width, step - 2,
        { stroke: theme.accent, width: 1.5, dash: align === "right" ? [] : [3, 3] });
    }
    pen.text(text, side.x + away, y, style);
  }
}

/** The legend: the ramp and the weights at its ends and middle. */
function drawLegend(pen, { theme, x, y, w, top, scale, name }) {
  const steps = 64;
  for (let i = 0; i < steps; i++) pen.rect(x + (i * w) / steps, y, w / steps + 0.3, 10, { fill: css(colourAt(theme.ramp, Math.round((i * 255) / (steps - 1)))) });
  pen.rect(x, y, w, 10, { stroke: theme.hair });
  const at = (share) => (scale === "sqrt" ? share * share : share) * top;
  for (const share of [0, 0.5, 1]) {
    pen.text(String(Number(at(share).toPrecision(2))), x + share * w, y + 20, { size: 11, fill: theme.muted, align: share === 0 ? "left" : share === 1 ? "right" : "center" });
  }
  pen.text(name, x + w + 10, y + 5, { size: 11, fill: theme.muted });
}

// ------------------------------------------------------------------------------------------------ 10. page pieces

/** A <select> with a label before it. @param {[string, string][]} choices value, text */
function picker(label, choices, onchange) {
  const select = h("select", { onchange: (event) => onchange(event.target.value) }, ...choices.map(([value, text]) => h("option", { value }, text)));
  return { el: h("label", { class: "picker" }, h("span", {}, label), select), select };
}

/** A canvas at device resolution; returns a pen on a cleared sheet. */
function sheet(canvas, width, height, family) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return canvasPen(ctx, family, ratio);
}

/** For paper: always light. */
const printTheme = () => themeOf(false, [255, 255, 255], [30, 32, 40], [214, 40, 40], "Helvetica, Arial, 'DejaVu Sans', sans-serif");

// -- the strip

const STRIP_WIDE = 200; // chips at once
const STRIP_NARROW = 90;

/** One row of chips: everything ("both"), or for cross-attention what looks ("query") and what is looked at ("key"). */
function createChips(app, role) {
  const box = h("div", { class: "chips", role: "group", onclick, onkeydown, onfocusin, onfocusout, onpointerover, onpointerleave });
  const bar = createScrubber(app, (start) => { app.setLocal({ [`strip ${role}`]: start }); });
  const el = h("div", { class: "chip-row" }, role === "both" ? null : h("span", { class: "row-name" }, role === "query" ? app.say.queriesRow : app.say.keysRow), box, bar.el);
  const cells = () => (role === "key" ? app.keys() : app.data.queries);
  const chosen = () => (role === "key" ? app.target(app.shown()) : app.shown().focus);
  const indexOf = (event) => Number(event.target.closest?.("button")?.dataset.i ?? -1);
  let built = "";
  let start = 0;
  let count = 0;
  let lastKept = /** @type {number|null|undefined} */ (undefined);

  function patch(i, alt) {
    return role === "key" || (role === "both" && (alt || app.store.state.picking)) ? { target: i } : { focus: i };
  }
  function onclick(event) {
    const i = indexOf(event);
    if (i < 0) return;
    app.keep(patch(i, event.altKey));
    app.setLocal({ picking: false });
  }
  function onpointerover(event) {
    const i = indexOf(event);
    if (event.pointerType === "touch" || i < 0) return;
    app.preview(patch(i, false));
  }
  function onpointerleave() { app.preview(null); }
  function onfocusin(event) {
    const i = indexOf(event);
    if (i >= 0 && event.target.matches(":focus-visible")) app.preview(patch(i, false));
  }
  function onfocusout() { app.preview(null); }
  function onkeydown(event) {
    const act = stripKey(event.key, indexOf(event), cells().length, box.dir === "rtl");
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (act.back) {
      app.escape();
      move(app.store.state.kept.focus ?? 0);
    } else move(act.index);
  }
  function move(i) {
    if (i < start || i >= start + count) app.setLocal({ [`strip ${role}`]: windowOn(i, start, count, cells().length) });
    draw();
    button(i)?.focus();
  }
  const button = (i) => /** @type {HTMLButtonElement|null} */ (box.querySelector(`button[data-i="${i}"]`));

  function chip(all, i) {
    const b = h("button", { type: "button", class: `chip${all[i].special ? " special" : ""}${continues(all, i) ? " joined" : ""}${continues(all, i + 1) ? " open" : ""}`,
      dir: "auto", tabindex: -1, "data-i": i });
    b.textContent = chipText(all, i);
    return b;
  }
  function build() {
    const all = cells();
    const most = app.width() > 640 ? STRIP_WIDE : STRIP_NARROW;
    count = all.length <= most * 1.25 ? all.length : most;
    const kept = role === "key" ? app.store.state.kept.target : app.store.state.kept.focus;
    const wish = app.store.state[`strip ${role}`] ?? 0;
    start = kept === lastKept ? clamp(wish, 0, all.length - count) : windowOn(kept, wish, count, all.length);
    if (start !== wish) app.store.state[`strip ${role}`] = start;
    lastKept = kept;
    const key = [app.stamp, start, count].join();
    if (key === built) return;
    built = key;
    box.classList.toggle("long", all.length > 80);
    box.dir = isRtl(all.map((cell) => (cell.special ? "" : cell.text)).join(" ").slice(0, 400)) ? "rtl" : "ltr";
    setAttribute(box, "aria-label", role === "both" ? app.say.strip : `${app.say.strip}: ${role === "query" ? app.say.queriesRow : app.say.keysRow}`);
    const parts = [];
    const pair = isPair(all);
    for (let i = start; i < start + count; i++) {
      if (pair && (i === start || all[i].segment !== all[i - 1].segment)) {
        parts.push(h("span", { class: i === start ? "segment first" : "segment" }, all[i].segment === 0 ? app.say.segmentA : app.say.segmentB));
      }
      parts.push(chip(all, i));
    }
    box.replaceChildren(...parts);
  }
  function colour() {
    const values = app.shades(role);
    const [picked, target] = [chosen(), role === "query" ? null : app.target(app.shown())];
    const [scale, top, theme] = [app.shown().scale, app.scaleTop(), app.theme];
    const current = role === "key" ? (app.store.state.kept.target ?? start) : app.store.state.kept.focus ?? start;
    const stop = current >= start && current < start + count ? current : start;
    for (const b of box.querySelectorAll("button")) {
      const i = Number(b.dataset.i);
      const rgb = values && values[i] > 0 ? colourAt(theme.ramp, level(values[i], top, scale)) : null;
      b.style.backgroundColor = rgb ? css(rgb) : "";
      b.style.color = rgb ? inkOn(rgb) : "";
      b.classList.toggle("focus", role !== "key" && i === picked);
      b.classList.toggle("target", i === target);
      setAttribute(b, "aria-pressed", i === picked || (role === "key" && i === target));
      if (b.tabIndex !== (i === stop ? 0 : -1)) b.tabIndex = i === stop ? 0 : -1;
    }
    bar.draw(values, cells().length, start, count, scale, top);
  }
  function reveal() {
    const b = button(chosen() ?? -1);
    if (!b || b === revealed || app.store.state.preview) return;
    revealed = b;
    if (b.offsetTop < box.scrollTop || b.offsetTop + b.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = b.offsetTop - box.clientHeight / 2;
  }
  let revealed = null;
  function draw() { build(); colour(); reveal(); }
  return { el, draw };
}

/** Under a long text: the whole of it as a thin shaded bar, and the window of it that the chips show. */
function createScrubber(app, onmove) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const range = h("input", { type: "range", min: 0, step: 1, "aria-label": app.say.moveWindow, oninput: () => onmove(Number(range.value)) });
  const place = h("span", { class: "place" });
  const jump = (sign) => () => onmove(clamp(Number(range.value) + sign * size, 0, Number(range.max)));
  let size = 1;
  const el = h("div", { class: "scrubber", hidden: true }, h("button", { type: "button", class: "plain", "aria-label": app.say.earlier, onclick: jump(-1) }, "‹"),
    h("div", { class: "track" }, canvas, range), h("button", { type: "button", class: "plain", "aria-label": app.say.later, onclick: jump(1) }, "›"), place);
  function draw(values, length, start, count, scale, top) {
    el.hidden = count >= length;
    if (el.hidden) return;
    size = count;
    range.max = String(length - count);
    range.value = String(start);
    const base = app.data.indexBase;
    setText(place, fill(app.say.range, { from: start + base, to: start + count - 1 + base, count: length }));
    const width = Math.max(40, range.parentElement.clientWidth);
    const pen = sheet(canvas, width, 16, app.theme.family);
    if (values) {
      const cells = Math.min(width, values.length);
      const pooled = poolMax(values, values.length, [0, 1], [0, values.length], 1, cells);
      pen.image(levelCanvas(pooled.map((weight) => level(weight, top, scale)), 1, cells, app.theme.palette), 0, 4, width, 8);
    }
    pen.rect(0.5, 4.5, width - 1, 7, { stroke: app.theme.hair });
    pen.rect((start / length) * width + 1, 1, Math.max(6, (count / length) * width - 2), 14, { stroke: app.theme.text, width: 1.5 });
  }
  return { el, draw };
}

function createStrip(app) {
  const say = app.say;
  const facing = (value, text) => h("button", { type: "button", "data-value": value, onclick: () => app.setLocal({ facing: value }) }, text);
  const ways = [facing("out", say.looksAt), facing("in", say.lookedAt)];
  const pick = h("button", { type: "button", class: "plain", title: say.pickTargetHint, onclick: () => app.setLocal({ picking: !app.store.state.picking }) }, say.pickTarget);
  const rows = h("div", {});
  const el = h("section", { class: "strip", "aria-label": say.strip }, rows, h("div", { class: "strip-tools" },
    h("div", { class: "switch", role: "group", "aria-label": say.direction }, ...ways), pick));
  let groups = [];
  let kind = "";
  function draw() {
    const cross = Boolean(app.data.keys);
    if (kind !== String(cross)) {
      kind = String(cross);
      groups = (cross ? ["query", "key"] : ["both"]).map((role) => createChips(app, role));
      rows.replaceChildren(...groups.map((group) => group.el));
    }
    for (const b of ways) setAttribute(b, "aria-pressed", b.dataset.value === app.store.state.facing);
    setAttribute(pick, "aria-pressed", app.store.state.picking);
    el.classList.toggle("picking", app.store.state.picking);
    for (const group of groups) group.draw();
  }
  return { el, draw };
}

function createTruth(app) {
  const el = h("p", { class: "truth", "aria-live": "polite" });
  return { el, draw: () => setText(el, app.sentence()) };
}

// -- the grid of heads

function createGrid(app) {
  const say = app.say;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", { class: "pad", tabindex: 0, role: "application", onkeydown, onfocusin, onpointermove, onpointerleave, onclick }, canvas);
  const order = picker(say.order, [["layer", say.orderLayer], ["entropy", say.orderEntropy], ["distance", say.orderDistance], ["focus", say.orderFocusBare]],
    (value) => app.keep({ order: value }));
  const before = h("button", { type: "button", class: "plain", "aria-label": say.pageBefore, onclick: () => turn(-1) }, "‹");
  const after = h("button", { type: "button", class: "plain", "aria-label": say.pageAfter, onclick: () => turn(1) }, "›");
  const place = h("span", { class: "place" });
  const pager = h("div", { class: "pager" }, before, place, after);
  const note = h("p", { class: "note" });
  const ways = h("span", { class: "muted" }, say.layersDown);
  const el = h("section", { class: "grid", "aria-label": say.grid }, h("header", {}, h("h2", {}, say.grid), ways, order.el), pad, pager, note);
  let layout = /** @type {any} */ (null);
  let slots = /** @type {number[]} */ ([]);
  let picture = { key: "", canvas: /** @type {any} */ (null), grid: /** @type {any} */ (null) };
  let anchor = /** @type {Partial<Selection>|null} */ (null);
  let last = "";

  const kept = () => app.store.state.kept;
  const idOf = (selection) => selection.layer * app.data.heads + selection.head;
  const headAt = (slot) => ({ layer: Math.floor(slots[slot] / app.data.heads), head: slots[slot] % app.data.heads });
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return layout ? slotUnder(layout, kept().order, event.clientX - box.left, event.clientY - box.top) : -1;
  };
  function turn(step) { app.setLocal({ page: layout.page + step }); }
  function onfocusin() { anchor = { layer: kept().layer, head: kept().head }; }
  function onkeydown(event) {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = gridKey(event.key, slots.indexOf(idOf(kept())), layout, kept().order);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    if (act.keep) {
      anchor = { layer: kept().layer, head: kept().head };
      if (event.shiftKey) app.pin();
      app.flush();
    } else if (act.back) {
      app.escape();
      if (anchor) app.keep(anchor, true);
    } else app.keep(headAt(act.slot), true);
  }
  function onpointermove(event) {
    const slot = under(event);
    pad.style.cursor = slot < 0 ? "" : "pointer";
    if (event.pointerType === "touch") return;
    if (slot < 0) return onpointerleave();
    app.preview(headAt(slot));
    app.tip.show(describe(headAt(slot)), event.clientX, event.clientY);
  }
  function onpointerleave() {
    app.preview(null);
    app.tip.hide();
  }
  function onclick(event) {
    const slot = under(event);
    if (slot < 0) return;
    const { layer, head } = headAt(slot);
    anchor = { layer, head };
    if (event.shiftKey) app.keep({ pinned: togglePin(kept().pinned, layer, head) });
    else app.keep({ layer, head });
  }
  function describe({ layer, head }) {
    const { entropy, distance } = app.data.measures ?? {};
    const lines = [app.name(layer, head)];
    if (entropy?.[layer]) lines.push(fill(say.entropy, { value: short(entropy[layer][head]) }));
    if (distance?.[layer]) lines.push(fill(say.distance, { value: distance[layer][head].toFixed(1) }));
    const link = app.linkWeights();
    if (link) lines.push(fill(say.link, { ...app.linkNames(), weight: short(link[layer * app.data.heads + head]) }));
    return lines;
  }
  function values(kind) {
    if (kind === "focus") return app.linkWeights();
    return app.data.measures?.[kind]?.flat();
  }
  function arrange() {
    const { order: kind } = kept();
    const { layers, heads } = app.data;
    slots = orderHeads(kind, layers, heads, values(kind));
    const coarse = app.width() < 600 || globalThis.matchMedia?.("(pointer: coarse)").matches;
    const frame = { width: pad.clientWidth - 4, height: app.wide() ? app.room() - 92 : 420, layers, heads, least: coarse ? 24 : 15 };
    layout = gridLayout({ ...frame, page: app.store.state.page ?? 0 });
    const where = [app.stamp, idOf(kept()), kind, layout.perPage].join();
    if (where !== last) { // the chosen head moved: show its page
      last = where;
      const page = pageOf(layout, kind, slots.indexOf(idOf(kept())));
      if (page !== layout.page) layout = gridLayout({ ...frame, page });
      app.store.state.page = layout.page;
    }
  }
  function notes(grid) {
    const { indexBase: base, layers } = app.data;
    ways.hidden = kept().order !== "layer";
    pager.hidden = layout.pages < 2;
    before.disabled = layout.page === 0;
    after.disabled = layout.page === layout.pages - 1;
    setText(place, fill(say.page, { from: layout.firstLayer + base, to: layout.firstLayer + layout.shownLayers - 1 + base, count: layers }));
    setText(note, fill(say.gridNote, { scale: kept().scale === "sqrt" ? say.sqrtScale : say.linearScale })
      + (kept().order === "layer" || !values(kept().order) ? "" : ` ${say.gridOrdered}`) + (grid?.sampled || app.data.sampled ? ` ${say.gridSampled}` : ""));
    order.select.value = kept().order;
    const names = app.linkNames();
    setText(order.select.options[3], names ? fill(say.orderFocus, { focus: names.from, target: names.to }) : say.orderFocusBare);
    setAttribute(pad, "aria-label", fill(say.gridLabel, { head: describe(kept()).join(", ") }));
  }
  function draw() {
    const grid = app.feed.get("grid", THUMB);
    arrange();
    notes(grid);
    const shown = app.shown();
    const pen = sheet(canvas, layout.width + 3, layout.height + 3, app.theme.family);
    pad.classList.toggle("skeleton", !grid);
    if (!grid) return;
    const key = [layout.cell, layout.page, layout.perLine, slots.length > 0 && kept().order !== "layer" ? slots : "", kept().scale, app.theme.name, pen.ratio].join();
    if (picture.key !== key || picture.grid !== grid) {
      picture = { key, grid, canvas: gridPicture(grid, layout, slots, kept().order, app.theme, kept().scale, pen.ratio) };
    }
    drawGrid(pen, figure(picture.canvas, app.theme, idOf(shown) === idOf(kept()) ? -1 : idOf(shown)));
  }
  const figure = (canvas, theme, hovered) => ({ layout, order: slots, kind: kept().order, values: kept().order === "layer" ? null : values(kept().order), theme, selected: idOf(kept()), hovered,
    pinned: kept().pinned.map(([layer, head]) => layer * app.data.heads + head), base: app.data.indexBase, picture: canvas });
  /** The whole grid for paper. */
  function print() {
    const grid = app.feed.peek("grid", THUMB);
    if (!grid) return null;
    const { layers, heads } = app.data;
    const paper = gridLayout({ width: 900, height: 26 + 60 * layers, layers, heads, least: 12, most: 60 });
    const theme = printTheme();
    const drawn = gridPicture(grid, paper, slots, kept().order, theme, kept().scale, 4);
    return { name: "grid", width: paper.width + 4, height: paper.height + 4, draw: (pen) => drawGrid(pen, { ...figure(drawn, theme, -1), layout: paper }) };
  }
  return { el, draw, print };
}

// -- the matrix

/** @type {WeakMap<Grid, Map<number, Tile>>} */
const thumbs = new WeakMap();

/** @param {Grid} grid */
function thumbOf(grid, layer, head, queries, keys) {
  const known = thumbs.get(grid) ?? new Map();
  thumbs.set(grid, known);
  const id = layer * grid.heads + head;
  if (!known.has(id)) known.set(id, thumbTile(grid, layer, head, queries, keys));
  return known.get(id);
}

function createMatrix(app) {
  const say = app.say;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", { class: "pad", tabindex: 0, role: "application", onkeydown, onpointerdown, onpointermove, onpointerup, onpointercancel, onpointerleave, onblur }, canvas);
  pad.addEventListener("wheel", onwheel, { passive: false });
  const legend = h("canvas", { role: "img" });
  const note = h("p", { class: "note" });
  const el = h("div", { class: "matrix" }, pad, legend, note);
  let now = /** @type {any} */ (null); // what is drawn
  let hover = /** @type {{row: number, col: number}|null} */ (null);
  let drag = { points: new Map(), moved: 0 };

  function frame(pen, width, height) {
    const { queries } = app.data;
    const keys = app.keys();
    const range = filterRange(queries, keys, app.shown().filter);
    const label = gutters(pen, queries, keys, range, 12, Math.min(116, width / 4));
    const area = { x: label.left, y: label.top, w: width - label.left - 8, h: height - label.top - 6 };
    const stored = app.store.state.view;
    const key = [app.stamp, Object.values(range)].join();
    const view = stored?.key === key ? clampView(stored, range, area) : fitView(range, area);
    return { range, area, view, key, queries, keys, size: 12 };
  }
  /** What to paint now, coarse first; asks for what is missing. */
  function tiles({ range, area, view }, pen) {
    const { layer, head } = app.shown();
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    const grid = app.feed.peek("grid", THUMB);
    const list = grid ? [thumbOf(grid, layer, head, rows, cols)] : [];
    const ask = app.previewsHead() && rows * cols > 16384 ? app.feed.peek : app.feed.get; // hovering fetches only small maps
    if (rows <= TILE && cols <= TILE) {
      const whole = ask("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE });
      return whole ? [whole] : list;
    }
    const pixelsWide = Math.ceil((Math.max(area.w, area.h) * pen.ratio) / 64) * 64;
    const overview = ask("tile", { layer, head, ...range, size: clamp(pixelsWide, 128, TILE) });
    if (overview) list.push(overview);
    const detail = tileWindow(shownCells(view, range, area), range);
    if (detail.q1 - detail.q0 < range.q1 - range.q0 || detail.k1 - detail.k0 < range.k1 - range.k0) {
      const tile = (app.still() ? ask : app.feed.peek)("tile", { layer, head, ...detail, size: TILE });
      if (tile) list.push(tile);
    }
    return list;
  }
  function draw(width, height) {
    const family = app.theme.family;
    const first = frame(canvasPen(canvas.getContext("2d"), family, 1), width, height);
    const tall = Math.min(height, first.area.y + (first.range.q1 - first.range.q0) * Math.max(first.view.scale, fitView(first.range, first.area).scale) + 8);
    const pen = sheet(canvas, width, Math.ceil(tall), family);
    const shown = app.shown();
    if (hover && (hover.row >= first.range.q1 || hover.col >= first.range.k1)) hover = null;
    const focus = shown.focus;
    now = { ...first, tiles: tiles(first, pen), top: app.scaleTop(), scale: shown.scale, theme: app.theme, focus, target: app.store.state.picking ? app.target(shown) : shown.target, hover, corner: [say.rowCorner, say.columnCorner] };
    const exact = now.tiles.length > 1 || now.tiles.some((tile) => isExact(tile)); // else only the small map is here
    pad.classList.toggle("skeleton", now.tiles.length === 0);
    drawMatrix(pen, now);
    describe(shown, exact, width);
  }
  function describe(shown, exact, width) {
    const zoomed = now.view.scale > fitView(now.range, now.area).scale * 1.001;
    pad.style.touchAction = zoomed ? "none" : "pan-y pinch-zoom";
    setAttribute(pad, "aria-label", fill(say.matrixLabel, { head: app.name(shown.layer, shown.head) }));
    setText(note, `${say.axes} ${say.matrixNote}${fitView(now.range, now.area).scale < 14 ? ` ${say.matrixZoom}` : ""}`);
    const scaleName = shown.scale === "sqrt" ? say.sqrtScale : say.linearScale;
    setAttribute(legend, "aria-label", `${scaleName}, 0 – ${now.top}`);
    drawLegend(sheet(legend, Math.min(width, 420), 28, app.theme.family), { theme: app.theme, x: 2, y: 1, w: 180, top: now.top, scale: shown.scale, name: scaleName });
    pad.classList.toggle("waiting", !exact);
  }
  function cellUnder(event) {
    const box = canvas.getBoundingClientRect();
    const { area, view, range } = now;
    const [x, y] = [event.clientX - box.left - area.x, event.clientY - box.top - area.y];
    const [row, col] = [Math.floor(view.q + y / view.scale), Math.floor(view.k + x / view.scale)];
    const inside = x >= -area.x && y >= -area.y && x <= area.w && y <= area.h && row < range.q1 && col < range.k1;
    if (!inside || (x < 0 && y < 0)) return null;
    return { row: x >= 0 || y >= 0 ? Math.max(row, range.q0) : -1, col: Math.max(col, range.k0), onMap: x >= 0 && y >= 0, x, y, side: x < 0 ? "row" : y < 0 ? "column" : null };
  }
  /** The tooltip of a cell: both tokens and the weight, or the largest of the cells under one pixel. */
  function lines({ row, col }) {
    const base = app.data.indexBase;
    const found = now.tiles.map((tile) => tileAt(tile, row, col)).filter(Boolean).pop();
    const text = [`${quote(now.queries, row, base)} → ${quote(now.keys, col, base)}`];
    if (!found) return text;
    text[0] += ` ${weightText(found.value)}`;
    if (found.rows * found.cols > 1) text.push(fill(say.pooled, found));
    text.push(`${row + base} → ${col + base}`);
    return text;
  }
  const weightText = (value) => (value > 0 && value < 0.00005 ? value.toExponential(1) : value.toFixed(4));
  function point(cell, event) {
    hover = { row: cell.row, col: cell.col };
    app.preview(cell.row === app.store.state.kept.focus ? null : { focus: cell.row });
    app.tip.show(lines(hover), event.clientX, event.clientY);
    app.redraw();
  }
  function clear() {
    hover = null;
    app.preview(null);
    app.tip.hide();
    app.redraw();
  }
  function onpointerdown(event) {
    drag.points.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (drag.points.size === 1) drag.moved = 0;
    if (event.pointerType !== "touch" || pad.style.touchAction === "none") pad.setPointerCapture(event.pointerId);
  }
  function onpointermove(event) {
    if (!now) return;
    const before = drag.points.get(event.pointerId);
    if (!before) {
      const cell = cellUnder(event);
      if (cell?.onMap) point(cell, event);
      else if (hover) clear();
      return;
    }
    const others = [...drag.points.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const here = { x: event.clientX, y: event.clientY };
    drag.moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    drag.points.set(event.pointerId, here);
    if (others.length) pinch(before, here, others[0]);
    else if (drag.moved > 4) move((before.x - here.x) / now.view.scale, (before.y - here.y) / now.view.scale);
  }
  function pinch(before, here, other) {
    const apart = (at) => Math.hypot(at.x - other.x, at.y - other.y);
    const box = canvas.getBoundingClientRect();
    zoom(apart(here) / Math.max(1, apart(before)), (here.x + other.x) / 2 - box.left - now.area.x, (here.y + other.y) / 2 - box.top - now.area.y);
  }
  function onpointerup(event) {
    const clicked = drag.points.delete(event.pointerId) && drag.moved <= 4;
    const cell = clicked && now ? cellUnder(event) : null;
    if (!cell) return;
    if (cell.side === "column" || event.altKey || app.store.state.picking) app.keep({ target: cell.col });
    else app.keep(cell.side === "row" ? { focus: cell.row } : { focus: cell.row, target: cell.col });
    app.setLocal({ picking: false });
    if (cell.onMap) point(cell, event);
  }
  function onpointercancel(event) { drag.points.delete(event.pointerId); }
  function onpointerleave(event) { if (!drag.points.has(event.pointerId)) clear(); }
  function onblur() { if (hover) clear(); }
  function setView(view) { app.setLocal({ view: { ...view, key: now.key } }); }
  function move(cols, rows) { setView(clampView({ ...now.view, q: now.view.q + rows, k: now.view.k + cols }, now.range, now.area)); }
  function zoom(factor, x = now.area.w / 2, y = now.area.h / 2) { setView(zoomAt(now.view, now.range, now.area, factor, x, y)); }
  function onwheel(event) {
    if (!now) return;
    const least = fitView(now.range, now.area).scale;
    const leaving = event.deltaY > 0 && now.view.scale <= least * 1.001;
    if ((least >= 14 && !event.ctrlKey && !event.metaKey) || leaving) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(clamp(-event.deltaY, -200, 200) * 0.003), event.clientX - box.left - now.area.x, event.clientY - box.top - now.area.y);
  }
  function onkeydown(event) {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = hover ?? { row: app.store.state.kept.focus ?? now.range.q0, col: app.target(app.store.state.kept) ?? now.range.k0 };
    const act = matrixKey(event.key, event.shiftKey, at, now.range);
    if (!act) return;
    event.preventDefault();
    if (act.pan) move(act.pan[1] * 4, act.pan[0] * 4);
    else if (act.zoom) zoom(act.zoom);
    else if (act.fit) app.setLocal({ view: null });
    else if (act.keep) app.keep({ focus: at.row, target: at.col });
    else if (act.back) { app.escape(); clear(); }
    else reach(act);
  }
  /** Move the keyboard's cell, bringing it into view. */
  function reach({ row, col }) {
    const { view, area } = now;
    const inside = (at, start, room) => (at < start ? at : at + 1 > start + room / view.scale ? at + 1 - room / view.scale : start);
    const next = { ...view, q: inside(row, view.q, area.h), k: inside(col, view.k, area.w) };
    if (next.q !== view.q || next.k !== view.k) setView(clampView(next, now.range, area));
    const box = canvas.getBoundingClientRect();
    const x = clamp((col - next.k + 1) * view.scale, 0, area.w) + area.x + box.left;
    point({ row, col }, { clientX: x, clientY: clamp((row - next.q + 1) * view.scale, 0, area.h) + area.y + box.top });
    app.announce(lines({ row, col })[0]);
  }
  /** What is shown, for paper. */
  function print() {
    if (!now?.tiles.length) return null;
    const shown = shownCells(now.view, now.range, now.area);
    const ink = canvasPen(canvas.getContext("2d"), printTheme().family, 1);
    const label = gutters(ink, now.queries, now.keys, shown, 12);
    const [rows, cols] = [shown.q1 - shown.q0, shown.k1 - shown.k0];
    const view = fitView(shown, { w: 780, h: 780 }, 40);
    const area = { x: label.left + 16, y: label.top + 16, w: cols * view.scale, h: rows * view.scale };
    const theme = printTheme();
    const spec = { ...now, range: shown, area, view, theme, hover: null, corner: null };
    const draw = (pen) => {
      drawMatrix(pen, spec);
      pen.text(say.columnAxis, area.x, 8, { size: 11, fill: theme.muted });
      pen.text(say.rowAxis, 10, area.y + area.h, { size: 11, fill: theme.muted, rotate: -90 });
      drawLegend(pen, { theme, x: area.x, y: area.y + area.h + 12, w: 160, top: now.top, scale: now.scale, name: now.scale === "sqrt" ? say.sqrtScale : say.linearScale });
    };
    return { name: "matrix", width: Math.max(area.x + area.w + 8, area.x + 340), height: area.y + area.h + 46, draw };
  }
  return { el, draw, print, zoomIn: () => now && zoom(1.6), zoomOut: () => now && zoom(1 / 1.6), fit: () => app.setLocal({ view: null }) };
}

// -- the lines

function createLines(app) {
  const say = app.say;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pad = h("div", { class: "pad", tabindex: 0, role: "application", onkeydown, onpointerdown, onpointermove, onpointerup, onpointercancel: onpointerup, onpointerleave }, canvas);
  pad.addEventListener("wheel", onwheel, { passive: false });
  const heads = h("div", { class: "heads" });
  const note = h("p", { class: "note" });
  const place = h("span", { class: "place" });
  const turn = (sign) => () => now && scroll(sign * now.count, "both");
  const pager = h("div", { class: "pager" }, h("button", { type: "button", class: "plain", "aria-label": say.earlier, onclick: turn(-1) }, "‹"), place,
    h("button", { type: "button", class: "plain", "aria-label": say.later, onclick: turn(1) }, "›"));
  const el = h("div", { class: "lines" }, pad, pager, heads, note);
  let now = /** @type {any} */ (null);
  let follow = /** @type {{side: "left"|"right", index: number}|null} */ (null);
  let drag = /** @type {{y: number, side: string, moved: number}|null} */ (null);
  let seen = "";

  /** The rows of each column that are shown; the kept focus and target stay inside. */
  function windows(height, step, range) {
    const count = Math.max(4, Math.floor((height - 26) / step));
    const { focus } = app.store.state.kept;
    const stored = app.store.state.scroll ?? { q: range.q0, k: range.k0 };
    const key = [app.stamp, focus, app.store.state.kept.target, Object.values(range)].join();
    const side = (at, from, to, must) => {
      const length = to - from;
      const inside = must !== null && must >= from && must < to && key !== seen ? must - from : null;
      return from + windowOn(inside, at - from, Math.min(count, length), length);
    };
    const q = side(stored.q, range.q0, range.q1, focus);
    const k = side(stored.k, range.k0, range.k1, app.target(app.store.state.kept));
    if (app.target(app.store.state.kept) !== null || focus === null) seen = key;
    app.store.state.scroll = { q, k };
    return { left: [q, Math.min(q + count, range.q1)], right: [k, Math.min(k + count, range.k1)], count };
  }
  /** One exact tile per head: all of a short text, else blocks of 64 around the windows. */
  function layers(left, right) {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    const block = (from, to, count) => (rows <= 128 && cols <= 128 ? [0, count] : [Math.floor(from / 64) * 64, Math.min(count, Math.ceil(to / 64) * 64)]);
    const [[q0, q1], [k0, k1]] = [block(...left, rows), block(...right, cols)];
    const whole = { q0: 0, q1: rows, k0: 0, k1: cols };
    return lineHeads(app).map(({ layer, head, colour }) => ({ layer, head, colour,
      tile: (rows <= TILE && cols <= TILE && app.feed.peek("tile", { layer, head, ...whole, size: TILE }))
        || (app.still() ? app.feed.get : app.feed.peek)("tile", { layer, head, q0, q1, k0, k1, size: TILE }) })).filter(({ tile }) => tile);
  }
  function specOf(width, height, theme, pen, step) {
    const keys = app.keys();
    const range = filterRange(app.data.queries, keys, app.shown().filter);
    const { left, right, count } = windows(height, step, range);
    const shown = app.shown();
    const label = gutters(pen, app.data.queries, keys, { q0: left[0], q1: left[1], k0: right[0], k1: right[1] }, 14, width * 0.32);
    const [x1, x2] = [label.left + 8, width - label.top - 8];
    const focus = shown.focus !== null && shown.focus >= left[0] && shown.focus < left[1] ? shown.focus : null;
    return { range, count, theme, step, size: 14, top: 22, names: [say.linesLeft, say.linesRight], scale: shown.scale, focus: shown.focus, target: app.target(shown),
      left: { cells: app.data.queries, start: left[0], end: left[1], x: x1, room: label.left },
      right: { cells: keys, start: right[0], end: right[1], x: x2, room: label.top },
      emphasis: follow ?? (focus === null ? null : { side: "left", index: focus }), layers: layers(left, right) };
  }
  function draw(width, height) {
    const family = app.theme.family;
    const step = app.coarse() ? 26 : 21;
    const wide = Math.min(width, 620);
    now = specOf(wide, height, app.theme, canvasPen(canvas.getContext("2d"), family, 1), step);
    const rows = Math.max(now.left.end - now.left.start, now.right.end - now.right.start);
    drawLines(sheet(canvas, wide, rows * step + 26, family), now);
    pad.classList.toggle("skeleton", now.layers.length === 0);
    const base = app.data.indexBase;
    const part = (side, count) => fill(say.range, { from: side.start + base, to: side.end - 1 + base, count });
    pager.hidden = !scrolls();
    setText(place, `${part(now.left, app.data.queries.length)} → ${part(now.right, app.keys().length)}`);
    setText(note, fill(say.linesNote, { least: LEAST_LINE }));
    setAttribute(pad, "aria-label", fill(say.linesLabel, { head: app.name(app.shown().layer, app.shown().head) }));
    listHeads();
  }
  const scrolls = () => now.range.q1 - now.range.q0 > now.count || now.range.k1 - now.range.k0 > now.count;
  function listHeads() {
    const list = lineHeads(app);
    const key = JSON.stringify([list, app.stamp, app.theme.name]);
    if (heads.dataset.key === key) return;
    heads.dataset.key = key;
    heads.replaceChildren(...list.map(({ layer, head, colour, pinned }) => {
      const dot = h("span", { class: "dot", "aria-hidden": "true" });
      dot.style.backgroundColor = colour;
      const name = app.name(layer, head);
      if (!pinned) return h("span", { class: "head" }, dot, `${name} (${say.current})`);
      return h("span", { class: "head" }, dot, h("button", { type: "button", class: "plain", onclick: () => app.keep({ layer, head }) }, name),
        h("button", { type: "button", class: "plain", "aria-label": `${say.unpin} ${name}`, onclick: () => app.keep({ pinned: togglePin(app.store.state.kept.pinned, layer, head) }) }, "×"));
    }));
  }
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const middle = (now.left.x + now.right.x) / 2;
    const near = x < now.left.x + 24 ? "left" : x > now.right.x - 24 ? "right" : null;
    const side = now[near ?? "left"];
    const index = side.start + Math.floor((y - now.top) / now.step);
    return { near, half: x < middle ? "left" : "right", index, inside: near !== null && index >= side.start && index < side.end };
  }
  function onpointermove(event) {
    if (!now) return;
    if (drag) {
      const steps = Math.trunc((drag.y - event.clientY) / now.step);
      drag.moved = Math.max(drag.moved, Math.abs(drag.y - event.clientY));
      const pages = event.pointerType === "touch"; // a finger scrolls the page
      if (steps && scrolls() && !pages) { scroll(steps, drag.side); drag.y -= steps * now.step; drag.moved = 99; }
      return;
    }
    const at = under(event);
    pad.style.cursor = at.inside ? "pointer" : "";
    const next = at.inside && event.pointerType !== "touch" ? { side: at.near, index: at.index } : null;
    if (next?.side === follow?.side && next?.index === follow?.index) return;
    follow = next;
    app.preview(next?.side === "left" ? { focus: next.index } : null);
    if (next) app.tip.show(strongest(next), event.clientX, event.clientY);
    else app.tip.hide();
    app.redraw();
  }
  /** The three strongest links of the followed token, per head. */
  function strongest({ side, index }) {
    const [mine, theirs] = side === "left" ? [now.left, now.right] : [now.right, now.left];
    const text = [quote(mine.cells, index, app.data.indexBase)];
    for (const { tile, layer, head } of now.layers) {
      const links = [];
      for (let i = theirs.start; i < theirs.end; i++) links.push([i, (side === "left" ? tileAt(tile, index, i) : tileAt(tile, i, index))?.value ?? 0]);
      links.sort((a, b) => b[1] - a[1]);
      const names = links.slice(0, 3).map(([i, weight]) => `${visible(theirs.cells[i].text)} ${short(weight)}`);
      text.push(`${app.name(layer, head)} ${side === "left" ? "→" : "←"} ${names.join(", ")}`);
    }
    return text;
  }
  function onpointerleave() {
    if (drag || !follow) return;
    follow = null;
    app.preview(null);
    app.tip.hide();
    app.redraw();
  }
  function onpointerdown(event) {
    if (!now) return;
    drag = { y: event.clientY, side: under(event).near ?? "both", moved: 0 };
    if (event.pointerType !== "touch") pad.setPointerCapture(event.pointerId);
  }
  function onpointerup(event) {
    const clicked = drag && drag.moved < 5 && event.type === "pointerup";
    drag = null;
    const at = clicked ? under(event) : null;
    if (!at?.inside) return;
    app.keep(at.near === "right" || event.altKey || app.store.state.picking ? { target: at.index } : { focus: at.index });
    app.setLocal({ picking: false });
  }
  function scroll(steps, side) {
    const { q, k } = app.store.state.scroll;
    const { range, count } = now;
    app.setLocal({ scroll: {
      q: side === "right" ? q : clamp(q + steps, range.q0, range.q1 - count),
      k: side === "left" ? k : clamp(k + steps, range.k0, range.k1 - count) } });
  }
  function onwheel(event) {
    if (!now || !scrolls() || event.ctrlKey) return;
    const before = JSON.stringify(app.store.state.scroll);
    scroll(Math.sign(event.deltaY) * 3, under(event).near ?? "both");
    if (JSON.stringify(app.store.state.scroll) !== before) event.preventDefault();
  }
  function onkeydown(event) {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const { focus } = app.store.state.kept;
    if (step) app.keep({ focus: clamp((focus ?? now.range.q0 - step) + step, now.range.q0, now.range.q1 - 1) }, true);
    else if (event.key === "PageUp" || event.key === "PageDown") scroll(event.key === "PageUp" ? -now.count : now.count, "both");
    else if (event.key === "Escape") { follow = null; app.escape(); }
    else if (event.key === "Enter") app.flush();
    else return;
    event.preventDefault();
  }
  function print() {
    if (!now?.layers.length) return null;
    const theme = printTheme();
    const ink = canvasPen(canvas.getContext("2d"), theme.family, 1);
    const spec = { ...specOf(620, (now.count + 0.5) * 22 + 26, theme, ink, 22) };
    const colours = new Map(lineHeads(app, theme).map(({ layer, head, colour }) => [`${layer} ${head}`, colour]));
    spec.layers = spec.layers.map((one) => ({ ...one, colour: colours.get(`${one.layer} ${one.head}`) }));
    const rows = Math.max(spec.left.end - spec.left.start, spec.right.end - spec.right.start);
    const bottom = spec.top + rows * 22 + 14;
    const draw = (pen) => {
      drawLines(pen, spec);
      spec.layers.forEach(({ layer, head, colour }, i) => {
        const [x, y] = [12 + (i % 4) * 152, bottom + Math.floor(i / 4) * 18];
        pen.rect(x, y - 5, 10, 10, { fill: colour });
        pen.text(app.name(layer, head), x + 16, y, { size: 12, fill: theme.text });
      });
    };
    return { name: "lines", width: 620, height: bottom + Math.ceil(spec.layers.length / 4) * 18, draw };
  }
  return { el, draw, print };
}

/** The heads whose lines are drawn: the pinned ones in their colours, and the chosen one. */
function lineHeads(app, theme = app.theme) {
  const { layer, head } = app.shown();
  const list = app.store.state.kept.pinned.map(([l, hd], i) => ({ layer: l, head: hd, colour: theme.heads[i], pinned: true }));
  if (!list.some((one) => one.layer === layer && one.head === head)) list.push({ layer, head, colour: theme.text, pinned: false });
  return list;
}

// -- the frame around matrix and lines

function createFigure(app) {
  const say = app.say;
  const [matrix, lines] = [createMatrix(app), createLines(app)];
  const tabs = ["matrix", "lines"].map((tab) => h("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "figure-panel", "data-tab": tab,
    onclick: () => app.keep({ tab }), onkeydown: (event) => { if (["ArrowLeft", "ArrowRight"].includes(event.key)) switchTab(event); } }, say[tab]));
  const name = h("strong", { class: "name" });
  const pin = h("button", { type: "button", class: "plain", title: say.pinHint, onclick: () => app.pin() }, say.pin);
  const step = (sign, label, mark) => h("button", { type: "button", class: "plain arrow", "aria-label": label, title: `${label} ${sign < 0 ? "[" : "]"}`, onclick: () => app.stepHead(sign) }, mark);
  const scale = picker(say.scale, [["sqrt", say.scaleSqrt], ["linear", say.scaleLinear]], (value) => app.keep({ scale: value }));
  const filter = picker(say.filter, [["all", say.filterAll], ["aa", say.filterAA], ["ab", say.filterAB], ["ba", say.filterBA], ["bb", say.filterBB]], (value) => app.keep({ filter: value }));
  const zoomButton = (label, mark, act) => h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick: act }, mark);
  const zoom = h("span", { class: "zoom" }, zoomButton(say.zoomOut, "−", matrix.zoomOut), zoomButton(say.zoomFit, "⤢", matrix.fit), zoomButton(say.zoomIn, "+", matrix.zoomIn));
  const menu = createExport(app, () => (app.store.state.kept.tab === "matrix" ? matrix : lines).print());
  const panel = h("div", { class: "panel", role: "tabpanel", id: "figure-panel" });
  const el = h("section", { class: "figure" },
    h("header", {}, h("div", { role: "tablist", class: "tabs", "aria-label": say.views }, ...tabs), h("span", { class: "chosen" }, name, step(-1, say.headBefore, "◂"), step(1, say.headAfter, "▸"), pin)),
    h("div", { class: "tools" }, filter.el, scale.el, h("span", { class: "end" }, zoom, menu.el)), panel);
  let open = "";

  function switchTab(event) {
    event.preventDefault();
    app.keep({ tab: app.store.state.kept.tab === "matrix" ? "lines" : "matrix" });
    app.flushDraw();
    tabs.find((tab) => tab.getAttribute("aria-selected") === "true")?.focus();
  }
  function draw() {
    const shown = app.shown();
    const { tab, pinned, layer, head } = app.store.state.kept;
    for (const one of tabs) {
      setAttribute(one, "aria-selected", one.dataset.tab === tab);
      one.tabIndex = one.dataset.tab === tab ? 0 : -1;
    }
    setAttribute(panel, "aria-labelledby", `tab-${tab}`);
    setText(name, app.name(shown.layer, shown.head));
    const isPinned = pinned.some(([l, hd]) => l === layer && hd === head);
    setText(pin, isPinned ? say.unpin : say.pin);
    setAttribute(pin, "aria-pressed", isPinned);
    scale.select.value = shown.scale;
    filter.select.value = shown.filter;
    filter.el.hidden = !(isPair(app.data.queries) && isPair(app.keys()));
    zoom.hidden = tab !== "matrix";
    if (open !== tab) panel.replaceChildren((tab === "matrix" ? matrix : lines).el);
    open = tab;
    const height = app.wide() ? app.room(580) - 132 : Math.min(560, app.width() + 90);
    (tab === "matrix" ? matrix : lines).draw(Math.max(240, panel.clientWidth), Math.max(240, height));
    menu.draw();
  }
  return { el, draw };
}

// -- who links the focus to what

function createLinks(app) {
  const say = app.say;
  const title = h("summary", {});
  const canvas = h("canvas", { role: "img", onpointermove, onpointerleave: () => app.tip.hide(), onclick });
  const choose = h("select", { onchange: () => app.keep({ target: choose.value === "" ? null : Number(choose.value) }) });
  const special = h("input", { type: "checkbox", onchange: () => app.setLocal({ special: special.checked }) });
  const caption = h("caption", {});
  const body = h("tbody", {});
  const note = h("p", { class: "note" });
  const table = h("table", {}, caption, h("thead", {}, h("tr", {}, ...[say.layer, say.headColumn, say.token, say.weight].map((text) => h("th", { scope: "col" }, text)))), body);
  const el = h("details", { class: "links", ontoggle: () => app.redraw() }, title, h("div", { class: "links-body" },
    h("div", { class: "links-map" }, h("label", { class: "picker" }, h("span", {}, say.target), choose), canvas, note),
    h("div", { class: "links-table" }, table, h("div", { class: "strip-tools" }, h("label", { class: "picker" }, special, h("span", {}, say.withSpecial)),
      h("button", { type: "button", class: "plain", onclick: save }, say.download)))));
  let cell = 20;
  let listed = "";
  let offered = "";
  let decided = false;

  function under(event) {
    const box = canvas.getBoundingClientRect();
    const [head, layer] = [Math.floor((event.clientX - box.left - 24) / cell), Math.floor((event.clientY - box.top - 18) / cell)];
    return head >= 0 && layer >= 0 && head < app.data.heads && layer < app.data.layers ? { layer, head } : null;
  }
  function onpointermove(event) {
    const [at, weights] = [under(event), app.linkWeights()];
    if (!at || !weights) return app.tip.hide();
    app.tip.show([app.name(at.layer, at.head), fill(say.link, { ...app.linkNames(), weight: weights[at.layer * app.data.heads + at.head].toFixed(4) })], event.clientX, event.clientY);
  }
  function onclick(event) {
    const at = under(event);
    if (at) app.keep(at);
  }
  function drawMap(weights) {
    const { layers, heads, indexBase: base } = app.data;
    const { theme } = app;
    cell = clamp(Math.floor(Math.min(((el.classList.contains("beside") ? 0.4 : app.wide() ? 0.46 : 0.96) * app.width() - 24) / heads, 420 / layers)), 9, 30);
    const pen = sheet(canvas, 26 + heads * cell, 20 + layers * cell, theme.family);
    const top = Math.max(...weights);
    const label = { size: 11, fill: theme.muted };
    for (let c = 0; c < heads; c += labelStep(cell, 16)) pen.text(String(c + base), 24 + (c + 0.5) * cell, 9, { ...label, align: "center" });
    for (let l = 0; l < layers; l += labelStep(cell, 12)) pen.text(String(l + base), 18, 18 + (l + 0.5) * cell, { ...label, align: "right" });
    weights.forEach((weight, id) => {
      const [x, y] = [24 + (id % heads) * cell, 18 + Math.floor(id / heads) * cell];
      pen.rect(x, y, cell - 1, cell - 1, { fill: css(colourAt(theme.ramp, level(weight, top || 1, app.shown().scale))) });
    });
    const { layer, head } = app.shown();
    pen.rect(24 + head * cell, 18 + layer * cell, cell - 1, cell - 1, { stroke: theme.accent, width: 2.5 });
    const text = fill(theme.dark ? say.linksNoteDark : say.linksNote, { focus: app.linkNames().from, target: app.linkNames().to, top: short(top) });
    setText(note, text);
    setAttribute(canvas, "aria-label", text);
  }
  function offerTargets(rows) {
    const keys = app.keys();
    const { focus, target } = app.store.state.kept;
    const strongest = app.target({ ...app.store.state.kept, target: null });
    const key = [app.stamp, focus, strongest, target !== null].join();
    if (key !== offered) {
      offered = key;
      let list = keys.map((_, i) => i);
      if (list.length > 300) list = [...new Set([...topLinks(rows, 300).map((link) => link.token), ...(target === null ? [] : [target])])].sort((a, b) => a - b);
      choose.replaceChildren(h("option", { value: "" }, fill(say.strongest, { target: cut(visible(keys[strongest].text), 20) })),
        ...list.map((i) => h("option", { value: i }, `${i + app.data.indexBase} ${cut(visible(keys[i].text), 24)}`)));
    }
    if (target !== null && !choose.querySelector(`option[value="${target}"]`)) choose.append(h("option", { value: target }, visible(keys[target].text)));
    choose.value = target === null ? "" : String(target);
  }
  function list(rows) {
    const { focus } = app.store.state.kept;
    const withSpecial = Boolean(app.store.state.special);
    const key = [app.stamp, focus, withSpecial, app.say.top].join();
    if (key === listed) return;
    listed = key;
    const [keys, base] = [app.keys(), app.data.indexBase];
    setText(caption, fill(say.top, { focus: app.linkNames().from }));
    body.replaceChildren(...topLinks(rows, 10, (i) => withSpecial || !keys[i].special).map(({ layer, head, token, weight }) =>
      h("tr", { onclick: () => app.keep({ layer, head, target: token }) }, h("td", {}, String(layer + base)),
        h("td", {}, h("button", { type: "button", class: "plain", "aria-label": app.name(layer, head), onclick: (event) => { event.stopPropagation(); app.keep({ layer, head, target: token }); } }, String(head + base))),
        h("td", { dir: "auto" }, visible(keys[token].text)), h("td", {}, short(weight)))));
  }
  function save() {
    const { focus } = app.store.state.kept;
    const rows = focus === null ? null : app.feed.peek("rows", focus);
    if (!rows) return;
    const [keys, base, special] = [app.keys(), app.data.indexBase, Boolean(app.store.state.special)];
    const lines = topLinks(rows, 1000, (i) => special || !keys[i].special).map((link) => [link.layer + base, link.head + base,
      focus + base, app.data.queries[focus].text, link.token + base, keys[link.token].text, link.weight]);
    save_as("headlight-links.csv", new Blob(["\ufeff", csv([["layer", "head", "from_index", "from", "to_index", "to", "weight"], ...lines])], { type: "text/csv" }));
  }
  function draw() {
    const { focus } = app.store.state.kept;
    el.hidden = focus === null;
    if (focus === null) return;
    setText(title, fill(say.links, { focus: quote(app.data.queries, focus, app.data.indexBase) }));
    const rows = app.feed.get("rows", focus);
    if (!decided && rows) { // open at first where there is room for it
      decided = true;
      el.open = app.wide() && pageTop(el) + 240 < globalThis.innerHeight;
    }
    const weights = rows && app.linkWeights();
    if (!el.open || !weights) return;
    offerTargets(rows);
    drawMap(weights);
    special.checked = Boolean(app.store.state.special);
    list(rows);
  }
  return { el, draw };
}

// -- export

/** Words of a caption on lines no longer than `room`. */
function wrap(text, room, font) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const next = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
    if (textWidth(next, font) > room && lines[lines.length - 1]) lines.push(word);
    else lines[lines.length - 1] = next;
  }
  return lines.map((line) => elide(line, room, font));
}

/** What every exported figure says under it. @param {Payload} data @param {Selection} selection */
export function caption(data, selection, say = WORDS) {
  const { model, indexBase } = data;
  const text = data.pair ? `${data.text} | ${data.pair}` : data.text;
  return [
    [headName(say, indexBase, selection.layer, selection.head), selection.scale === "sqrt" ? say.sqrtScale : say.linearScale,
      selection.filter === "all" ? "" : say[`filter${selection.filter.toUpperCase()}`], fill(say.captionBase, { base: indexBase })].filter(Boolean).join(" · "),
    `${model.name}${model.revision ? ` @ ${cut(model.revision, 12)}` : ""} · “${cut(text.replace(/\s+/g, " "), 240)}”`,
  ];
}

/** A figure with its caption under it, on any pen. */
function paperOf(app, figure) {
  const theme = printTheme();
  const font = `400 11px ${theme.family}`;
  const lines = caption(app.data, app.store.state.kept, app.say).flatMap((line) => wrap(line, figure.width - 16, font));
  const height = Math.ceil(figure.height + 14 + lines.length * 15);
  const draw = (pen) => {
    figure.draw(pen);
    lines.forEach((line, i) => pen.text(line, 8, figure.height + 12 + i * 15, { size: 11, fill: theme.muted }));
  };
  return { width: Math.ceil(figure.width), height, draw, family: theme.family };
}

/** @param {any} app @param {any} figure @param {"PNG"|"SVG"} format */
function saveFigure(app, figure, format) {
  if (!figure) return;
  const paper = paperOf(app, figure);
  const name = `headlight-${figure.name}-${app.store.state.kept.layer}-${app.store.state.kept.head}.${format.toLowerCase()}`;
  if (format === "SVG") {
    const pen = svgPen(paper.width, paper.height, paper.family);
    paper.draw(pen);
    return save_as(name, new Blob([pen.finish()], { type: "image/svg+xml" }));
  }
  const canvas = h("canvas", { width: paper.width * 4, height: paper.height * 4 });
  const ctx = canvas.getContext("2d");
  ctx.scale(4, 4);
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, paper.width, paper.height);
  paper.draw(canvasPen(ctx, paper.family, 4));
  canvas.toBlob((blob) => blob && save_as(name, blob), "image/png");
}

/** Addresses of the numbers on the server. @param {Payload} data @param {Selection} selection @param {string} format */
export function exportAddress(data, selection, format) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(selection)) {
    if (value !== null && name !== "pinned") query.set(name, String(value));
  }
  if (selection.pinned.length) query.set("pinned", selection.pinned.map((pin) => pin.join(".")).join("-"));
  return `${data.base}/export.${format}?${data.view ? `${data.view}&` : ""}${query}`;
}

function createExport(app, current) {
  const say = app.say;
  const button = (text, act) => h("button", { type: "button", class: "item", onclick: () => { close(); act(); } }, text);
  const figureButtons = ["PNG", "SVG"].map((format) => button("", () => saveFigure(app, current(), format)));
  const grid = ["PNG", "SVG"].map((format) => button(fill(say.exportFigure, { figure: say.gridName, format }), () => saveFigure(app, app.parts.grid.print(), format)));
  const links = ["csv", "json", "html"].map((format) => h("a", { class: "item", download: true, href: "#", "data-format": format, onclick: (event) => numbers(event, format) },
    format === "html" ? say.page_html : fill(say.numbers, { format: format.toUpperCase() })));
  const el = h("details", { class: "menu", onkeydown: (event) => { if (event.key === "Escape") { close(); event.stopPropagation(); el.firstElementChild.focus(); } },
    onfocusout: (event) => { if (!el.contains(event.relatedTarget)) setTimeout(() => { if (!el.contains(el.getRootNode().activeElement)) close(); }); } },
    h("summary", {}, say.export), h("div", { class: "items" }, ...figureButtons, ...grid, ...links));
  function close() { el.open = false; }
  /** In a file without a server the numbers come from the embedded source. */
  async function numbers(event, format) {
    close();
    if (app.data.base) return;
    event.preventDefault();
    const { layer, head } = app.store.state.kept;
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    const tile = await app.source.tile({ layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: Math.max(rows, cols) });
    const weights = Array.from({ length: tile.rows }, (_, r) => Array.from(tile.data.subarray(r * tile.cols, (r + 1) * tile.cols)));
    const from = (r) => (isExact(tile) ? app.data.queries[r].text : String(r));
    const to = (c) => (isExact(tile) ? app.keys()[c].text : String(c));
    const body = format === "csv" ? `\ufeff${csv([["", ...weights[0].map((_, c) => to(c))], ...weights.map((row, r) => [from(r), ...row])])}`
      : JSON.stringify({ model: app.data.model, text: app.data.text, pair: app.data.pair, layer, head, queries: app.data.queries.map((c) => c.text), keys: app.keys().map((c) => c.text), weights });
    save_as(`headlight-${layer}-${head}.${format}`, new Blob([body], { type: format === "csv" ? "text/csv" : "application/json" }));
  }
  function draw() {
    const { tab } = app.store.state.kept;
    figureButtons.forEach((b, i) => setText(b, fill(say.exportFigure, { figure: say[tab], format: ["PNG", "SVG"][i] })));
    for (const link of links) {
      link.hidden = !app.data.base && link.dataset.format === "html";
      if (app.data.base) setAttribute(link, "href", exportAddress(app.data, app.store.state.kept, link.dataset.format));
    }
  }
  return { el, draw };
}

// ------------------------------------------------------------------------------------------------ 11. the view as a whole

const DWELL = 120; // ms that a pointer rests before a preview may fetch; longer where an answer is large
const MOVING = 150; // ms after the last step of a zoom or scroll before tiles are fetched

/** The parts of the view, and what they share. @param {Element|ShadowRoot} root @param {(data: Payload, hooks: object) => Source} makeSource */
function createApp(root, makeSource) {
  for (const child of [...root.children]) if (child.classList.contains("hl")) child.remove();
  const notice = h("div", { class: "notice", role: "status", hidden: true });
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const body = h("div", { class: "body" });
  const el = h("div", { class: "hl", onkeydown }, notice, body, live);
  root.append(el);
  const store = createStore({ kept: FIRST, preview: null, facing: "out", picking: false, special: false, view: null, scroll: null, page: 0 });
  const echoes = createEchoes();
  /** @type {Report} */
  let report = {};
  let frame = 0;
  let later = 0;
  let unsent = false; // a choice to be reported once its picture is painted
  let since = 0;
  let asked = 0;
  let asking = 0;
  let gone = 0; // answers 410 in a row
  let dwelling = 0;
  let moved = -MOVING;
  let moving = 0;
  /** @type {{data: Payload, feed: any, source: Source, timer: number}|null} a new text whose numbers are on their way */
  let coming = null;

  /** @type {any} */
  const app = {
    el, store, say: WORDS, data: null, feed: null, source: null, theme: null, parts: {}, stamp: "", tip: createTip(el),
    keys: () => app.data.keys ?? app.data.queries,
    shown: () => ({ ...store.state.kept, ...store.state.preview }),
    width: () => el.clientWidth,
    wide: () => el.clientWidth >= 760,
    coarse: () => Boolean(globalThis.matchMedia?.("(pointer: coarse)").matches),
    /** Height that the window leaves for the figures, at least `least`. */
    room: (least = 440) => clamp(globalThis.innerHeight - pageTop(app.parts.main) - 8, least, 800),
    name: (layer, head) => headName(app.say, app.data.indexBase, layer, head),
    previewsHead: () => store.state.preview?.layer !== undefined && (store.state.preview.layer !== store.state.kept.layer || store.state.preview.head !== store.state.kept.head),
    redraw, flushDraw: draw,
    setLocal(patch) {
      if (patch.view || patch.scroll) moved = performance.now();
      store.set(patch);
    },
    /** Whether zooming and scrolling have stopped, so that fetching is worth while; if not, look again later. */
    still() {
      const left = MOVING - (performance.now() - moved);
      if (left <= 0) return true;
      app.waits = true;
      clearTimeout(moving);
      moving = setTimeout(redraw, left + 5);
      return false;
    },
    announce: (text) => setText(live, text),
    preview(patch) {
      const { preview } = store.state;
      if (patch === preview || JSON.stringify(patch) === JSON.stringify(preview)) return;
      since = performance.now();
      performance.mark("headlight:ask");
      store.set({ preview: patch });
    },
    /** Keep a choice; a new focus asks about its own strongest target. `wait` holds the report back while keys are pressed quickly. */
    keep(patch, wait = false) {
      const before = store.state.kept;
      const asksAnew = Number.isInteger(patch.focus) && patch.focus !== before.focus && patch.target === undefined;
      const kept = fitSelection(app.data, { ...before, ...(asksAnew ? { target: null } : {}), ...patch });
      if (canonical(kept) === canonical(store.state.kept)) return;
      performance.mark("headlight:ask");
      store.set({ kept, preview: null });
      clearTimeout(later);
      // The picture first: the page's answer costs the same server and the same thread of the browser.
      unsent = !wait;
      later = setTimeout(send, wait ? 350 : 1000);
      setAttribute(el, "aria-busy", "true");
    },
    flush() { clearTimeout(later); send(); },
    escape() {
      app.tip.hide();
      store.set({ preview: null, picking: false });
    },
    stepHead(sign) {
      const { layer, head } = store.state.kept;
      const count = app.data.layers * app.data.heads;
      const id = (layer * app.data.heads + head + sign + count) % count;
      app.keep({ layer: Math.floor(id / app.data.heads), head: id % app.data.heads }, true);
    },
    pin() {
      const { pinned, layer, head } = store.state.kept;
      app.keep({ pinned: togglePin(pinned, layer, head) });
    },
  };
  Object.assign(app, questions(app, () => rested()));

  function send() {
    setAttribute(el, "aria-busy", "false");
    if (!app.data || canonical(store.state.kept) === canonical(app.sent ?? app.data.selection)) return;
    app.sent = store.state.kept;
    echoes.sent(store.state.kept);
    report.selection?.({ ...store.state.kept });
  }
  /** Whether the pointer has rested long enough to fetch for a preview; if not, look again later. */
  function rested() {
    if (!store.state.preview) return true;
    const large = app.data.layers * app.data.heads * app.keys().length > 250000;
    const left = (large ? 3 * DWELL : DWELL) - (performance.now() - since);
    if (left > 0) { clearTimeout(dwelling); dwelling = setTimeout(redraw, left + 5); }
    return left <= 0;
  }
  function redraw() { frame ||= requestAnimationFrame(draw); }
  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    if (!app.data || !el.isConnected || el.clientWidth === 0) return;
    app.waits = false;
    el.classList.toggle("wide", app.wide());
    app.feed.begin();
    for (const part of [app.parts.grid, app.parts.placement, app.parts.figure, app.parts.links, app.parts.strip, app.parts.truth]) part.draw();
    const complete = app.feed.end() && !app.waits;
    if (complete) painted();
    else setAttribute(body, "aria-busy", "true");
  }
  function painted() {
    const { layer, head, focus, tab } = app.shown();
    setAttribute(el, "data-painted", [app.data.base, layer, head, focus ?? "", tab].join("|"));
    setAttribute(body, "aria-busy", Boolean(coming));
    performance.mark("headlight:painted");
    clearTimeout(app.idle);
    app.idle = setTimeout(warm, 400);
    if (unsent) {
      unsent = false;
      clearTimeout(later);
      later = setTimeout(send, 30);
    }
  }
  /** The next head of a short text, fetched before it is asked for. */
  function warm() {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    if (rows * cols > 16384 || store.state.preview) return;
    const { layer, head } = store.state.kept;
    const id = (layer * app.data.heads + head + 1) % (app.data.layers * app.data.heads);
    app.feed.warm("tile", { layer: Math.floor(id / app.data.heads), head: id % app.data.heads, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE });
  }
  function onkeydown(event) {
    if (!app.data || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "[" || event.key === "]") { app.stepHead(event.key === "[" ? -1 : 1); event.preventDefault(); }
    if (event.key === "Escape") app.escape();
  }
  /** A line of what is going on, with a way out where there is one. */
  function tell(text, action = null) {
    notice.hidden = !text;
    notice.replaceChildren(...(text ? [h("span", {}, text)] : []), ...(action ? [h("button", { type: "button", class: "plain", onclick: action }, app.say.retry)] : []));
  }
  function build() {
    const parts = { strip: createStrip(app), truth: createTruth(app), grid: createGrid(app), figure: createFigure(app), links: createLinks(app) };
    const main = h("div", { class: "main" }, h("div", { class: "left" }, parts.grid.el), parts.figure.el);
    body.replaceChildren(parts.strip.el, parts.truth.el, main, parts.links.el);
    app.parts = { ...parts, main, placement: { draw: placeLinks } };
  }
  /** The links stand under a low grid, beside the figure; under everything otherwise. */
  function placeLinks() {
    const { links, grid, main } = app.parts;
    const beside = app.wide() && grid.el.offsetHeight + 300 < app.room();
    const parent = beside ? main.firstChild : body;
    if (links.el.parentNode !== parent) parent.append(links.el);
    links.el.classList.toggle("beside", beside);
  }
  function feedFor(data) {
    const hooks = {
      onLost: () => tell(app.say.lost),
      onFound: () => {
        if (notice.textContent === app.say.lost || gone) tell("");
        gone = 0;
      },
      onGone,
    };
    const source = makeSource(data, hooks);
    const feed = createFeed(source, { onArrive: () => (coming?.feed === feed ? arrived() : redraw()), onError: (error) => {
      if (!gone) tell(error.message || app.say.failed, () => { tell(""); feed.retry(); });
      setAttribute(body, "aria-busy", Boolean(gone));
      if (coming?.feed === feed) arrive();
    } });
    return { source, feed };
  }
  /** The server forgot the trace: have it made again, and keep asking until it is there (the same data is not sent twice). */
  function onGone() {
    if (!gone) report.again?.(++asked);
    tell(app.say.again);
    clearTimeout(asking);
    if (gone < 8) asking = setTimeout(() => (coming ?? app).feed.retry(), 1000 * 1.6 ** gone);
    else tell(app.say.failed, () => { gone = 0; app.feed.retry(); });
    gone = Math.min(gone + 1, 8);
  }
  /** The first questions about a text, the same as its parts will ask. */
  function firstQuestions(data) {
    const { layer, head, focus } = fitSelection(data, data.selection);
    const [rows, cols] = [data.queries.length, (data.keys ?? data.queries).length];
    const list = [["grid", THUMB]];
    if (focus !== null) list.push(["rows", focus]);
    if (rows <= TILE && cols <= TILE) list.push(["tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE }]);
    return list;
  }
  function arrived() {
    if (coming && firstQuestions(coming.data).every(([kind, query]) => coming.feed.peek(kind, query))) arrive();
  }
  /** The new text takes the place of the old one. */
  function arrive() {
    if (!coming) return;
    clearTimeout(coming.timer);
    app.feed?.close();
    const { data, feed, source } = coming;
    coming = null;
    const words = { ...WORDS, ...data.words };
    const rebuild = !app.data || JSON.stringify(words) !== JSON.stringify(app.say);
    Object.assign(app, { data, feed, source, say: words, sent: null, stamp: `${data.base}?${data.view}` });
    echoes.isNews(data.selection);
    if (rebuild) build();
    tell(data.message && data.state === "ready" ? data.message : "");
    store.set({ kept: fitSelection(data, data.selection), preview: null, picking: false, view: null, scroll: null, "strip both": 0, "strip query": 0, "strip key": 0 });
    redraw();
  }
  function wait(data) {
    const text = data.message || (data.state === "failed" ? app.say.failed : app.say.working);
    tell(text);
    notice.classList.toggle("failed", data.state === "failed");
    setAttribute(body, "aria-busy", data.state === "loading");
    if (!app.data && !body.firstChild) body.replaceChildren(...["short", "", "tall"].map((size) => h("div", { class: `skeleton block ${size}` })));
    if (!app.data && data.state === "failed") body.replaceChildren();
  }
  /** @param {Payload} data @param {Report} [hooks] */
  function update(data, hooks = report) {
    report = hooks;
    app.theme = readTheme(el);
    el.classList.toggle("dark", app.theme.dark);
    if (data?.state !== "ready") return wait(data ?? { state: "loading", message: "" });
    notice.classList.remove("failed");
    const same = app.data && app.stamp === `${data.base}?${data.view}` && JSON.stringify({ ...WORDS, ...data.words }) === JSON.stringify(app.say);
    if (!same) {
      coming?.feed.close();
      coming = { data, ...feedFor(data), timer: 0 };
      if (!app.data) return arrive();
      coming.timer = setTimeout(arrive, 1500);
      setAttribute(body, "aria-busy", "true");
      for (const [kind, query] of firstQuestions(data)) coming.feed.get(kind, query);
      return arrived();
    }
    app.data = data;
    if (notice.textContent !== app.say.lost) tell(data.message ?? "");
    if (echoes.isNews(data.selection)) { app.sent = null; store.set({ kept: fitSelection(data, data.selection), preview: null }); }
    redraw();
  }
  const stop = store.subscribe(redraw);
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  globalThis.addEventListener("resize", redraw);
  function destroy() {
    send();
    stop();
    watch.disconnect();
    globalThis.removeEventListener("resize", redraw);
    for (const timer of [later, dwelling, moving, asking, app.idle, coming?.timer]) clearTimeout(timer);
    cancelAnimationFrame(frame);
    coming?.feed.close();
    app.feed?.close();
    el.remove();
  }
  return { update, destroy };
}

/** What several parts ask of the numbers, each answered for what is shown now. */
function questions(app, rested) {
  /** @type {WeakMap<Grid, Map<number, number>>} */
  const tops = new WeakMap();
  /** @type {WeakMap<Rows, Map<string, any>>} */
  const known = new WeakMap();
  const once = (rows, key, make) => {
    const of = known.get(rows) ?? new Map();
    known.set(rows, of);
    if (!of.has(key)) of.set(key, make());
    return of.get(key);
  };
  const cross = () => Boolean(app.data.keys);
  /** Rows or columns over all heads: for what is kept at once, for a preview when the pointer rests and they are small. */
  function overHeads(kind, index) {
    const found = app.feed.peek(kind, index);
    if (found) return app.feed.get(kind, index);
    const { kept, preview } = app.store.state;
    if (!preview || index === (kind === "rows" ? kept.focus : kept.target)) return app.feed.get(kind, index);
    app.waits = true;
    return rested() ? app.feed.get(kind, index) : null;
  }
  function wholeTile(layer, head) {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    return rows <= TILE && cols <= TILE ? app.feed.peek("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE }) : null;
  }
  return {
    /** The end of the chosen head's colour scale. */
    scaleTop() {
      const grid = app.feed.peek("grid", THUMB);
      if (!grid) return 1;
      const { layer, head } = app.shown();
      const of = tops.get(grid) ?? new Map();
      tops.set(grid, of);
      const id = layer * app.data.heads + head;
      const cells = grid.rows * grid.cols;
      if (!of.has(id)) of.set(id, niceTop(sqrt8(grid.data.subarray(id * cells, (id + 1) * cells).reduce((a, b) => Math.max(a, b), 0))));
      return of.get(id);
    },
    /** The key that links and dashes are about: the chosen one, else the strongest. */
    target(selection) {
      if (selection.target !== null || selection.focus === null) return selection.target;
      const rows = app.feed.peek("rows", selection.focus);
      if (!rows) return null;
      const { layer, head, order } = app.store.state.kept; // not the head that is only looked at in passing
      const still = order === "focus"; // an order by the target must not change with the head
      return once(rows, still ? "target" : `target ${layer} ${head}`, () =>
        strongestTarget(still ? overAllHeads(rows) : slice(rows, layer, head), app.keys(), selection.focus, !cross()));
    },
    /** (layer * heads + head) weights from the kept focus to its target. */
    linkWeights() {
      const { kept } = app.store.state;
      const rows = kept.focus === null ? null : app.feed.peek("rows", kept.focus);
      const target = app.target(kept);
      if (!rows || target === null) return null;
      return once(rows, `to ${target}`, () => Float32Array.from({ length: rows.layers * rows.heads }, (_, id) => rows.data[id * rows.count + target]));
    },
    linkNames() {
      const { kept } = app.store.state;
      const target = app.target(kept);
      if (kept.focus === null || target === null) return null;
      const base = app.data.indexBase;
      return { from: quote(app.data.queries, kept.focus, base), to: quote(app.keys(), target, base) };
    },
    /** The token that shades and sentence are about: (index, which row of tokens it stands in). */
    pivot() {
      const shown = app.shown();
      return app.store.state.facing === "in" && cross() ? app.target(shown) : shown.focus;
    },
    /** Weights between the pivot and every other token in the chosen head, or null. */
    weights() {
      const [pivot, { layer, head }] = [app.pivot(), app.shown()];
      if (pivot === null) return null;
      const out = app.store.state.facing === "out";
      const tile = wholeTile(layer, head);
      const all = overHeads(out ? "rows" : "columns", pivot);
      if (all) return slice(all, layer, head);
      if (!tile) return null;
      app.waits = false; // the numbers shown are complete; only the comparison over heads is not
      if (out) return tile.data.subarray(pivot * tile.cols, (pivot + 1) * tile.cols);
      return Float32Array.from({ length: tile.rows }, (_, r) => tile.data[r * tile.cols + pivot]);
    },
    /** What to shade a row of chips with. @param {"both"|"query"|"key"} role */
    shades(role) {
      const out = app.store.state.facing === "out";
      if (role === (out ? "query" : "key")) return null;
      return app.weights();
    },
    sentence() {
      const { layer, head } = app.shown();
      const { entropy, distance } = app.data.measures ?? {};
      const pivot = app.pivot();
      if (pivot === null) {
        const values = { head: app.name(layer, head), entropy: short(entropy?.[layer]?.[head] ?? 0), distance: (distance?.[layer]?.[head] ?? 0).toFixed(1) };
        return fill(entropy?.[layer] && distance?.[layer] ? app.say.noFocus : app.say.noFocusBare, values);
      }
      const out = app.store.state.facing === "out";
      return truth({ say: app.say, base: app.data.indexBase, layer, head, facing: out ? "out" : "in", pivot, same: !cross(),
        pivots: out ? app.data.queries : app.keys(), others: out ? app.keys() : app.data.queries, values: app.weights(),
        rows: app.feed.peek(out ? "rows" : "columns", pivot) });
    },
  };
}

/**
 * Draw the view in any element or shadow root, with any source: the way in for an exported file.
 * @param {Element|ShadowRoot} root @param {Payload} data @param {Source} source @param {Report} [report]
 */
export function mount(root, data, source, report = {}) {
  const app = createApp(root, () => source);
  app.update(data, report);
  return { update: app.update, destroy: app.destroy };
}

/** @type {WeakMap<object, ReturnType<typeof createApp>>} */
const mounted = new WeakMap();

/**
 * Streamlit's way in, called again with the same parent on each change of data or theme.
 * @param {{data: Payload, parentElement: Element|ShadowRoot, setTriggerValue: (name: string, value: unknown) => void}} component
 */
export default function explore({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#explore") ?? parentElement;
  root.removeAttribute?.("aria-busy");
  const app = mounted.get(root) ?? createApp(root, httpSource);
  mounted.set(root, app);
  app.update(data, { selection: (value) => setTriggerValue("selection", value), again: (count) => setTriggerValue("again", count) });
  return () => {
    app.destroy();
    mounted.delete(root);
  };
}
