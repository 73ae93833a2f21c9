// The page of a static site: a list of recorded texts, the switches of a text, and the main view.
//
// The address keeps the text and the selection behind "#", so a link restores the view. Every file is fetched from the
// folder of the page; nothing comes from another host.

import { mount } from "../explore/explore.js";
import { h, setAttribute, setText } from "../shared/elements.js";
import { decodeFrame } from "../shared/frames.js";
import { _, speak } from "../shared/words.js";
import { fromHash, toHash } from "./address.js";
import { moveSelection } from "./merging.js";
import { payloadOf, recordedSource } from "./recorded.js";

/** @import { Payload, Selection } from "../explore/types.js" */
/** @import { Frame } from "../shared/frames.js" */
/** @import { Where } from "./address.js" */
/** @import { About } from "./recorded.js" */
/** @typedef {{file: string, label: string, note: string, caption: string, about: Record<string, string>}} Variant */
/** @typedef {{title: string, variants: Variant[]}} Entry a text and its variants */
/** @typedef {{code: string, name: string, words: Record<string, string>, texts: Entry[]}} Tongue a language */
/** @typedef {{languages: Tongue[]}} Contents */

/** Return the element with an id of the page. @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Return the content of a gzip file; other content is returned as it is. @param {ArrayBuffer} buffer */
export async function unpack(buffer) {
  const [first, second] = new Uint8Array(buffer);
  if (first !== 0x1f || second !== 0x8b) return buffer;
  return await new Response(new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/**
 * Return the language of a code, else the first that the reader's browser prefers, else the first.
 * @param {Tongue[]} languages @param {string|null|undefined} code @param {readonly string[]} preferred
 */
export function languageOf(languages, code, preferred) {
  const codes = [code ?? "", ...preferred.map((name) => name.split("-")[0])];
  return codes.map((one) => languages.find((tongue) => tongue.code === one)).find(Boolean) ?? languages[0];
}

/** Return a function that fetches the file of a text once. */
function createLoader() {
  /** @type {Map<string, Promise<Frame & {header: About}>>} */
  const files = new Map();
  /** @param {string} file */
  async function fetchText(file) {
    const answer = await fetch(file);
    if (!answer.ok) throw new Error(_("The server answered {status}.", { status: answer.status }));
    return /** @type {Frame & {header: About}} */ (decodeFrame(await unpack(await answer.arrayBuffer())));
  }
  return (/** @type {string} */ file) => {
    const known = files.get(file) ?? fetchText(file);
    files.set(file, known);
    known.catch(() => files.delete(file));
    return known;
  };
}

/** Draw the page. @param {Contents} contents */
export function startSite({ languages }) {
  const load = createLoader();
  /** @type {ReturnType<typeof mount>|null} */
  let view = null;
  /** @type {Tongue} */
  let tongue = languages[0];
  /** @type {Where} */
  let where = {};
  /** @type {Partial<Selection>} */
  let kept = {};
  /** @type {Payload|null} the payload of the view */
  let drawn = null;

  /** @param {string|undefined} file */
  const variantOf = (file) => {
    const every = tongue.texts.flatMap((entry) => entry.variants.map((variant) => ({ entry, variant })));
    return every.find(({ variant }) => variant.file === file) ?? every[0];
  };
  /** Show a text with a selection. @param {Where} to @param {Partial<Selection>} selection */
  async function show(to, selection) {
    where = to;
    const file = to.text ?? "";
    drawList();
    try {
      const frame = await load(file);
      if (where !== to) return;
      const payload = payloadOf(frame.header, tongue.code, to.words === "1");
      const first = moveSelection(frame.header.payload.selection, frame.header.payload, payload);
      drawn = { ...payload, base: toHash(to), selection: { ...first, ...selection } };
      kept = drawn.selection;
      view?.destroy();
      view = mount(place("view"), drawn, recordedSource(frame, to.words === "1"), { selection: keep });
      setText(place("error"), "");
      drawWords(frame.header);
    } catch (error) {
      if (where === to) setText(place("error"), error instanceof Error ? error.message : String(error));
    }
  }
  /** Store a selection in the address. @param {Selection} selection */
  function keep(selection) {
    kept = selection;
    history.replaceState(null, "", toHash(where, kept));
  }
  /** Open a place as a new entry of the history. @param {Where} to @param {Partial<Selection>} selection */
  function go(to, selection) {
    history.pushState(null, "", toHash(to, selection));
    show(to, selection);
  }
  /** @param {string} label @param {boolean} on @param {() => void} act */
  const choice = (label, on, act) =>
    h("button", { type: "button", class: "choice", "aria-pressed": String(on), onclick: act }, label);
  function drawList() {
    const { entry, variant } = variantOf(where.text);
    const list = tongue.texts.map((one) =>
      choice(one.title, one === entry, () => go({ ...where, text: one.variants[0].file }, {}))
    );
    setAttribute(place("texts"), "aria-label", _("Texts"));
    place("texts").replaceChildren(...(list.length > 1 ? list : []));
    const variants = entry.variants.map((one) =>
      choice(one.label, one === variant, () => go({ ...where, text: one.file }, kept))
    );
    setAttribute(place("variants"), "role", "group");
    setAttribute(place("variants"), "aria-label", _("Variants"));
    place("variants").replaceChildren(...(variants.length > 1 ? variants : []));
    setText(place("note"), variant.note);
    setText(place("caption"), variant.caption);
    setText(place("made"), _("Made with Headlight."));
    const rows = Object.entries(variant.about).flatMap((
      [name, value],
    ) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)]);
    place("about").replaceChildren(...rows);
  }
  /** Draw the switch between tokens and whole words, if they differ. @param {About} header */
  function drawWords({ words, payload }) {
    const merged = where.words === "1";
    function turn() {
      const to = payloadOf({ payload, said: {}, words, ...NO_ARRAYS }, "", !merged);
      go({ ...where, words: merged ? "" : "1" }, drawn ? moveSelection(kept, drawn, to) : kept);
    }
    place("variants").querySelector(".words")?.remove();
    const button = choice(_("Whole words"), merged, turn);
    button.classList.add("words");
    if (words) place("variants").append(button);
  }
  function drawLanguages() {
    const list = languages.map((one) => choice(one.name, one === tongue, () => change(one)));
    for (const [at, one] of languages.entries()) list[at].lang = one.code;
    place("languages").replaceChildren(...(list.length > 1 ? list : []));
  }
  /** Change the language, and remember it. @param {Tongue} to */
  function change(to) {
    remember(to.code);
    setTongue(to);
    go({ ...where, lang: to.code }, kept);
  }
  /** @param {Tongue} to */
  function setTongue(to) {
    tongue = to;
    speak(to.words);
    document.documentElement.lang = to.code;
    drawLanguages();
  }
  /** Show the text and the selection of the address. */
  function open() {
    const { where: asked, selection } = fromHash(location.hash);
    setTongue(languageOf(languages, asked.lang ?? remembered(), languages.length > 1 ? navigator.languages : []));
    const { variant } = variantOf(asked.text);
    show({ ...asked, text: variant.file }, variant.file === asked.text ? selection : {});
  }
  addEventListener("popstate", open);
  open();
}

const NO_ARRAYS = { layers: [], summed: null, sampled: false, habits: null };
const LANGUAGE_KEY = "headlight language";

/** Return the language that the reader chose on an earlier visit; null if the browser stores nothing. */
function remembered() {
  try {
    return localStorage.getItem(LANGUAGE_KEY);
  } catch {
    return null;
  }
}

/** @param {string} code */
function remember(code) {
  try {
    localStorage.setItem(LANGUAGE_KEY, code);
  } catch { /* the address keeps the language */ }
}

const contents = globalThis.document?.getElementById("contents");
if (contents) {
  startSite(JSON.parse(contents.textContent ?? ""));
  navigator.serviceWorker?.register("worker.js").catch(() => {}); // without it, the site needs its host
}
