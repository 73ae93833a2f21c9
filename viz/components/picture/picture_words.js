// Describes the image view in sentences: the region with the largest weight, and the weight of tokens without a patch.

import { percent, visible } from "../shared/texts.js";
import { _, sentence } from "../shared/words.js";
import { ninths, onPatches, patchOf, placeOfMost, total } from "./picture_looks.js";

/** @import { PatchGrid, Weights } from "./picture_looks.js" */

/** The ninths of an image, row by row. */
const NINTHS = [
  sentence("the upper left"),
  sentence("the upper middle"),
  sentence("the upper right"),
  sentence("the middle left"),
  sentence("the middle of the picture"),
  sentence("the middle right"),
  sentence("the lower left"),
  sentence("the lower middle"),
  sentence("the lower right"),
];

/** @param {number} share */
export const inTwoDigits = (share) => share.toFixed(2);

/**
 * Return a token's name; a patch is named by its row and column, from 1.
 * @param {PatchGrid} grid @param {{at: number, name: string}[]} others @param {number} token
 */
export function tokenName(grid, others, token) {
  const at = patchOf(grid, token);
  if (at) return _("the patch in row {row}, column {column}", { row: at.row + 1, column: at.column + 1 });
  return visible(others.find((other) => other.at === token)?.name ?? String(token));
}

/**
 * Return a sentence about the region that the token attends to, or is attended from.
 * @param {{head: string, token: string, facing: "out"|"in", by?: import("./picture_source.js").Kind, grid: PatchGrid,
 * weights: Weights}} look
 */
export function lookSaid({ head, token, facing, by, grid, weights }) {
  const patches = onPatches(grid, weights);
  const parts = ninths(grid, patches);
  if (facing === "in") {
    const means = parts.map(({ sum, patches }) => (patches ? sum / patches : 0));
    const most = placeOfMost(means);
    return _("{head}: {token} gets most attention from {region}, {mean} per patch.", {
      head,
      token,
      region: _(NINTHS[most]),
      mean: percent(means[most]),
    });
  }
  const most = placeOfMost(parts.map(({ sum }) => sum));
  const share = total(patches);
  const told = {
    head,
    token,
    share: percent(share),
    region: _(NINTHS[most]),
    most: percent(parts[most].sum),
    rest: percent(Math.max(0, total(weights) - share)),
  };
  if (by === "norms") {
    return _(
      "{head}: by weight × value norm, {token} takes {share} from patches, most from {region} ({most}), {rest} from " +
        "special tokens.",
      told,
    );
  }
  return _(
    "{head}: {token} attends {share} to patches, most to {region} ({most}), {rest} to special tokens.",
    told,
  );
}
