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
  const runs = createRuns(manifest, model, page);
  const [text, pair] = [textBox(timer.wait), textBox(timer.wait)];
  const restore = h("button", {
    type: "button",
    class: "choice",
    onclick() {
      [text.value, pair.value] = [step.text, step.pair];
      text.focus();
      run();
    },
  }, _("Restore lesson text"));
  const said = h("p", { role: "status" });
  /** @type {Ran|null} the text that is shown, if it is not the lesson's */
  let own = null;

  function run() {
    timer.cancel();
    return runs.run({ text: text.value.trim(), pair: pair.value.trim() }, ({ view, plain }) => {
      own = plain.text === step.text.trim() && (plain.pair ?? "") === step.pair.trim() ? null : plain;
      show(view.payload, view.source, own ? typed() : { ...typed(), own: "", pair: "" });
      tell();
    });
  }
  /** Say what the recorded answer is about, and compute the check for the reader's text. */
  function tell() {
    restore.hidden = own === null;
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
  /** Return the content of the form. @returns {Fields} */
  function typed() {
    return { own: text.value.trim(), pair: pair.value.trim(), off: "", similar: "" };
  }
  /** Draw the form with a text, or with that of the lesson. @param {Fields} fields */
  function fill({ own: given, pair: second }) {
    [text.value, pair.value] = given ? [given, second] : [step.text, step.pair];
    const boxes = [h("label", {}, _("Your own text"), text)];
    if (step.pair) boxes.push(h("label", {}, _("Second text (optional)"), pair));
    root.replaceChildren(h("div", { class: "own" }, ...boxes), runs.wrong, said, restore);
    tell();
  }
  return {
    typed,
    fill,
    tell,
    /**
     * Draw the form, and run the text of an address.
     * @param {Fields} fields @param {Partial<Selection>|null} selection
     */
    open(fields, selection) {
      fill(fields);
      runs.select(fields.own ? selection : null);
      if (fields.own) run();
    },
  };
}
