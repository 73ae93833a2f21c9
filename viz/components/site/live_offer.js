// The offer of a model for the browser: its size, the question, and the download with its progress.
//
// Nothing is downloaded before the reader agrees, except if the files are already on this device.

import { h, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { download } from "./live_model.js";

/** @import { Part, Progress } from "./live_model.js" */
/** @typedef {{manifest: string, name: string, bytes: number}} Offer */
/** @typedef {{section: string, start: string, hint: string, terms: string}} Labels the section's name, the button, what
 * it does, and the question */

const MEGABYTE = 1e6;

/** Return bytes in megabytes with a decimal. @param {number} bytes */
export const megabytes = (bytes) => (bytes / MEGABYTE).toFixed(1);

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
 * Return functions that draw an offer, and that start its download.
 * @template {{files: Record<"graph", Part>}} Manifest
 * @param {HTMLElement} root @param {Offer} offer @param {() => Labels} labels in the language of the page
 * @param {(about: Manifest, progress: Progress) => Promise<() => void>} open opens the model, and returns what draws it
 * @param {Promise<ServiceWorkerRegistration>} [registered] the service worker
 */
export function createOffer(root, offer, labels, open, registered) {
  /** @type {AbortController|null} */
  let stop = null;

  /** @param {string} label @param {() => void} onclick */
  const button = (label, onclick) => h("button", { type: "button", class: "choice", onclick }, label);

  function invite(said = "") {
    const { section, start: label, hint } = labels();
    root.setAttribute("aria-label", section);
    root.replaceChildren(button(label, ask), h("span", { class: "hint" }, said || hint));
  }
  async function ask() {
    if (await stored()) return start();
    root.replaceChildren(
      h("span", { role: "status" }, labels().terms),
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
    async function prepare() {
      await waitForStore(registered);
      return open(await manifest(), { signal, report });
    }
    try {
      const draw = await Promise.race([prepare(), stopped]);
      draw();
    } catch (error) {
      invite(signal.aborted ? _("Stopped.") : error instanceof Error ? error.message : String(error));
    }
  }
  return { invite: () => invite(), start, stored };
}
