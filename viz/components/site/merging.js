// Whole words instead of tokens, as in attention/view.py: the weights of a merged map, and the tokens of a selection.

/** @import { Cell, Selection } from "../explore/types.js" */

/**
 * Return a map of words from a map of tokens, both row by row: the mean over the tokens of each query, of the sum over
 * the tokens of each key. Sums are rounded to float32 in the order of attention/view.py.
 * @param {Float32Array} weights @param {number} columns tokens of a row @param {Cell[]} queries @param {Cell[]} keys
 */
export function mergeMap(weights, columns, queries, keys) {
  const merged = new Float32Array(queries.length * keys.length);
  queries.forEach(({ at: [top, bottom] }, query) =>
    keys.forEach(({ at: [left, right] }, key) => {
      let total = 0;
      for (let row = top; row < bottom; row++) {
        let sum = 0;
        for (let column = left; column < right; column++) sum = Math.fround(sum + weights[row * columns + column]);
        total = row === top ? sum : Math.fround(total + sum);
      }
      merged[query * keys.length + key] = total / (bottom - top);
    })
  );
  return merged;
}

/**
 * Return the index of the cell that contains a token, or null.
 * @param {Cell[]} cells @param {number|null|undefined} token
 */
export function cellOf(cells, token) {
  const found = token == null ? -1 : cells.findIndex(({ at: [start, end] }) => start <= token && token < end);
  return found < 0 ? null : found;
}

/**
 * Return a selection whose focus and target are cells of another row of cells, by the first token of each.
 * @template {Partial<Selection>} Chosen
 * @param {Chosen} selection
 * @param {{queries: Cell[], keys: Cell[]|null}} from @param {{queries: Cell[], keys: Cell[]|null}} to
 * @returns {Chosen}
 */
export function moveSelection(selection, from, to) {
  /** @param {Cell[]} cells @param {Cell[]} others @param {number|null|undefined} at */
  const moved = (cells, others, at) => cellOf(others, at == null ? at : cells[at]?.at[0]);
  const keys = /** @param {typeof from} one */ (one) => one.keys ?? one.queries;
  return {
    ...selection,
    focus: moved(from.queries, to.queries, selection.focus),
    target: moved(keys(from), keys(to), selection.target),
  };
}
