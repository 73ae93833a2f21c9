// The section of masked words: a text with masks, and the likeliest words at each of them.

import { h, setText } from "../shared/elements.js";
import { saveMenu } from "../shared/save_menu.js";
import { saveTable, tableOf } from "../shared/tables.js";
import { _ } from "../shared/words.js";
import { wordsOf } from "./live_cells.js";
import { refuseLong } from "./live_model.js";
import { createOffer, megabytes } from "./live_offer.js";
import { MASK, masksOf, openPredictor } from "./live_predictions.js";
import { createTimer, textBox } from "./live_runs.js";

/** @import { Offer } from "./live_offer.js" */
/** @import { MaskManifest, Prediction, Predictor } from "./live_predictions.js" */

const EXAMPLE = `The cat sat on the ${MASK}.`;
const MOST_MASKS = 20; // masks of a text, as in inference/runners/blanks.py

/** Return a probability as it is shown. @param {number} probability */
const probabilityText = (probability) => `${(100 * probability).toFixed(1)}%`;

/**
 * Create the form, which replaces the content of `root`.
 * @param {HTMLElement} root @param {MaskManifest} manifest @param {Predictor} model @param {(text: string) => void}
 * keep stores a text that ran
 */
function createMaskForm(root, manifest, model, keep) {
  const timer = createTimer(run);
  let runs = 0;
  const text = textBox(timer.wait);
  const words = h("div", { class: "own-heads", role: "group", "aria-label": _("Mask word") });
  const wrong = h("p", { role: "alert" });
  const said = h("p", { class: "unseen", role: "status" });
  const found = h("div", { class: "masks" });

  function drawWords() {
    words.replaceChildren(
      ...wordsOf(text.value).filter((word) => /[\p{L}\p{N}]/u.test(word.text)).map(({ text: word, start, end }) =>
        h("button", {
          type: "button",
          class: "choice",
          disabled: word === MASK,
          title: _("Mask word"),
          onclick: () => {
            text.value = `${text.value.slice(0, start)}${MASK}${text.value.slice(end)}`;
            run();
            text.focus();
          },
        }, word)
      ),
    );
  }
  /** @param {string} given */
  function readMasks(given) {
    if (!given) throw new Error(_("The {what} is empty. Type a word or a sentence.", { what: _("text") }));
    const reading = model.read(given);
    refuseLong(reading, manifest);
    const { length: pieces } = masksOf(reading);
    if (!pieces) {
      throw new Error(_("No word is hidden. Write {mask} in place of a word.", { mask: MASK }));
    }
    if (pieces > MOST_MASKS) {
      throw new Error(
        _("{pieces} tokens are hidden; the limit is {most}. Uncover some.", {
          pieces,
          most: MOST_MASKS,
        }),
      );
    }
    return reading;
  }
  async function run() {
    timer.cancel();
    const number = ++runs;
    const given = text.value.trim();
    try {
      drawWords();
      const predictions = await model.predict(readMasks(given));
      if (number !== runs) return;
      setText(wrong, "");
      setText(said, predictions.map(([{ word, probability }]) => `${word} ${probabilityText(probability)}`).join(", "));
      drawTables(given, predictions);
      keep(given);
    } catch (error) {
      if (number !== runs) return;
      found.replaceChildren();
      setText(wrong, error instanceof Error ? error.message : String(error));
    }
  }
  /** @param {string} given @param {Prediction[][]} predictions */
  function drawTables(given, predictions) {
    const save = () => {
      const rows = predictions.flatMap((list, mask) =>
        list.map(({ word, probability }) => [mask + 1, word, probability])
      );
      const names = [MASK, _("Word"), _("Probability")];
      saveTable(_("Masked words"), tableOf(names, rows), { model: manifest.name, text: given });
    };
    found.replaceChildren(...predictions.map(maskTable), saveMenu([[`${_("Save as CSV")} (zip)`, save]]));
  }
  root.replaceChildren(
    h("div", { class: "own" }, h("label", {}, _("Text"), text)),
    words,
    wrong,
    h("div", { class: "hl" }, said, found),
  );
  return {
    text: () => text.value,
    /** Run a text. @param {string} given */
    open(given) {
      text.value = given;
      run();
    },
  };
}

/** Return the table of a mask. @param {Prediction[]} list @param {number} at */
const maskTable = (list, at) =>
  h(
    "table",
    {},
    h("caption", {}, `${MASK} ${at + 1}`),
    h(
      "thead",
      {},
      h("tr", {}, h("th", { scope: "col" }, _("Word")), h("th", { scope: "col" }, _("Probability"))),
    ),
    h(
      "tbody",
      {},
      ...list.map(({ word, probability }) =>
        h("tr", {}, h("th", { scope: "row", dir: "auto" }, word), h("td", {}, probabilityText(probability)))
      ),
    ),
  );

/**
 * Draw the section of masked words.
 * @param {HTMLElement} root @param {Offer} offer @param {(text: string) => void} keep stores a text in the address
 * @param {Promise<ServiceWorkerRegistration>} [registered] the service worker
 */
export function createMasks(root, offer, keep, registered) {
  let asked = "";
  /** @type {(() => ReturnType<typeof createMaskForm>)|null} */
  let makeForm = null;
  /** @type {ReturnType<typeof createMaskForm>|null} */
  let form = null;
  const size = { model: offer.name, megabytes: megabytes(offer.bytes) };
  const offered = createOffer(
    root,
    offer,
    () => ({
      section: _("Masked words"),
      start: _("Masked words ({megabytes} MB)", size),
      hint: _("Type a text with {mask}; {model} predicts it.", { mask: MASK, ...size }),
      terms: `${size.model}: ${size.megabytes} MB.`,
    }),
    async (/** @type {MaskManifest} */ about, progress) => {
      const model = await openPredictor(about, progress);
      return () => {
        makeForm = () => createMaskForm(root, about, model, keep);
        form = makeForm();
        form.open(asked || EXAMPLE);
      };
    },
    registered,
  );
  return {
    /** Show the text of an address, if the model is on this device. @param {string} text */
    open(text) {
      asked = text;
      if (text && form?.text().trim() !== text) form?.open(text);
      if (text && !form) offered.stored().then((here) => here ? offered.start() : undefined);
    },
    /** Draw in the language of the page. */
    redraw() {
      if (!form || !makeForm) return offered.invite();
      const typed = form.text();
      form = makeForm();
      form.open(typed);
    },
  };
}
