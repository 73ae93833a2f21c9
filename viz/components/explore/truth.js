// The sentence about the link in question, the note about its baselines, and the strongest links.

import { continues, quoteWord, wordRange } from "./cells.js";
import { argmax, short, slice } from "./numbers.js";
import { finePercent, percent, points } from "../shared/texts.js";
import { fill } from "../shared/words.js";

/** @import { Cell, Facing, Rows, Words } from "./types.js" */
/** @import { Doubts } from "./crowd.js" */

const SHORT = 0.01; // the smallest missing share of a row that the note mentions

/**
 * @typedef {(id: number, token: number, weight: number) => number} Strength a link's weight, or its remainder beyond
 * the baselines
 */
/**
 * @typedef {object} Facts
 * @property {Words} say
 * @property {string} model the model's name
 * @property {number} layer
 * @property {number} head
 * @property {Facing} facing
 * @property {number} pivot
 * @property {number|null} [picked] the other end of the link; the strongest word by default
 * @property {Cell[]} pivots
 * @property {Cell[]} others
 * @property {boolean} same whether both ends are in the same row of tokens
 * @property {Rows[]|null} rows for each token of the pivot's word: the weights of all heads
 * @property {number[]} [attending] the layers that have attention; all by default
 * @property {boolean} [complete] false if the rows contain the chosen head only
 * @property {boolean} [signed]
 * @property {"sink"|"missing"|null} [rest]
 * @property {Strength|null} [strength] corrects the weights for the rank in the note
 * @property {(token: number, weight: number) => Doubts|null} [doubts]
 */

/** @type {Strength} */
const plainly = (_id, _token, weight) => Math.abs(weight);

/**
 * Return the weight between two words, as the page Find counts it: summed over the tokens of the key, averaged over
 * those of the query.
 * @param {ArrayLike<number>[]} parts for each token of the pivot's word: (token,)
 * @param {[number, number]} range tokens of the other word @param {Facing} facing
 */
export function wordWeight(parts, [start, end], facing) {
  let sum = 0;
  for (const part of parts) for (let i = start; i < end; i++) sum += part[i];
  return sum / (facing === "out" ? parts.length : end - start);
}

/**
 * Return a head's weights between the pivot's word and the word of every token, (token,).
 * @param {ArrayLike<number>[]} parts @param {Cell[]} others @param {Facing} facing
 */
export function wordWeights(parts, others, facing) {
  const found = new Float32Array(others.length);
  for (let start = 0; start < others.length;) {
    const range = wordRange(others, start);
    found.fill(wordWeight(parts, range, facing), ...range);
    start = range[1];
  }
  return found;
}

/**
 * Return the rank of a value among all, by the number of larger values, and whether it is the only largest.
 * @param {number} mine @param {number[]} all
 */
export function rankOf(mine, all) {
  const rank = 1 + all.filter((value) => value > mine).length;
  return { rank, count: all.length, first: rank === 1 && all.filter((value) => value === mine).length === 1 };
}

/**
 * Return a value for each head of the layers with attention.
 * @template Value
 * @param {Rows} rows @param {number[]|undefined} attending @param {(layer: number, head: number) => Value} value
 */
const overHeads = (rows, attending, value) =>
  (attending ?? [...Array(rows.layers).keys()]).flatMap((layer) =>
    Array.from({ length: rows.heads }, (_, head) => value(layer, head))
  );

/**
 * Return "Head 3-1".
 * @param {Words} say @param {number} layer @param {number} head
 */
export const headName = (say, layer, head) => fill(say.head, { layer, head });

/**
 * Return the link of the sentence: its other end, and the weights of all words in the chosen head.
 * @param {Facts} facts
 */
function linkIn({ rows, layer, head, facing, pivot, picked, pivots, others, same }) {
  if (!rows) return null;
  const values = wordWeights(rows.map((one) => slice(one, layer, head)), others, facing);
  const [start, end] = wordRange(pivots, pivot);
  const own = (/** @type {number} */ i) => same && i >= start && i < end;
  const word = argmax(values, (i) => !others[i].special && !own(i));
  return { values, own, said: picked ?? (word >= 0 ? word : argmax(values)), top: argmax(values) };
}

/**
 * Return the sentence about the link in question: its weight in the chosen head, its rank among all heads, and the word
 * with the largest weight if that is another word.
 * @param {Facts} facts
 */
