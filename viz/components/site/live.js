// Live texts of a static site: the reader's own sentences, run by the model in the browser while the reader types.

import { _ } from "../shared/words.js";
import { createForm } from "./live_form.js";
import { openModel } from "./live_model.js";
import { createOffer, megabytes } from "./live_offer.js";
import { measureDifference } from "./live_payload.js";

/** @import { Selection } from "../explore/types.js" */
/** @import { Fields, Host } from "./live_form.js" */
/** @import { Manifest } from "./live_model.js" */
/** @import { Offer } from "./live_offer.js" */

/**
 * Draw the section of live texts.
 * @param {HTMLElement} root @param {Offer} offer @param {Host} host @param {Promise<ServiceWorkerRegistration>}
 * [registered] the service worker
 */
export function createLive(root, offer, host, registered) {
  /** @type {Fields} */
  let fields = { own: "", pair: "", off: "", similar: "" };
  /** @type {Partial<Selection>|null} of an address */
  let selection = null;
  /** @type {(() => ReturnType<typeof createForm>)|null} */
  let makeForm = null;
  /** @type {ReturnType<typeof createForm>|null} */
  let form = null;

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
        makeForm = () => createForm(root, about, model, difference, host);
        form = makeForm();
        form.open(fields, selection);
      };
    },
    registered,
  );
  return {
    /**
     * Show the text of an address; return false if the model is not there yet.
     * @param {import("./address.js").Where} given @param {Partial<Selection>} chosen
     */
    open({ own = "", pair = "", off = "", similar = "" }, chosen) {
      [fields, selection] = [{ own, pair, off, similar }, chosen];
      if (!form) offered.stored().then((here) => here ? offered.start() : undefined);
      form?.open(fields, selection);
      return form !== null;
    },
    /** Draw in the language of the page. */
    redraw() {
      if (!form || !makeForm) return offered.invite();
      const typed = form.typed();
      form = makeForm();
      form.fill(typed, null);
    },
    /** Follow the selected head. */
    selected: () => form?.selected(),
  };
}
