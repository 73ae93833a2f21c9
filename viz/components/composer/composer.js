// The text box of the app. Enter submits the text, Shift+Enter begins a new line. Typed text stays until the page sends
// another text. A live box also submits a short text while it is typed: after a pause, marked as live, and once more
// without the mark when the typing ends.

import { _, speak } from "../shared/words.js";

/**
 * @typedef {object} ComposerData Made by viz/components/composer/composer.py.
 * @property {string} text
 * @property {string} pair second text; "" for none
 * @property {string} target decoder text; "" for the model's own output
 * @property {boolean} takesPair
 * @property {boolean} takesTarget
 * @property {{title: string, text: string, pair: string}[]} examples
 * @property {boolean} live whether texts are read while they are typed
 * @property {Record<string, string>} sharedFields fields of the address that a copied link names, also defaults
 * @property {Record<string, string>} replacedFields fields that a copied link has instead of the page's; none if ""
 * @property {Record<string, string>} [words]
 */

const FIELDS = ["text", "pair", "target"];

/** Return the fields whose text the page has changed; all others keep the typed text. */
export function changed(before, after) {
  return FIELDS.filter((field) => !before || before[field] !== after[field]);
}

const PAUSE = 250; // ms after the last key until a live box submits the text
const SETTLED = 1500; // ms after the last key until the text counts as typed
const LIVE = "1"; // marks a text that is read while it is typed
const CONTINUES = "2"; // the same, if it continues a sentence (CONTINUES of composer.py)
const LONGEST_LIVE = 1500; // characters of a text that is read while it is typed

/**
 * Return true if a text is read while it is typed.
 * @param {{text: string, pair: string, target: string}} value @param {{live: boolean}} data
 */
export const isLive = (value, data) =>
  data.live && value.text.trim() !== "" && (value.text + value.pair + value.target).length <= LONGEST_LIVE;

/**
 * Return true if a typed text goes on with words after a text that was read at a pause, such as half a sentence.
 * @param {string} text @param {string|null} paused
 */
export const continues = (text, paused) =>
  paused !== null && text.startsWith(paused) && /[\p{L}\p{N}]/u.test(text.slice(paused.length));

const SLOW = 1500; // ms of an answer that is slow
const MOST_SLOW = 2; // slow answers in a row after which texts are read only when they are submitted
const LOST = 10000; // ms after which a request without an answer no longer holds back the next one

/**
 * Create the clock of the box's requests: one live request at a time, none while answers are slow.
 * @param {() => number} [now] ms
 */
export function createPace(now = () => performance.now()) {
  /** @type {{text: string, since: number}|null} */
  let flight = null;
  let slow = 0; // slow answers in a row
  return {
    isSlow: () => slow >= MOST_SLOW,
    /** Return true if a live request has to wait for the answer of another request. */
    isBusy: () => flight !== null && now() - flight.since < LOST,
    /** @param {string} text */
    sent(text) {
      flight = { text, since: now() };
    },
    /** Note the text that the page shows. @param {string} text */
    shown(text) {
      if (flight?.text !== text) return;
      slow = now() - flight.since > SLOW ? slow + 1 : 0;
      flight = null;
    },
  };
}

/**
 * Return the fields to overwrite: those that the page has changed, except to a text that this box has sent. The box
 * shows such a text already, or what was typed since.
 */
export const overwritten = (before, after, sent) => changed(before, after).filter((name) => !sent.has(after[name]));

/**
 * Create the store of the typed texts that were not submitted. A box on the next page continues with them if that page
 * shows the same texts as the page where they were typed. They are lost when the page is reloaded.
 */
export function createDraft() {
  /** @type {{page: ComposerData, typed: Record<string, string>}|null} */
  let draft = null;
  return {
    /** Keep the typed texts of a box, or forget them if the page shows them. */
    keep(/** @type {ComposerData} */ page, /** @type {Record<string, string>} */ typed) {
      draft = changed(page, typed).length ? { page, typed } : null;
    },
    forget() {
      draft = null;
    },
    /** Return the typed texts for a new box on a page, or null. */
    take(/** @type {ComposerData} */ page) {
      if (draft && changed(draft.page, page).length) draft = null;
      return draft && draft.typed;
    },
  };
}