export function truth(facts) {
  const { say, model, layer, head, pivots, pivot, others, rows, facing, signed } = facts;
  const link = linkIn(facts);
  if (!rows || !link) return fill(say.bare, { text: headName(say, layer, head) });
  const { values, own, said, top } = link;
  const [out, number] = [facing === "out", signed ? short : percentOf(values[said], remainderIn(facts, link))];
  const [asked, answer] = [quoteWord(pivots, pivot), own(said) ? say.itself : quoteWord(others, said)];
  const ends = out
    ? { query: asked, key: answer }
    : { query: quoteWord(others, said), key: own(said) ? answer : asked };
  let text = fill(signed ? say.signedGives : say.gives, { layer, head, model, ...ends, weight: number(values[said]) });
  const range = wordRange(others, said);
  if (facts.complete !== false && values[said] !== 0) {
    const weightIn = (/** @type {number} */ l, /** @type {number} */ h) =>
      Math.abs(wordWeight(rows.map((one) => slice(one, l, h)), range, facing));
    const found = rankOf(weightIn(layer, head), overHeads(rows[0], facts.attending, weightIn));
    const [most, rank] = signed ? [say.signedMost, say.signedRank] : [say.most, say.rank];
    if (found.count > 1) text += fill(found.first ? most : rank, found);
  }
  if (top < range[0] || top >= range[1]) {
    const other = own(top) ? say.itself : quoteWord(others, top);
    const but = signed ? say.signedBut : out ? say.butMost : say.butReceived;
    const most = out || signed ? { key: other } : { query: other, key: asked };
    text += fill(but, { ...most, weight: number(values[top]) });
  }
  return fill(say.bare, { text });
}

/**
 * Return a function for the link's strength beyond its baselines in a head, or null if they are unknown. Words of
 * several tokens have none, because the baselines are those of tokens.
 * @param {Facts} facts @param {number} said
 */
function correctedIn({ rows, others, strength }, said) {
  const [start, end] = wordRange(others, said);
  if (rows?.length !== 1 || start + 1 < end || !strength) return null;
  const [{ heads, count, data }] = rows;
  return (/** @type {number} */ layer, /** @type {number} */ head) => {
    const id = layer * heads + head;
    return strength(id, said, data[id * count + said]);
  };
}

/**
 * Return the head with the strongest link between the two words, both words and the measure of strength; null if that
 * head is chosen or the other heads are unknown.
 * @param {Facts} facts
 */
export function strongestHead(facts) {
  const { rows, pivot, others, facing, layer, head, attending } = facts;
  const link = linkIn(facts);
  if (!rows || !link || facts.complete === false) return null;
  const corrected = correctedIn(facts, link.said);
  const range = wordRange(others, link.said);
  const strength = corrected ??
    ((/** @type {number} */ l, /** @type {number} */ h) =>
      Math.abs(wordWeight(rows.map((one) => slice(one, l, h)), range, facing)));
  let best = { layer, head, strength: strength(layer, head) };
  overHeads(rows[0], attending, (l, h) => ({ layer: l, head: h, strength: strength(l, h) })).forEach((one) => {
    if (one.strength > best.strength) best = one;
  });
  const by = /** @type {"excess"|"weight"} */ (corrected ? "excess" : "weight");
  if (best.layer === layer && best.head === head) return null;
  const words = facing === "out" ? { focus: pivot, target: link.said } : { focus: link.said, target: pivot };
  return { layer: best.layer, head: best.head, ...words, by };
}

/**
 * Return the note about the link's baselines: the mean weight of other words, the positional prior, and the rank
 * corrected for both.
 * @param {Facts} facts
 */
export function doubt(facts) {
  const { say, rows, facing, rest, layer, head } = facts;
  const link = linkIn(facts);
  if (!rows || !link) return "";
  const { values, said } = link;
  const out = facing === "out";
  const remainder = remainderIn(facts, link);
  const { known, corrected, own } = remainder;
  const number = percentOf(values[said], remainder);
  const clauses = known ? baselines(facts, said, known, number) : [];
  if (rows.length > 1) clauses.push(piecesOf(facts));
  if (clauses.length && corrected && own !== null) {
    const rank = rankOf(own, overHeads(rows[0], facts.attending, corrected));
    clauses.push(
      fill(own < 0 ? say.correctedBelow : say.corrected, { ...rank, points: points(number(Math.abs(own))) }),
    );
  }
  if (rest && out && rows.length === 1) {
    const share = 1 - slice(rows[0], layer, head).reduce((sum, weight) => sum + weight, 0);
    if (share > SHORT) clauses.push(fill(rest === "sink" ? say.toSink : say.missing, { share: percent(share) }));
  }
  if (!clauses.length) return "";
  const text = clauses.reduce((names, then) => fill(say.clauses, { names, then }));
  return fill(say.bare, { text: text[0].toLocaleUpperCase() + text.slice(1) });
}

