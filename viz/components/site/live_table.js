// The table of a pair's similarity, drawn by the matrices component below the form of live texts.

import { createMatrices } from "../matrices/sheets.js";
import { h, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { similarityOf, tableOfWords } from "./live_similarity.js";

/** @import { Numbers } from "./live_model.js" */
/** @import { Pooling } from "./live_similarity.js" */
/** @import { Reading } from "./live_cells.js" */
/** @typedef {{text: string, reading: Reading, states: Numbers}} Encoded a text that was run alone */

/** Create the table, which is hidden until two texts are shown. @param {string} model name */
export function createSimilarity(model) {
  const said = h("p", { role: "status" });
  const place = h("div");
  const note = h("p", { class: "quiet" });
  const el = h("div", { hidden: true }, said, place, note);
  /** @type {ReturnType<typeof createMatrices>|null} */
  let drawn = null;
  return {
    el,
    hide: () => {
      el.hidden = true;
    },
    /** @param {Encoded} a @param {Encoded} b @param {Pooling} pooling */
    show(a, b, pooling) {
      el.hidden = false;
      const { cosine, table } = similarityOf(a.states, b.states, pooling);
      const { rows, columns, data } = tableOfWords(table, a.reading.cells, b.reading.cells);
      setText(said, `${_("Cosine similarity")}: ${cosine.toFixed(4)}`);
      setText(note, _("A cell: the part of the cosine from one word of each text; all cells sum to it."));
      drawn ??= createMatrices(place);
      const sheet = { name: _("Similarity"), rows, columns, note: "", limit: null, markedRows: [], markedColumns: [] };
      drawn.show(
        {
          sheets: [{ ...sheet, palette: "diverging" }],
          picks: false,
          numbers: null,
          about: [[_("Model"), model], [_("Text"), a.text], [_("Second text"), b.text]],
        },
        { 0: { dtype: "float32", shape: [rows.length, columns.length], data } },
        () => {},
      );
    },
  };
}
