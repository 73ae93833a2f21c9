// Runs of the texts that a reader types: a rest of the keys before each, and the selection that follows the edits.

import { h, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { refuseLong } from "./live_model.js";
import { liveView } from "./live_payload.js";

/** @import { Payload, Selection } from "../explore/types.js" */
/** @import { Manifest, Model } from "./live_model.js" */
/** @import { Before, Ran } from "./live_payload.js" */
/**
 * The page around: `selection` returns what is selected, and `recorded` the recorded text that is shown, if any. If
 * `keepsHead`, the head stays even if the selected word is gone.
 * @typedef {{selection: () => Partial<Selection>, recorded: () => Payload|null, language: () => string,
 *   keepsHead?: boolean}} Page
 */
/** @typedef {{text: string, pair: string, ablated?: number[]}} Typed */
/**
 * A text that ran: its view, the passes without and with ablated heads, and whether it is still the latest.
 * @typedef {{view: ReturnType<typeof liveView>, plain: Ran, edited: Ran, isLatest: () => boolean}} Result
 */

const REST = 250; // ms without a key until a text runs

/** Return functions that call `act` after a rest of the keys, and that cancel the call. @param {() => void} act */
export function createTimer(act) {
  let timer = 0;
  const cancel = () => clearTimeout(timer);
  return {
    wait() {
      cancel();
      timer = setTimeout(act, REST);
    },
    cancel,
  };
}

/** Return a box for a text, which calls a function at every key. @param {() => void} oninput */
export const textBox = (oninput) => h("textarea", { rows: 2, dir: "auto", oninput });

/**
 * Return the element for errors, a function that runs a text, and one that sets the selection of an address.
 * @param {Manifest} manifest @param {Model} model @param {Page} page
 */
export function createRuns(manifest, model, page) {
  const wrong = h("p", { role: "alert" });
  /** @type {Ran|null} the last text without ablated heads */
  let last = null;
  /** @type {Before|null} what was shown before, or what an address selects */
  let before = null;
  let runs = 0;
  let shown = 0;

  /**
   * Return a text with its pass, from the last one if the text is the same.
   * @param {string} text @param {string|null} pair
   */
  async function passOf(text, pair) {
    if (last?.text === text && last.pair === pair) return last;
    const reading = model.read(text, pair);
    refuseLong(reading, manifest);
    return { text, pair, reading, pass: await model.run(reading) };
  }
  return {
    wrong,
    /** @param {Partial<Selection>|null} selection */
    select(selection) {
      before = selection && { selection };
    },
    /**
     * Run a text and draw it, unless a later one is drawn. If it cannot run, the earlier one stays.
     * @param {Typed} typed @param {(result: Result) => void|Promise<void>} draw
     */
    async run({ text, pair, ablated = [] }, draw) {
      const number = ++runs;
      try {
        if (!text) throw new Error(_("The {what} is empty. Type a word or a sentence.", { what: _("text") }));
        const plain = await passOf(text, pair || null);
        const edited = ablated.length ? { ...plain, pass: await model.run(plain.reading, ablated) } : plain;
        if (number < shown) return;
        [shown, last] = [number, plain];
        const recorded = page.recorded();
        if (recorded && !before?.selection) before = { cells: recorded.queries };
        const earlier = before && { selection: page.selection(), keepsHead: page.keepsHead, ...before };
        const view = liveView(manifest, edited, `live:${number}`, earlier, page.language());
        before = { cells: plain.reading.cells };
        setText(wrong, "");
        await draw({ view, plain, edited, isLatest: () => number === shown });
      } catch (error) {
        if (number === runs) setText(wrong, error instanceof Error ? error.message : String(error));
      }
    },
  };
}
