// The page of a static site: a list of recorded texts, the switch of a text's variants, and the main view.
//
// The address keeps the text and the selection behind "#", so a link restores the view. Every file is fetched from the
// folder of the page; nothing comes from another host.

import { mount } from "../explore/explore.js";
import { h, setText } from "../shared/elements.js";
import { decodeFrame } from "../shared/frames.js";
import { _ } from "../shared/words.js";
import { createLive } from "./live.js";
import { recordedSource } from "./recorded.js";
import { unpack } from "./unpack.js";

/** @import { Payload, Selection } from "../explore/types.js" */
/** @import { Frame } from "../shared/frames.js" */
/** @import { About } from "./recorded.js" */
/** @typedef {{file: string, label: string, note: string, about: Record<string, string>}} Variant */
/** @typedef {{title: string, variants: Variant[]}} Entry a text and its variants */
/** @typedef {{texts: Entry[], live?: import("./live.js").Offer}} Contents */

const NUMBERS = ["layer", "head", "focus", "target"];
const LIVE = "live"; // in the address, in place of the file of a recorded text

/** Return the element with an id of the page. @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Return the part of an address behind "#" for a text and a selection.
 * @param {string} file @param {Partial<Selection>} selection
 */
export function toHash(file, selection) {
  const fields = Object.entries(selection).filter(([name, value]) => name !== "pinned" && value !== null);
  return `#${new URLSearchParams([["text", file], ...fields.map(([name, value]) => [name, String(value)])])}`;
}

/**
 * Return the text and the selection of an address; unknown fields are ignored, since the view checks the values.
 * @param {string} hash @returns {{file: string|null, selection: Partial<Selection>}}
 */
export function fromHash(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const file = fields.get("text");
  fields.delete("text");
  const entries = [...fields].map(([name, value]) =>
    NUMBERS.includes(name) ? [name, /^\d{1,6}$/.test(value) ? Number(value) : null] : [name, value]
  );
  return { file, selection: Object.fromEntries(entries) };
}

/**
 * Draw the page.
 * @param {Contents} contents @param {Promise<ServiceWorkerRegistration>} [registered] the service worker
 */
export function startSite({ texts, live: offer }, registered) {
  const every = texts.flatMap((entry) => entry.variants.map((variant) => ({ entry, variant })));
  /** @type {Map<string, Promise<Frame & {header: About}>>} */
  const files = new Map();
  /** @type {ReturnType<typeof mount>|null} */
  let view = null;
  let shown = "";
  /** @type {Partial<Selection>} */
  let kept = {};
  /** @type {Record<string, string>} the fields of a live text in the address */
  let fields = {};
  /** @type {Payload|null} the recorded text that is shown */
  let recorded = null;
  const host = { show: showLive, selection: () => kept, recorded: () => recorded };
  const live = offer && createLive(place("live"), offer, host, registered);

  /** @param {string} file */
  async function fetchText(file) {
    const answer = await fetch(file);
    if (!answer.ok) throw new Error(_("The server answered {status}.", { status: answer.status }));
    return /** @type {Frame & {header: About}} */ (decodeFrame(await unpack(await answer.arrayBuffer())));
  }
  /** @param {string} file */
  function load(file) {
    const known = files.get(file) ?? fetchText(file);
    files.set(file, known);
    known.catch(() => files.delete(file));
    return known;
  }
  /** @type {import("./live_form.js").Host["show"]} */
  function showLive(payload, source, { text, ...others }) {
    const address = location.hash;
    [shown, fields] = [LIVE, { own: text, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value)) }];
    recorded = null;
    drawList();
    view?.destroy();
    view = mount(place("view"), payload, source, { selection: keep });
    if (fromHash(address).file !== LIVE) history.pushState(null, "", toHash(LIVE, { ...payload.selection, ...fields }));
    keep(/** @type {Selection} */ (payload.selection));
    setText(place("error"), "");
  }
  /** Show a text with a selection. @param {string} file @param {Partial<Selection>} selection */
  async function show(file, selection) {
    shown = file;
    drawList();
    try {
      const frame = await load(file);
      if (shown !== file) return;
      const payload = {
        ...frame.header.payload,
        base: file,
        selection: { ...frame.header.payload.selection, ...selection },
      };
      [kept, recorded] = [payload.selection, payload];
      view?.destroy();
      view = mount(place("view"), payload, recordedSource(frame), { selection: keep });
      setText(place("error"), "");
    } catch (error) {
      if (shown === file) setText(place("error"), error instanceof Error ? error.message : String(error));
    }
  }
  /** Store a selection in the address. @param {Selection} selection */
  function keep(selection) {
    kept = selection;
    history.replaceState(null, "", toHash(shown, shown === LIVE ? { ...kept, ...fields } : kept));
    live?.selected();
  }
  function drawList() {
    const entry = every.find(({ variant }) => variant.file === shown)?.entry;
    /** @param {string} label @param {string} file @param {boolean} on @param {Partial<Selection>} selection */
    const choice = (label, file, on, selection) =>
      h("button", {
        ...{ type: "button", class: "choice", "aria-pressed": String(on) },
        onclick: () => {
          history.pushState(null, "", toHash(file, selection));
          show(file, selection);
        },
      }, label);
    const list = texts.map((one) => choice(one.title, one.variants[0].file, one === entry, {}));
    place("texts").replaceChildren(...(texts.length > 1 || offer ? list : []));
    const variants = (entry?.variants ?? []).map((one) => choice(one.label, one.file, one.file === shown, kept));
    place("variants").replaceChildren(...(variants.length > 1 ? variants : []));
    const variant = entry?.variants.find((one) => one.file === shown);
    setText(place("note"), variant?.note ?? "");
    const rows = Object.entries(variant?.about ?? {}).flatMap((
      [name, value],
    ) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)]);
    place("about").replaceChildren(...rows);
  }
  /** Show the text and the selection of the address. */
  function open() {
    const { file, selection } = fromHash(location.hash);
    if (file === LIVE && live) {
      kept = selection;
      live.open(/** @type {Record<string, string>} */ (selection));
      if (shown === LIVE || live.opened()) return;
    }
    const known = every.some(({ variant }) => variant.file === file);
    show(known && file ? file : every[0].variant.file, known ? selection : {});
  }
  addEventListener("popstate", open);
  open();
}

const contents = globalThis.document?.getElementById("contents");
if (contents) {
  const registered = navigator.serviceWorker?.register("worker.js");
  registered?.catch(() => {}); // without it, the site needs its host
  startSite(JSON.parse(contents.textContent ?? ""), registered);
}