/**
 * Return the clause that the sentence counts all tokens of the pivot's word, but the lines and the framed row are those
 * of one.
 * @param {Facts} facts
 */
function piecesOf({ say, pivots, pivot }) {
  const [start, end] = wordRange(pivots, pivot);
  const token = `“${continues(pivots, pivot) ? "##" : ""}${pivots[pivot].text}”`; // as the chips show it
  return fill(say.pieces, { word: quoteWord(pivots, pivot), count: end - start, token });
}

/**
 * Return the baselines of a link (null if unknown), the function for a head's strength beyond them, and this strength
 * in the chosen head.
 * @param {Facts} facts @param {NonNullable<ReturnType<typeof linkIn>>} link
 */
function remainderIn(facts, { values, said }) {
  const [start, end] = wordRange(facts.others, said);
  const several = (facts.rows?.length ?? 0) > 1 || start + 1 < end;
  const known = several ? null : facts.doubts?.(said, values[said]) ?? null;
  const corrected = facts.complete === false ? null : correctedIn(facts, said);
  return { known, corrected, own: corrected?.(facts.layer, facts.head) ?? null };
}

/**
 * Return the format of a link's weight and baselines: with a decimal if whole percents would not add up.
 * @param {number} weight @param {ReturnType<typeof remainderIn>} remainder
 */
const percentOf = (weight, { known, own }) =>
  known && own !== null && !addsUp(weight, known, own) ? finePercent : percent;

/**
 * Return true if weight − baseline = remainder also holds for the three as whole percents. A remainder of 1 is refused,
 * because “1 percentage points” would be wrong.
 * @param {number} weight @param {Doubts} known @param {number} own
 */
function addsUp(weight, known, own) {
  const parts = [weight, Math.max(known.usual || 0, known.placed ?? 0), own];
  const [whole, baseline, rest] = parts.map((share) => Math.round(100 * share));
  return whole - baseline === rest && Math.abs(rest) !== 1;
}

/**
 * Return clauses about the mean weight of other words on the key, and about the positional prior.
 * @param {Facts} facts @param {number} said @param {Doubts} known @param {(share: number) => string} number
 */
function baselines({ say, pivots, pivot, others, facing }, said, known, number) {
  const out = facing === "out";
  const clauses = [];
  const key = quoteWord(out ? others : pivots, out ? said : pivot); // other words do not attend to “itself”
  if (!Number.isNaN(known.usual)) clauses.push(fill(say.usual, { key, weight: number(known.usual) }));
  if (known.placed && known.placed > (known.usual || 0)) {
    const ahead = out ? said - pivot : pivot - said;
    const place = ahead === 0
      ? say.ownPlace
      : ahead === -1
      ? say.before
      : ahead === 1
      ? say.after
      : ahead < 0
      ? say.furtherBack
      : say.furtherOn;
    clauses.push(fill(say.placed, { place, weight: number(known.placed) }));
  }
  return clauses;
}

/**
 * Return the strongest links of a focus over all heads, strongest first.
 * @param {Rows} rows @param {number} most @param {(token: number) => boolean} allowed @param {Strength} strength
 */
export function topLinks(rows, most, allowed = () => true, strength = plainly) {
  /** @type {{layer: number, head: number, token: number, weight: number, strength: number}[]} */
  const best = [];
  for (let id = 0, at = 0; id < rows.layers * rows.heads; id++) {
    for (let token = 0; token < rows.count; token++, at++) {
      const weight = rows.data[at];
      // A link's strength is at most its weight, so most links are skipped before the strength is computed.
      const size = Math.abs(weight);
      if (!(size > 0) || (best.length === most && size <= best[most - 1].strength) || !allowed(token)) continue;
      const strong = strength(id, token, weight);
      if (best.length === most && strong <= best[most - 1].strength) continue;
      let place = best.length;
      while (place > 0 && best[place - 1].strength < strong) place--;
      best.splice(place, 0, {
        layer: Math.floor(id / rows.heads),
        head: id % rows.heads,
        token,
        weight,
        strength: strong,
      });
      if (best.length > most) best.pop();
    }
  }
  return best;
}

/**
 * Return the key with the largest weight: words before special tokens, the focus itself last.
 * @param {ArrayLike<number>} weights (key,) @param {Cell[]} keys @param {number} focus @param {boolean} same
 */
export function strongestTarget(weights, keys, focus, same) {
  const word = argmax(weights, (i) => !keys[i].special && !(same && i === focus));
  return word >= 0 ? word : argmax(weights);
}