/** Return true if a key press submits the text. A key that ends an input method's composition does not. */
export function submits(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing;
}

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function grow(field) {
  if (CSS.supports("field-sizing", "content")) return; // the style sheet sizes the field
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, 160)}px`;
}

function field(name, label, placeholder) {
  const area = make("textarea", { rows: 1, placeholder, id: name, dir: "auto", spellcheck: false });
  area.setAttribute("aria-describedby", "keys");
  area.addEventListener("input", () => grow(area));
  const title = make("label", { htmlFor: name, textContent: label });
  return { area, label: title, box: make("div", { className: "field" }, title, area) };
}

/**
 * Return the link that restores a view for others: the page's address with the fields `sharedFields` unless it has
 * them, and without the visitor's class. Each field of `replacedFields` replaces that of the address; "" deletes it.
 */
export function linkOf(address, sharedFields, replacedFields) {
  const link = new URL(address);
  for (const [name, value] of Object.entries(replacedFields)) {
    if (value) link.searchParams.set(name, value);
    else link.searchParams.delete(name);
  }
  for (const [name, value] of Object.entries(sharedFields)) {
    if (!link.searchParams.has(name)) link.searchParams.set(name, value);
  }
  link.searchParams.delete("class");
  return link.href;
}

async function copyLink(button, { sharedFields, replacedFields }) {
  const link = linkOf(location.href, sharedFields, replacedFields);
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = _("Link copied");
  } catch {
    prompt(_("Copy link"), link);
  }
}

function build(root) {
  const fields = {
    text: field("text", _("Text"), _("Type a sentence, then press Enter")),
    pair: field("pair", _("Second text (optional)"), _("It follows or answers the first")),
    target: field("target", _("Translation (optional)"), _("Empty: the model's own")),
  };
  const read = make("button", {
    type: "button",
    className: "main",
    textContent: _("Run"),
    title: _("Run (Enter)"),
  });
  const more = make("button", {
    type: "button",
    textContent: _("+ second text"),
    title: _("Attention within and between two sentences"),
  });
  const share = make("button", {
    type: "button",
    textContent: _("Copy link"),
    title: _("A link that restores this view"),
  });
  const examples = make("select");
  examples.setAttribute("aria-label", _("Try another sentence"));
  const keys = make("p", {
    id: "keys",
    className: "hidden",
    textContent: _("Enter runs the text; Shift+Enter breaks the line."),
  });
  const actions = make("div", { className: "actions" }, more, examples, share);
  const head = make("div", { className: "head" }, fields.text.label, actions);
  root.replaceChildren(make("div", { className: "composer" }, head, ...FIELDS.map((f) => fields[f].box), read, keys));
  return { fields, read, more, examples, share };
}

function fillExamples(select, examples) {
  select.replaceChildren(
    make("option", { value: "", textContent: _("Try another…") }),
    ...examples.map((example, index) => make("option", { value: String(index), textContent: example.title })),
  );
}

const boxes = new WeakMap();
const draft = createDraft();

/** Streamlit calls this function at the mount and after every change of the data, with the same root. */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#composer") ?? parentElement;
  const tongue = speak(data.words);
  let box = boxes.get(root);
  if (box?.tongue !== tongue) {
    box = renewed(root, box, tongue);
    boxes.set(root, box);
    box.typed = listen(box);
  }
  box.send = (value) => setTriggerValue("submitted", value);
  const before = box.data;
  box.data = data;
  for (const name of overwritten(before, data, box.sent)) box.fields[name].area.value = data[name];
  if (!before) resume(box, draft.take(data));
  draft.keep(data, typedTexts(box)); // until the page has read the texts, since a submitted text may be overtaken
  if (!box.typing && box.sent.has(data.text)) box.sent.clear();
  box.pace.shown(data.text);
  markOutdated(box);
  const offered = JSON.stringify(data.examples);
  if (box.offered !== offered) fillExamples(box.examples, data.examples);
  box.offered = offered;
  if (data.pair) box.pairOpen = true;
  show(box);
}

/** Continue with texts that were typed on the page before; a live box reads them. */
function resume(box, typed) {
  if (!typed) return;
  for (const name of FIELDS) box.fields[name].area.value = typed[name];
  if (typed.pair) box.pairOpen = true;
  box.typed();
}

/** Return the texts in all fields of the box. */
const typedTexts = ({ fields }) => Object.fromEntries(FIELDS.map((name) => [name, fields[name].area.value]));

/** Build the box, or rebuild it in another language; typed text stays. */
function renewed(root, old, tongue) {
  const box = {
    ...build(root),
    root,
    data: old?.data ?? null,
    pairOpen: old?.pairOpen ?? false,
    offered: "",
    tongue,
    typing: false,
    paused: /** @type {string|null} */ (null), // the text at the last pause, until the box is left
    sent: new Set(),
    pace: old?.pace ?? createPace(),
  };
  if (old) { for (const name of FIELDS) box.fields[name].area.value = old.fields[name].area.value; }
  return box;
}

function show(box) {
  const { data, fields } = box;
  fields.pair.box.hidden = !data.takesPair || !box.pairOpen;
  fields.target.box.hidden = !data.takesTarget;
  box.more.hidden = !data.takesPair || box.pairOpen;
  for (const name of FIELDS) grow(fields[name].area);
}

/** Return the texts of the fields that the model takes. */
function texts(box) {
  const { fields, data } = box;
  return {
    text: fields.text.area.value,
    pair: data.takesPair && box.pairOpen ? fields.pair.area.value : "",
    target: data.takesTarget ? fields.target.area.value : "",
  };
}

/** Return true if a field that the model takes has another text than the page. */
function differs({ data, fields }) {
  const taken = [data.takesPair && "pair", data.takesTarget && "target"].filter(Boolean);
  return ["text", ...taken].some((name) => fields[name].area.value !== data[name]);
}

/** Mark the view of an earlier text (viz/components/explore/app.js) while a live box has another. */
function markOutdated(box) {
  const detail = box.data.live && differs(box);
  globalThis.dispatchEvent(new CustomEvent("headlight:outdated", { detail }));
}

/** Return the functions that submit the box and that follow its typing. */
function submitting(box) {
  const timers = [0, 0];
  const send = (live) => {
    const value = texts(box);
    if (live && !differs(box)) return;
    for (const text of Object.values(value)) box.sent.add(text);
    if (value.text !== box.data.text) box.pace.sent(value.text);
    box.send({ ...value, live });
  };
  const submit = () => {
    timers.forEach(clearTimeout);
    box.typing = false;
    box.paused = null;
    send("");
  };
  /**
   * Submit a typed text when the box is left, and hold the click that leaves it (held_click.js).
   * @param {Node|null} next the element that receives the focus
   */
  const leave = (next) => {
    const stays = next !== null && box.root.contains(next) || box.root.getRootNode().activeElement !== null;
    if (!stays) box.paused = null;
    if (!box.typing && (stays || !texts(box).text.trim() || !differs(box))) return;
    submit();
    globalThis.dispatchEvent(new CustomEvent("headlight:left"));
  };
  const typed = (event) => {
    timers.forEach(clearTimeout);
    markOutdated(box);
    draft.keep(box.data, typedTexts(box));
    if (event?.isComposing || box.pace.isSlow() || !isLive(texts(box), box.data)) return;
    box.typing = true;
    timers[0] = setTimeout(follow, PAUSE);
    timers[1] = setTimeout(settle, SETTLED);
  };
  const goesOn = () => continues(box.fields.text.area.value, box.paused);
  /** Read the text once the answer to an earlier text is there. */
  const follow = () => {
    if (box.pace.isBusy()) timers[0] = setTimeout(follow, PAUSE);
    else if (!box.pace.isSlow()) send(goesOn() ? CONTINUES : LIVE);
  };
  /** End the burst of typing, but leave a slow text to the button. */
  const settle = () => {
    if (box.pace.isBusy()) timers[1] = setTimeout(settle, PAUSE);
    else if (!box.pace.isSlow() || !differs(box)) {
      if (goesOn()) globalThis.dispatchEvent(new CustomEvent("headlight:same-entry"));
      submit();
      box.paused = box.fields.text.area.value;
    } else box.typing = false;
  };
  return { submit, typed, leave };
}

/** Connect the box to its events; return the function that follows its typing. */
function listen(box) {
  const { submit, typed, leave } = submitting(box);
  box.read.addEventListener("click", submit);
  box.share.addEventListener("click", () => copyLink(box.share, box.data));
  for (const name of FIELDS) {
    const { area } = box.fields[name];
    area.addEventListener("keydown", (event) => {
      if (!submits(event)) return;
      event.preventDefault();
      submit();
    });
    area.addEventListener("input", typed);
    area.addEventListener("compositionend", typed);
    area.addEventListener("blur", ({ relatedTarget }) => leave(/** @type {Node|null} */ (relatedTarget)));
  }
  box.more.addEventListener("click", () => {
    box.pairOpen = true;
    show(box);
    box.fields.pair.area.focus();
  });
  box.examples.addEventListener("change", () => {
    const example = box.data.examples[Number(box.examples.value)];
    box.examples.value = "";
    if (!example) return;
    draft.forget();
    box.pairOpen = Boolean(example.pair);
    box.send({ text: example.text, pair: example.pair, target: "" });
  });
  return typed;
}
