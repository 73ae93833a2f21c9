/**
 * Adapter between a Headlight document and BertViz's scripts: it replaces require.js, decodes the numbers, and passes
 * them in the format of the three BertViz views (window.bertviz_params).
 *
 * @typedef {{shape: number[], unit: number, data: string}} Block  value = int16 * unit; data is base64, little-endian
 * @typedef {{name: string, left: string[], right: string[], split: [number, number] | null, weights: Block[],
 *            queries?: Block[], keys?: Block[], scale?: number[]}} Part  a Block for each layer: (head, query, key|channel)
 * @typedef {{mode: "light" | "dark", layers: number[], layer: number | null, heads: number[] | null,
 *            head: number | null, causal: boolean, said: Record<string, string>, parts: Part[]}} Payload
 *            mirrors viz/bertviz/views.py; `said` contains the texts that BertViz prints, translated;
 *            numbers count from 0
 */
"use strict";

window.require = { config() {} };
window.requirejs = (names, use) => use(window.jQuery, window.d3);

/** Return a block's numbers as nested arrays. @param {Block} block */
function unpack(block) {
  const bytes = Uint8Array.from(atob(block.data), (letter) => letter.charCodeAt(0));
  const values = new Int16Array(bytes.buffer);
  const nest = (start, [length, ...inner]) => {
    if (!inner.length) return Array.from(values.subarray(start, start + length), (value) => value * block.unit);
    const step = inner.reduce((product, size) => product * size, 1);
    return Array.from({ length }, (_, i) => nest(start + i * step, inner));
  };
  return nest(0, block.shape);
}

/**
 * Return the tensors of a stack, each (layer, head, ...); key vectors that several heads share are repeated.
 * @param {Part} part
 */
function tensors(part) {
  const weights = part.weights.map(unpack);
  if (!part.queries) return { weights };
  const queries = part.queries.map(unpack);
  const keys = part.keys.map(unpack).map((layer, l) => {
    const group = queries[l].length / layer.length;
    return queries[l].map((_, head) => layer[Math.floor(head / group)]);
  });
  return { weights, queries, keys };
}

/** Return a BertViz picture: the queries of `rows` attending to the keys of `cols`, each [start, stop]. */
function picture(part, { weights, queries, keys }, name, rows, cols) {
  const cut = (tensor, span) => tensor?.map((layer) => layer.map((head) => head.slice(...span)));
  return {
    name,
    attn: cut(weights, rows).map((layer) => layer.map((head) => head.map((row) => row.slice(...cols)))),
    queries: cut(queries, rows),
    keys: cut(keys, cols),
    left_text: part.left.slice(...rows),
    right_text: part.right.slice(...cols),
    scale: part.scale,
  };
}

/**
 * Return the whole stack; for a pair of texts also each text attending to each, in the order of the filter's options.
 */
function pictures(part) {
  const all = tensors(part);
  const whole = picture(part, all, part.name, [0, part.left.length], [0, part.right.length]);
  if (!part.split) return [whole];
  const [row, col] = part.split;
  const [aq, bq] = [[0, row], [row, part.left.length]];
  const [ak, bk] = [[0, col], [col, part.right.length]];
  const pairs = [[aq, ak], [bq, bk], [aq, bk], [bq, ak]];
  return [whole, ...pairs.map(([rows, cols]) => picture(part, all, part.name, rows, cols))];
}

{
  /** @type {Payload} */
  const payload = JSON.parse(document.getElementById("payload").textContent);
  const attention = payload.parts.flatMap(pictures);
  const count = attention[0].attn[0].length;
  window.bertviz_params = {
    attention,
    default_filter: "0",
    root_div_id: "bertviz",
    display_mode: payload.mode,
    bidirectional: !payload.causal,
    include_layers: payload.layers,
    include_heads: Array.from({ length: count }, (_, head) => head),
    index_base: 0,
    said: payload.said,
    total_heads: count,
    layer: payload.layer,
    heads: payload.heads,
    head: payload.head,
  };
}

{
  const page = document.scrollingElement;
  /** Fade the right edge of the document while a part of the drawing is hidden behind it. */
  const fade = () =>
    document.body.classList.toggle("more", page.scrollLeft + page.clientWidth < page.scrollWidth - 1);
  document.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(page);
  new MutationObserver(fade).observe(document.getElementById("vis"), { childList: true });
}
