// The search for pages, settings and terms. Ctrl+K, ⌘K or the button opens it; the arrow keys move, Enter picks and
// Escape closes. The explanation of a term is shown in the list; picking the term opens the view that shows it.

import { TOGGLE } from "../shared/projector_event.js";
import { _, speak } from "../shared/words.js";

/**
 * @typedef {object} PaletteEntry
 * @property {string} id what is sent if the entry is picked; "" if it only informs
 * @property {"page"|"setting"|"help"|"term"} kind
 * @property {string} title
 * @property {string} note
 * @property {string} [aliases] further words that find the entry, in English
 */
/**
 * @typedef {object} PaletteData Made by viz/components/palette/palette.py.
 * @property {PaletteEntry[]} entries
 * @property {Record<string, string>} [words]
 */

const PROJECTOR = "projector"; // id of the entry that the browser carries out itself
const MOST = 12; // Maximum number of entries in the list.

/** Return a text in lower case without accents. @param {string} text */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Return the rank of an entry for the typed words, smaller for better; Infinity if a word is missing.
 * @param {PaletteEntry} entry @param {string[]} words
 */
export function rank(entry, words) {
  const title = plain(entry.title);
  const all = `${title} ${plain(entry.note)} ${plain(entry.aliases ?? "")}`;
  let sum = entry.kind === "help" || entry.kind === "term" ? 2 : 0; // pages and settings come before equal terms
  for (const word of words) {
    const at = title.indexOf(word);
    if (at < 0 && !all.includes(word)) return Infinity;
    const starts = at === 0 || (at > 0 && /[^\p{L}\p{N}]/u.test(title[at - 1]));
    sum += at < 0 ? 8 : starts ? (at === 0 ? 0 : 1) : 4;
  }
  return sum;
}

/**
 * Return the entries for a typed text, best first; entries of equal rank keep their order.
 * @param {PaletteEntry[]} entries @param {string} typed
 */
export function matching(entries, typed) {
  const words = plain(typed).split(/\s+/).filter(Boolean);
  const ranked = entries.map((entry) => ({ entry, at: rank(entry, words) })).filter(({ at }) => at < Infinity);
  return ranked.sort((a, b) => a.at - b.at).slice(0, MOST).map(({ entry }) => entry);
}

/**
 * Return true if a key press opens the search.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean}} event
 */
export function opens(event) {
  return event.key.toLowerCase() === "k" && event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey;
}

/** @param {string} tag @param {object} properties @param {(Node|string)[]} children */
function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The elements of the search, and what it shows. */
function build() {
  const input = /** @type {HTMLInputElement} */ (make("input", { type: "search", id: "search", autocomplete: "off" }));
  const list = make("ul", { id: "found" });
  const nothing = make("p", { className: "note", hidden: true });
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", {}, input, list, nothing));
  const button = /** @type {HTMLButtonElement} */ (make("button", { type: "button", className: "open" }));
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", "found");
  input.setAttribute("aria-expanded", "true");
  list.setAttribute("role", "listbox");
  return { input, list, nothing, dialog, button };
}

class Palette {
  constructor() {
    const { input, list, nothing, dialog, button } = build();
    this.input = input;
    this.list = list;
    this.nothing = nothing;
    this.dialog = dialog;
    this.button = button;
    /** @type {PaletteEntry[]} */
    this.shown = [];
    this.at = 0;
    /** @type {(id: string) => void} */
    this.send = () => {};
    /** @type {PaletteEntry[]} */
    this.entries = [];
    this.listen();
  }

  name() {
    this.button.replaceChildren(
      _("Search"),
      make("kbd", { textContent: /Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K" }),
    );
    this.button.title = _("Find pages, settings, terms.");
    this.input.placeholder = _("Page, setting or term");
    for (const el of [this.input, this.dialog]) el.setAttribute("aria-label", _("Find pages, settings, terms."));
    this.list.setAttribute("aria-label", _("Results"));
    this.nothing.textContent = _("Nothing matches.");
  }

  listen() {
    this.button.addEventListener("click", () => this.open());
    this.input.addEventListener("input", () => this.draw());
    this.input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        this.mark(this.at + step);
      } else if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault(); // Enter would also press the button that gets the focus
        this.pick(this.at);
      }
    });
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  open() {
    if (this.dialog.open) return;
    this.input.value = "";
    this.draw();
    this.dialog.showModal();
    this.input.focus();
  }

  draw() {
    this.shown = matching(this.entries, this.input.value);
    const kinds = { page: _("Page"), setting: _("Setting"), help: _("Help"), term: _("Glossary") };
    const rows = this.shown.map((entry, n) => {
      const title = make("span", { className: "title", textContent: entry.title });
      const kind = make("span", { className: "kind", textContent: kinds[entry.kind] });
      const note = make("span", { className: "note", textContent: entry.note, hidden: !entry.note });
      const row = make("li", { id: `entry-${n}` }, title, kind, note);
      row.setAttribute("role", "option");
      row.addEventListener("click", () => this.pick(n));
      row.addEventListener("pointermove", () => this.mark(n));
      return row;
    });
    this.list.replaceChildren(...rows);
    this.nothing.hidden = rows.length > 0;
    this.mark(0);
  }

  /** Mark an entry; the list is a circle. @param {number} at */
  mark(at) {
    const rows = [...this.list.children];
    this.at = rows.length ? (at + rows.length) % rows.length : 0;
    rows.forEach((row, n) => row.setAttribute("aria-selected", String(n === this.at)));
    rows[this.at]?.scrollIntoView({ block: "nearest" });
    if (rows.length) this.input.setAttribute("aria-activedescendant", `entry-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} at */
  pick(at) {
    const entry = this.shown[at];
    if (!entry?.id) return;
    this.dialog.close();
    if (entry.id === PROJECTOR) document.dispatchEvent(new Event(TOGGLE));
    else this.send(entry.id);
  }
}

/** @type {WeakMap<Element|ShadowRoot, Palette>} */
const palettes = new WeakMap();
/** @type {(() => void)|null} */
let unlisten = null;

/**
 * Entry point for Streamlit.
 * @param {{data: PaletteData, parentElement: Element|ShadowRoot,
 *   setTriggerValue: (name: string, value: string) => void}} component
 */
export default function ({ data, parentElement, setTriggerValue }) {
  speak(data.words);
  const root = parentElement.querySelector("#palette") ?? parentElement;
  const palette = palettes.get(root) ?? new Palette();
  if (!palettes.has(root)) {
    root.replaceChildren(palette.button, palette.dialog);
    palettes.set(root, palette);
  }
  palette.entries = data.entries;
  palette.send = (id) => setTriggerValue("picked", id);
  palette.name();
  unlisten?.();
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!opens(event)) return;
    event.preventDefault();
    palette.open();
  };
  document.addEventListener("keydown", pressed);
  unlisten = () => document.removeEventListener("keydown", pressed);
}
