// The text of a lesson's step, which readers change: the view follows, and the step's check is computed for their text.

import { h, setText } from "../shared/elements.js";
import { _, together } from "../shared/words.js";
import { checkSentence } from "./live_checks.js";
import { createRuns, createTimer, textBox } from "./live_runs.js";

/** @import { Payload, Selection, Source } from "../explore/types.js" */
/** @import { Check } from "./live_checks.js" */
/** @import { Fields } from "./live_form.js" */
/** @import { Manifest, Model } from "./live_model.js" */
/** @import { Ran } from "./live_payload.js" */
/** @import { Page } from "./live_runs.js" */
/** @typedef {{text: string, pair: string, check: Check|null}} LiveStep made by headlight/site_lessons.py */
/**
 * A step with a live text: `hasAnswer` is true if the question has a right answer, and `isOver` returns true once it
 * may be shown.
 * @typedef {object} Lesson
 * @property {LiveStep} step
 * @property {boolean} hasAnswer @property {() => boolean} isOver
 * @property {(payload: Payload, source: Source, fields: Fields) => void} show
 */

/**
 * Create the form of a step, which replaces the content of `root` when it is opened.
 * @param {HTMLElement} root @param {Manifest} manifest @param {Model} model @param {Lesson} lesson @param {Page} page
 */
export function createLessonForm(root, manifest, model, { step, hasAnswer, isOver, show }, page) {
  const timer = createTimer(run);
  const runs = createRuns(manifest, model, { ...page, keepsHead: true });
  const [text, pair] = [textBox(wait), textBox(wait)];
  const said = h("p", { role: "status" });
  const restore = h("button", { type: "button", class: "choice", onclick: restoreText }, _("Restore lesson text"));
  /** @type {Ran|null} the text that is shown, if it is not the lesson's */
  let own = null;
  let first = page.selection(); // in the lesson's text

  /** Return true if a text and its pair are the lesson's. @param {string} one @param {string|null} other */
  const isLesson = (one, other) => one === step.text.trim() && (other ?? "") === step.pair.trim();
  /** Set the content of the boxes. @param {string} one @param {string} other */
  function write(one, other) {
    [text.value, pair.value] = [one, other];
    markEdited();
  }
  function markEdited() {
    restore.hidden = isLesson(text.value.trim(), pair.value.trim());
  }
  function wait() {
    markEdited();
    timer.wait();
  }
  function restoreText() {
    write(step.text, step.pair);
    text.focus();
    if (own) runs.select({ ...page.selection(), focus: first.focus, target: first.target });
    run();
  }
  function run() {
    timer.cancel();
    if (!own) first = page.selection();
    return runs.run({ text: text.value.trim(), pair: pair.value.trim() }, ({ view, plain }) => {
      own = isLesson(plain.text, plain.pair) ? null : plain;
      const [one, other] = own ? [own.text, own.pair ?? ""] : ["", ""];
      show(view.payload, view.source, { own: one, pair: other, off: "", similar: "" });
      describe();
    });
  }
  /** State what the recorded answer is about, and the answer for the reader's text. */
  function describe() {
    const about = hasAnswer ? _("The question is about the lesson's text.") : "";
    setText(said, own ? together(about, isOver() ? answer(own) : "") : "");
  }
  /** Return the check's sentence about a text, or the reason why there is none. @param {Ran} ran */
  function answer({ reading: { cells }, pass: { maps } }) {
    if (!step.check) return "";
    try {
      const numbers = checkSentence(step.check, { maps, heads: manifest.heads, cells });
      return _("In your text: {numbers}", { numbers });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return {
    describe,
    /**
     * Draw the form with the lesson's text, or run the text of an address.
     * @param {Fields} fields @param {Partial<Selection>} selection
     */
    open(fields, selection) {
      const boxes = [h("label", {}, _("Your own text"), text)];
      if (step.pair) boxes.push(h("label", {}, _("Second text (optional)"), pair));
      root.replaceChildren(h("div", { class: "own" }, ...boxes), runs.wrong, said, restore);
      if (!fields.own) return write(step.text, step.pair);
      write(fields.own, fields.pair);
      runs.select(selection);
      run();
    },
  };
}
