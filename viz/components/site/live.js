// Live texts of a static site: the reader's own sentences, run by the model in the browser while the reader types.
//
// The section is above the view. In a lesson, it is below the steps whose views show this model, and hidden in others.

import { _ } from "../shared/words.js";
import { createForm } from "./live_form.js";
import { createLessonForm } from "./live_lesson.js";
import { openModel } from "./live_model.js";
import { createOffer, megabytes } from "./live_offer.js";
import { measureDifference } from "./live_payload.js";

/** @import { Selection } from "../explore/types.js" */
/** @import { Where } from "./address.js" */
/** @import { Fields, Host } from "./live_form.js" */
/** @import { Lesson } from "./live_lesson.js" */
/** @import { Manifest, Model } from "./live_model.js" */
/** @import { Offer } from "./live_offer.js" */
/** @typedef {{lesson: Lesson, typed: Fields, chosen: Partial<Selection>}} Step with the text and the selection of an
 * address */

/** Return the fields of an address. @param {Where} where @returns {Fields} */
const fieldsOf = ({ own = "", pair = "", off = "", similar = "" }) => ({ own, pair, off, similar });

/**
 * Draw the section of live texts.
 * @param {HTMLElement} root @param {Offer} offer @param {Host} host @param {Promise<ServiceWorkerRegistration>}
 * [registered] the service worker
 */
export function createLive(root, offer, host, registered) {
  const before = root.previousElementSibling;
  /** @type {Fields} of the general form, also while a lesson is shown */
  let fields = fieldsOf({});
  /** @type {Partial<Selection>|null} of an address */
  let selection = null;
  /** @type {Step|null} above the section */
  let step = null;
  /** @type {{about: Manifest, model: Model, difference: number}|null} */
  let opened = null;
  /** @type {ReturnType<typeof createForm>|null} */
  let form = null;
  /** @type {ReturnType<typeof createLessonForm>|null} */
  let lessonForm = null;
  /** @type {Promise<void>|null} */
  let started = null;

  const offered = createOffer(
    root,
    offer,
    () => ({
      section: _("Your own text"),
      start: _("Run live ({megabytes} MB)", { megabytes: megabytes(offer.bytes) }),
      hint: _("Type your own text; {model} runs in this browser.", { model: offer.name }),
      terms: _("{model}: {megabytes} MB, and up to 0.1 MB per new word.", {
        model: offer.name,
        megabytes: megabytes(offer.bytes),
      }),
    }),
    async (/** @type {Manifest} */ about, progress) => {
      const model = await openModel(about, progress);
      const difference = await measureDifference(about, model);
      return () => {
        opened = { about, model, difference };
        if (step) drawStep(step);
        else drawForm(!root.hidden);
      };
    },
    registered,
  );
  /** Start without a question if the model is on this device. */
  function startStored() {
    started ??= offered.stored().then((here) => here ? offered.start() : undefined);
  }
  /** Draw the general form, and run its text if `runs`. @param {boolean} runs */
  function drawForm(runs) {
    if (!opened) return;
    form ??= createForm(root, opened.about, opened.model, opened.difference, host);
    if (runs) form.open(fields, selection);
    else form.fill(fields, null);
  }
  /** @param {Step} above */
  function drawStep({ lesson, typed, chosen }) {
    if (!opened) return;
    if (form) fields = form.typed();
    lessonForm = createLessonForm(root, opened.about, opened.model, lesson, host);
    lessonForm.open(typed, chosen);
  }
  /** Leave the step, if any: put the section back, or hide it. @param {boolean} hidden */
  function leave(hidden) {
    root.hidden = hidden;
    if (!step) return;
    step = lessonForm = null;
    before?.after(root);
    drawForm(false);
  }
  return {
    leave,
    /**
     * Show the text of an address; return false if the model is not there yet.
     * @param {Where} where @param {Partial<Selection>} chosen
     */
    open(where, chosen) {
      leave(false);
      [fields, selection] = [fieldsOf(where), chosen];
      if (!opened) startStored();
      drawForm(true);
      return opened !== null;
    },
    /**
     * Put the section below a step, with the text of an address.
     * @param {HTMLElement} place @param {Lesson} lesson @param {Where} where @param {Partial<Selection>} chosen
     */
    enter(place, lesson, where, chosen) {
      step = { lesson, typed: fieldsOf(where), chosen };
      root.hidden = false;
      place.append(root);
      if (step.typed.own && !opened) startStored();
      drawStep(step);
    },
    /** Draw in the language of the page. A step is entered again. */
    redraw() {
      if (!opened) return offered.invite();
      if (form && !step) fields = form.typed();
      form = null;
      if (!step) drawForm(false);
    },
    /** Follow the selected head. */
    selected: () => form?.selected(),
    /** Follow the answer to the step's question. */
    answered: () => lessonForm?.describe(),
  };
}
