// The sentence about the focus's weights, and the strongest links.

import { quote } from "./cells.js";
import { argmax, short } from "./numbers.js";
import { fill } from "../shared/words.js";

/** @import { Cell, Facing, Rows, Words } from "./types.js" */
/** @import { Doubts } from "./crowd.js" */

const SHORT = 0.01; // the smallest missing share of a row that the sentence mentions
const TOLD = 0.2; // the smallest positional prior that the sentence mentions

/**
 * @typedef {(id: number, token: number, weight: number) => number} Strength a link's weight, or its remainder beyond
 * the baselines
 */

/** @type {Strength} */
const plainly = (_id, _token, weight) => Math.abs(weight);

/**
 * Return the number of other heads in which the link to the token is weaker.
 * @param {Rows} rows @param {number} layer @param {number} head @param {number} token @param {Strength} strength
 * @param {number[]} [attending] the layers that have attention; all by default
 */
export function headsBelow(rows, layer, head, token, strength = plainly, attending = undefined) {
  const of = (/** @type {number} */ id) => strength(id, token, rows.data[id * rows.count + token]);
  const mine = of(layer * rows.heads + head);
  let below = 0;
  for (const at of attending ?? Array(rows.layers).keys()) {
    for (let id = at * rows.heads; id < (at + 1) * rows.heads; id++) if (of(id) < mine) below++;
  }
  return below;
}

/**
 * Describe the baselines of a link: the mean weight of other words on the key, and the positional prior.
 * @param {Words} say @param {string} key @param {Doubts|null} doubts @param {number} ahead position of the key relative
 * to the query
 */
function doubtsInWords(say, key, doubts, ahead) {
  let text = "";
  if (doubts && !Number.isNaN(doubts.usual)) text += fill(say.usual, { key, weight: short(doubts.usual) });
  if (doubts?.placed && doubts.placed >= TOLD && doubts.placed > (doubts.usual || 0)) {
    const place = ahead === -1 ? say.before : ahead === 1 ? say.after : ahead < 0 ? say.furtherBack : say.furtherOn;
    text += fill(say.placed, { place: ahead === 0 ? say.ownPlace : place, weight: short(doubts.placed) });
  }
  return text;
}

/**
 * Return "Head 3-1".
 * @param {Words} say @param {number} layer @param {number} head
 */
export const headName = (say, layer, head) => fill(say.head, { layer, head });

/**
 * Return the sentence templates for signed values, which are not attention weights.
 * @param {Words} say @returns {Words}
 */
const signedWords = (say) => ({
  ...say,
  most: say.signedMost,
  received: say.signedReceived,
  among: say.signedAmong,
  amongBy: say.signedAmong,
  butMost: say.signedBut,
  butReceived: say.signedBut,
  rank: say.signedRank,
  rankFirst: say.signedFirst,
});

/**
 * Return the sentence about the focus's strongest weights (or the target's) in the chosen head.
 * @param {{say: Words, layer: number, head: number, facing: Facing, pivot: number, picked?: number|null,
 * pivots: Cell[], others: Cell[], same: boolean, values: Float32Array|null, rows: Rows|null, strength?: Strength,
 * attending?: number[], rest?: "sink"|"missing"|null, signed?: boolean, doubts?: (token: number, weight: number) =>
 * Doubts|null}} facts
 * values: weights of this head; picked: the other end of the link, if it is chosen; without ``strength`` heads are
 * compared by their weight
 */
export function truth(facts) {
  const say = facts.signed ? signedWords(facts.say) : facts.say;
  const { pivot, pivots, others, values, rows, layer, head, strength } = facts;
  const name = headName(say, layer, head);
  if (!values) return fill(say.bare, { text: name });
  const focus = quote(pivots, pivot);
  const top = argmax(values);
  const word = argmax(values, (i) => !others[i].special);
  const called = (/** @type {number} */ i) => (facts.same && i === pivot ? say.itself : quote(others, i));
  const incoming = facts.facing === "in";
  const strongest = others[top].special && word >= 0 ? word : top;
  const said = facts.picked ?? strongest;
  const own = said !== strongest && said !== top; // the chosen end is not the strongest
  const template = own
    ? incoming ? say.getsFrom : say.gives
    : incoming
    ? say.received
    : !facts.signed && values[top] > 0.5 && others[top].special
    ? say.mostly
    : say.most;
  const first = own ? said : top;
  let text = fill(template, { head: name, focus, key: called(first), weight: short(values[first]) });
  if (said !== first) {
    text += fill(incoming ? say.amongBy : say.among, { key: called(said), weight: short(values[said]) });
  }
  const known = facts.doubts?.(said, values[said]) ?? null;
  text += doubtsInWords(
    say,
    incoming ? focus : quote(others, said), // other words do not attend to “itself”
    known,
    incoming ? pivot - said : said - pivot,
  );
  const rest = rows ? (facts.attending?.length ?? rows.layers) * rows.heads - 1 : 0;
  if (rows && rest > 0) {
    const below = headsBelow(rows, layer, head, said, strength, facts.attending);
    const corrected = strength && known && (known.placed !== null || !Number.isNaN(known.usual));
    const [first, some] = !corrected
      ? [say.rankFirst, say.rank]
      : known.placed === null
      ? [say.ownFirst, say.ownRank]
      : [say.placedFirst, say.placedRank];
    text += fill(below === rest ? first : some, { below, others: rest });
  }
  if (own) {
    text += fill(incoming ? say.butReceived : say.butMost, { focus, key: called(top), weight: short(values[top]) });
  }
  if (facts.rest && !incoming) {
    const share = 1 - values.reduce((sum, weight) => sum + weight, 0);
    if (share > SHORT) text += fill(facts.rest === "sink" ? say.toSink : say.missing, { share: short(share) });
  }
  return fill(say.bare, { text });
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
