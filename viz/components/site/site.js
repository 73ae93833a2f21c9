// The page of a static site: recorded texts with their switches and the main view, and lessons.
//
// The address keeps the text and the selection behind "#", so a link restores the view. Every file is fetched from the
// folder of the page; nothing comes from another host.

import { mount } from "../explore/explore.js";
import { h, setAttribute, setText } from "../shared/elements.js";
import { decodeFrame } from "../shared/frames.js";
import { _, speak } from "../shared/words.js";
import { fromHash, toHash } from "./address.js";
import { guessBars, lessonList, lessonStep } from "./lesson.js";
import { createLive } from "./live.js";
import { createMasks } from "./live_masks.js";
import { moveSelection } from "./merging.js";
import { fitPicture, recordedPicture } from "./pictures.js";
import { createProgress, isOver } from "./progress.js";
import { payloadOf, recordedSource } from "./recorded.js";
import { unpack } from "./unpack.js";

/** @import { Payload, Report, Selection, Source } from "../explore/types.js" */
/** @import { Frame } from "../shared/frames.js" */
/** @import { Where } from "./address.js" */
/** @import { Offer } from "./live_offer.js" */
/** @import { Lesson, LessonEntry, Step } from "./lesson.js" */
/** @import { Shot } from "./pictures.js" */
/** @import { About } from "./recorded.js" */
/**
 * @typedef {{file: string, kind: "text"|"picture", label: string, note: string, caption: string,
 *   about: Record<string, string>}} Variant
 */
/** @typedef {{title: string, variants: Variant[]}} Entry a text and its variants */
/**
 * @typedef {{code: string, name: string, words: Record<string, string>, texts: Entry[], lessons: LessonEntry[]}} Tongue
 * a language
 */
/**
 * @typedef {{languages: Tongue[], parts: Record<string, string>, live?: Offer & {masks?: Offer}}} Contents
 * parts: scripts that are loaded on demand; live: a model for the browser, with one for masked words
 */

const LIVE = "live"; // in the address, in place of the file of a recorded text

/** Return the element with an id of the page. @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Return the language of a code, else the first that the reader's browser prefers, else the first.
 * @param {Tongue[]} languages @param {string|null|undefined} code @param {readonly string[]} preferred
 */
export function languageOf(languages, code, preferred) {
  const codes = [code ?? "", ...preferred.map((name) => name.split("-")[0])];
  return codes.map((one) => languages.find((tongue) => tongue.code === one)).find(Boolean) ?? languages[0];
}

/**
 * Return a function that fetches and reads each file once.
 * @template Content @param {(buffer: ArrayBuffer) => Content} read
 */
function createLoader(read) {
  /** @type {Map<string, Promise<Content>>} */
  const files = new Map();
  /** @param {string} file */
  async function fetchFile(file) {
    const answer = await fetch(file);
    if (!answer.ok) throw new Error(_("The server answered {status}.", { status: answer.status }));
    return read(await unpack(await answer.arrayBuffer()));
  }
  return (/** @type {string} */ file) => {
    const known = files.get(file) ?? fetchFile(file);
    files.set(file, known);
    known.catch(() => files.delete(file));
    return known;
  };
}

const loadText = createLoader((buffer) => /** @type {Frame & {header: About}} */ (decodeFrame(buffer)));
const loadPicture = createLoader((buffer) => /** @type {Frame & {header: Shot}} */ (decodeFrame(buffer)));
const loadBytes = createLoader((buffer) => new Uint8Array(buffer));
const loadLesson = createLoader((
  buffer,
) => /** @type {Record<string, Lesson>} */ (JSON.parse(new TextDecoder().decode(buffer))));

/** @param {string} label @param {boolean} on @param {() => void} act */
const choice = (label, on, act) =>
  h("button", { type: "button", class: "choice", "aria-pressed": String(on), onclick: act }, label);

/** Return the fields of a payload that hide a withheld part of the maps. @param {Step["held"]} held */
const hidden = (held) => ({ quiet: held === "results", asks_head: held === "strongest" });

