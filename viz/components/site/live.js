// Live texts of a static site: the reader's own sentences, run by the model in the browser while the reader types.
//
// Nothing is downloaded before the reader agrees, except if the files are already on this device.

import { h, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { createForm } from "./live_form.js";
import { download, openModel } from "./live_model.js";
import { measureDifference } from "./live_payload.js";

/** @import { Selection } from "../explore/types.js" */
/** @import { Fields, Host } from "./live_form.js" */
/** @import { Manifest } from "./live_model.js" */
/** @typedef {{manifest: string, name: string, bytes: number}} Offer */

const MEGABYTE = 1e6;

/** Return bytes in megabytes with a decimal. @param {number} bytes */
const megabytes = (bytes) => (bytes / MEGABYTE).toFixed(1);

/** Return true if a file is stored on this device. @param {string} file */
const isStored = async (file) => Boolean(await globalThis.caches?.match(new URL(file, document.baseURI)));

/**
 * Wait until the service worker stores downloads, if the browser has one.
 * @param {Promise<ServiceWorkerRegistration>|undefined} registered
 */
async function waitForStore(registered) {
  const found = await registered?.catch(() => null);
  const worker = found?.installing ?? found?.waiting ?? found?.active;
  while (worker && worker.state !== "activated" && worker.state !== "redundant") {
    await new Promise((done) => worker.addEventListener("statechange", done, { once: true }));
  }
}

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
  /** @type {AbortController|null} */
  let stop = null;
  /** @type {ReturnType<typeof createForm>|null} */
  let form = null;

  /** @param {string} label @param {() => void} onclick */
  const button = (label, onclick) => h("button", { type: "button", class: "choice", onclick }, label);

  function invite(said = "") {
    root.setAttribute("aria-label", _("Your own text"));
    root.replaceChildren(
      button(_("Run live ({megabytes} MB)", { megabytes: megabytes(offer.bytes) }), ask),
      h(
        "span",
        { class: "hint" },
        said || _("Type your own text; {model} runs in this browser.", { model: offer.name }),
      ),
    );
  }
  async function ask() {
    if (await stored()) return start();
    root.replaceChildren(
      h(
        "span",
        { role: "status" },
        _("{model}: {megabytes} MB, and at most 0.1 MB for each new word.", {
          model: offer.name,
          megabytes: megabytes(offer.bytes),
        }),
      ),
      button(_("Download"), start),
      button(_("Not now"), () => invite()),
    );
  }
  /** @returns {Promise<Manifest>} */
  const manifest = async () => JSON.parse(new TextDecoder().decode(await download(offer.manifest)));

  /** Return true if the model is on this device. */
  async function stored() {
    try {
      return await isStored((await manifest()).files.graph.file);
    } catch {
      return false; // without a network, and not stored either
    }
  }

  async function start() {
    stop = new AbortController();
    const bar = h("progress", { max: offer.bytes, value: 0, "aria-label": _("Download") });
    const said = h("span", { role: "status" });
    root.replaceChildren(bar, said, button(_("Stop"), () => stop?.abort()));
    let received = 0;
    /** @param {number} bytes */
    const report = (bytes) => {
      received += bytes;
      bar.value = received;
      setText(said, _("{done} of {all} MB", { done: megabytes(received), all: megabytes(offer.bytes) }));
    };
    const { signal } = stop;
    /** @type {Promise<never>} */
    const stopped = new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
    async function open() {
      await waitForStore(registered);
      const about = await manifest();
      const model = await openModel(about, { signal, report });
      const difference = await measureDifference(about, model);
      return () => createForm(root, about, model, difference, host);
    }
    try {
      makeForm = await Promise.race([open(), stopped]);
      form = makeForm();
      form.open(fields, selection);
    } catch (error) {
      invite(signal.aborted ? _("Stopped.") : error instanceof Error ? error.message : String(error));
    }
  }
  return {
    /**
     * Show the text of an address; return false if the model is not there yet.
     * @param {import("./address.js").Where} given @param {Partial<Selection>} chosen
     */
    open({ own = "", pair = "", off = "", similar = "" }, chosen) {
      [fields, selection] = [{ own, pair, off, similar }, chosen];
      if (!form) stored().then((here) => here ? start() : undefined);
      form?.open(fields, selection);
      return form !== null;
    },
    /** Draw in the language of the page. */
    redraw() {
      if (!form || !makeForm) return invite();
      const typed = form.typed();
      form = makeForm();
      form.fill(typed, null);
    },
    /** Follow the selected head. */
    selected: () => form?.selected(),
  };
}