/** Return the element of the view, of which a single component is shown at a time. @param {Contents["parts"]} parts */
function createStand(parts) {
  let close = () => {};
  return {
    /** @param {...Node} nodes */
    clear(...nodes) {
      close();
      close = () => {};
      place("view").replaceChildren(...nodes);
    },
    /** @param {Payload} payload @param {ReturnType<typeof recordedSource>} source @param {Report} report */
    maps(payload, source, report) {
      close();
      for (const child of [...place("view").children]) if (!child.matches(".still, .hl")) child.remove();
      close = mount(place("view"), payload, source, report).destroy;
    },
    /**
     * @param {string} name of a component with a script of its own @param {unknown} data
     * @param {(name: string, value: Partial<Selection>) => void} tell @param {...Node} after
     */
    async part(name, data, tell, ...after) {
      const { default: component } = await import(new URL(parts[name], document.baseURI).href);
      const parentElement = h("div");
      this.clear(parentElement, ...after);
      close = component({ data, parentElement, setTriggerValue: tell });
    },
  };
}

/**
 * Draw the page.
 * @param {Contents} contents @param {Promise<ServiceWorkerRegistration>} [registered] the service worker
 */
export function startSite({ languages, parts, live: offer }, registered) {
  const stand = createStand(parts);
  const progress = createProgress(location.pathname, storage());
  /** @type {Tongue} */
  let tongue = languages[0];
  /** @type {Where} */
  let where = {};
  /** @type {Partial<Selection>} */
  let kept = {};
  /** @type {Payload|null} the payload of the view */
  let drawn = null;
  const live = offer && createLive(place("live"), offer, {
    show: showLive,
    selection: () => kept,
    recorded: () => drawn?.base === toHash(where) && !where.words ? drawn : null,
    language: () => tongue.code,
  }, registered);
  let masked = ""; // the text with masked words, next to whatever the page shows
  const masks = offer?.masks && createMasks(place("masks"), offer.masks, (text) => {
    masked = text;
    history.replaceState(null, "", addressOf(where, kept));
  }, registered);

  /** @param {Where} to @param {Partial<Selection>} selection */
  const addressOf = (to, selection) => toHash({ ...to, masked }, selection);

  /** @param {string|undefined} file */
  const variantOf = (file) => {
    const every = tongue.texts.flatMap((entry) => entry.variants.map((variant) => ({ entry, variant })));
    return every.find(({ variant }) => variant.file === file) ?? every[0];
  };
  /** @type {import("./live_form.js").Host["show"]} */
  function showLive(payload, source, fields) {
    where = { lang: where.lang, text: LIVE, ...fields };
    place("lesson").hidden = true;
    drawLists();
    drawMaps(payload, source);
    setText(place("error"), "");
    const known = fromHash(location.hash).where.text === LIVE;
    history[known ? "replaceState" : "pushState"](null, "", addressOf(where, kept));
  }
  /** Show a text or a step with a selection. @param {Where} to @param {Partial<Selection>} selection */
  async function show(to, selection) {
    where = to;
    live?.leave(Boolean(to.lesson)); // the list of lessons has the lesson ""
    drawLists();
    try {
      if (to.lesson === undefined) await showText(to, selection);
      else await showLesson(to, selection);
      if (where === to) setText(place("error"), "");
    } catch (error) {
      if (where === to) setText(place("error"), error instanceof Error ? error.message : String(error));
    }
  }
  /** @param {Where} to @param {Partial<Selection>} selection */
  async function showText(to, selection) {
    place("lesson").hidden = true;
    if (variantOf(to.text).variant.kind === "picture") return showPicture(to, selection);
    const header = await showMaps(to, String(to.text), to.words === "1", selection, "");
    if (header) drawWords(header);
  }
  /** @param {Where} to @param {Partial<Selection>} selection */
  async function showPicture(to, selection) {
    const frame = await loadPicture(String(to.text));
    if (where !== to) return;
    const { payload, said } = frame.header;
    const data = { ...payload, ...said[tongue.code], base: String(to.text), source: recordedPicture(frame) };
    data.selection = fitPicture(data, selection);
    kept = /** @type {Partial<Selection>} */ (/** @type {unknown} */ (data.selection));
    await stand.part("picture", data, (_name, chosen) => keep(chosen));
  }
  /**
   * Show the maps of a file; return its header, or null if the reader has gone elsewhere.
   * @param {Where} to @param {string} file @param {boolean} words @param {Partial<Selection>} selection
   * @param {Step["held"]} held @param {(selection: Selection) => void} [tell]
   */
  async function showMaps(to, file, words, selection, held, tell) {
    const frame = await loadText(file);
    if (where !== to) return null;
    const { header } = frame;
    const payload = payloadOf(header, tongue.code, words);
    const first = moveSelection(header.payload.selection, header.payload, payload);
    const shown = { ...payload, ...hidden(held), base: toHash(to), selection: { ...first, ...selection } };
    drawMaps(shown, recordedSource(frame, words), tell);
    return header;
  }
  /**
   * @param {Payload} payload @param {Source} source @param {(selection: Selection) => void} [tell] follows a selection
   */
  function drawMaps(payload, source, tell = () => {}) {
    [drawn, kept] = [payload, payload.selection];
    stand.maps(payload, source, {
      selection: (chosen) => {
        keep(chosen);
        tell(chosen);
      },
    });
  }
  /** Store a selection in the address. @param {Partial<Selection>} selection */
  function keep(selection) {
    kept = selection;
    history.replaceState(null, "", addressOf(where, kept));
    live?.selected();
  }
  /** Open a place as a new entry of the history. @param {Where} to @param {Partial<Selection>} selection */
  function go(to, selection) {
    history.pushState(null, "", addressOf(to, selection));
    show(to, selection);
  }
  /** @param {string|null} name the list of lessons if null @param {number} step */
  const goLesson = (name, step) => go({ lang: where.lang, lesson: name ?? "", step: name ? String(step + 1) : "" }, {});

  /** @param {Where} to @param {Partial<Selection>} selection */
  async function showLesson(to, selection) {
    place("lesson").hidden = false;
    const entry = tongue.lessons.find(({ name }) => name === to.lesson);
    if (!entry) {
      stand.clear();
      return place("lesson").replaceChildren(...lessonList(tongue.lessons, progress, goLesson));
    }
    const lesson = (await loadLesson(entry.file))[tongue.code];
    if (where !== to) return;
    const at = Math.max(0, Math.min(Number(to.step) - 1 || 0, lesson.steps.length - 1));
    progress.setPlace(lesson.name, at);
    const answered = (/** @type {boolean} */ first) =>
      first && lesson.steps[at].held ? show(where, kept) : live?.answered();
    const shown = lessonStep(lesson, at, progress, { go: goLesson, answered });
    place("lesson").replaceChildren(shown.el);
    place("worksheet").replaceChildren(shown.worksheet);
    const step = lesson.steps[at];
    const held = progress.answer(lesson.name, at).tries ? "" : step.held;
    await showStep(to, step, held, to.own ? {} : selection, shown.follow);
    if (where !== to || !step.live || held === "view") return;
    const own = {
      step: step.live,
      hasAnswer: Boolean(step.question?.right),
      isOver: () => isOver(progress.answer(lesson.name, at)),
      show: showOwn(held, shown.follow),
    };
    live?.enter(place("lesson"), own, to, selection);
  }
  /**
   * Return a function that shows a reader's own text in the view of a step.
   * @param {Step["held"]} held @param {ReturnType<typeof lessonStep>["follow"]} follow
   * @returns {import("./live_form.js").Host["show"]}
   */
  const showOwn = (held, follow) => (payload, source, { own, pair }) => {
    where = { ...where, own, pair };
    drawMaps({ ...payload, ...hidden(held) }, source, ({ layer, head }) => follow({ layer, head, token: null }));
    setText(place("error"), "");
    history.replaceState(null, "", addressOf(where, kept));
  };
  /**
   * Show the view of a step, without the part that is withheld.
   * @param {Where} to @param {Step} step @param {Step["held"]} held @param {Partial<Selection>} selection
   * @param {ReturnType<typeof lessonStep>["follow"]} follow
   */
  async function showStep(to, { view }, held, selection, follow) {
    if (held === "view") {
      stand.clear(h("p", { class: "quiet" }, _("The view opens after your first answer: say what you expect.")));
    } else if (view?.kind === "guesses") stand.clear(...guessBars(view));
    else if (view?.kind === "matrix") {
      const data = await loadBytes(view.file);
      if (where === to) await stand.part("matrices", data, () => {}, h("p", { class: "quiet" }, view.caption));
    } else if (view?.kind === "maps") {
      const { header } = await loadText(view.file);
      const cells = payloadOf(header, tongue.code, view.words);
      const own = moveSelection({ ...header.payload.selection, ...view.selection }, header.payload, cells);
      const first = { ...own, ...selection };
      const tell = (/** @type {Partial<Selection>} */ { layer = 0, head = 0, focus }) => {
        const moved = focus != null && focus !== own.focus;
        follow({ layer, head, token: moved ? cells.queries[focus].at[0] : null });
      };
      await showMaps(to, view.file, view.words, first, held, tell);
      tell(first);
    } else stand.clear();
  }
  function drawLists() {
    const reads = where.lesson === undefined;
    const found = reads && where.text !== LIVE ? variantOf(where.text) : null;
    const list = tongue.texts.map((one) =>
      choice(one.title, one === found?.entry, () => go({ lang: where.lang, text: one.variants[0].file }, {}))
    );
    if (tongue.lessons.length) list.push(choice(_("Lessons"), !reads, () => goLesson(null, 0)));
    setAttribute(place("texts"), "aria-label", _("Texts"));
    place("texts").replaceChildren(...(list.length > 1 || offer ? list : []));
    place("worksheet").replaceChildren();
    const variants = (found?.entry.variants ?? []).map((one) =>
      choice(one.label, one === found?.variant, () => go({ ...where, text: one.file }, kept))
    );
    setAttribute(place("variants"), "role", "group");
    setAttribute(place("variants"), "aria-label", _("Variant"));
    place("variants").replaceChildren(...(variants.length > 1 ? variants : []));
    setText(place("note"), found?.variant.note ?? "");
    setText(place("caption"), found?.variant.caption ?? "");
    setText(place("made"), _("Made with Headlight."));
    const rows = Object.entries(found?.variant.about ?? {}).flatMap((
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
    if (where.text !== LIVE) return go({ ...where, lang: to.code }, kept);
    where = { ...where, lang: to.code };
    live?.open(where, kept);
  }
  /** @param {Tongue} to */
  function setTongue(to) {
    tongue = to;
    speak(to.words);
    document.documentElement.lang = to.code;
    live?.redraw();
    masks?.redraw();
    drawLanguages();
  }
  /** Show the text or the lesson, and the selection, of the address. */
  function open() {
    const { where: asked, selection } = fromHash(location.hash);
    setTongue(languageOf(languages, asked.lang ?? remembered(), languages.length > 1 ? navigator.languages : []));
    masked = asked.masked ?? "";
    masks?.open(masked);
    if (asked.text === LIVE && live?.open(asked, selection)) return;
    const found = variantOf(asked.text);
    if (asked.lesson !== undefined || !found) return show({ ...asked, lesson: asked.lesson ?? "" }, selection);
    show({ ...asked, text: found.variant.file }, found.variant.file === asked.text ? selection : {});
  }
  /** @param {KeyboardEvent} event Alt+Page Down and Alt+Page Up turn the steps of a lesson */
  function turnStep(event) {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (by && event.altKey && where.lesson) goLesson(where.lesson, Math.max(0, (Number(where.step) || 1) - 1 + by));
  }
  addEventListener("popstate", open);
  addEventListener("keydown", turnStep);
  open();
}

const NO_ARRAYS = { layers: [], summed: null, sampled: false, habits: null };
const LANGUAGE_KEY = "headlight language";

/** Return the browser's storage, or undefined if it is forbidden. */
function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** Return the language that the reader chose on an earlier visit; undefined if the browser stores nothing. */
const remembered = () => storage()?.getItem(LANGUAGE_KEY);

/** @param {string} code */
function remember(code) {
  try {
    storage()?.setItem(LANGUAGE_KEY, code);
  } catch { /* the address keeps the language */ }
}

const contents = globalThis.document?.getElementById("contents");
if (contents) {
  const registered = navigator.serviceWorker?.register("worker.js");
  registered?.catch(() => {}); // without it, the site needs its host
  startSite(JSON.parse(contents.textContent ?? ""), registered);
}
