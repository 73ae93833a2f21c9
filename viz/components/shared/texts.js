// Tokens and tables as text: what is invisible made visible, what a spreadsheet would run made harmless.

const BIDI = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g; // would reorder the page around the token
export const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const JOINING = /[\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff]/; // scripts whose letters join: Arabic and its kin
const HAN = "\\u2e80-\\u2fff\\u3040-\\u9fff\\uf900-\\ufaff"; // Chinese characters, between which a line may break
const PARTS = new RegExp(`[（《“‘]*[${HAN}][、。，：；？！）》”’]*\\s*|[^\\s${HAN}]+\\s*|\\s+`, "gu");
export const PIECE = "##"; // before a piece that goes on with the word of the piece before it
export const BYTE = "<0x"; // so begins what a vocabulary calls a piece that is a part of a character

/** A token's text with nothing invisible in it. @param {string} text */
export function visible(text) {
  if (text === "") return "∅";
  const marked = text.replace(/\r?\n/g, "⏎").replace(/\t/g, "⇥");
  const named = marked.replace(BIDI, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  return named.trim() === "" ? "␣".repeat(Math.min(named.length, 3)) : named.trim();
}

/**
 * A piece of a word with the letter forms that it has inside the word.
 * @param {string} text @param {boolean} after @param {boolean} before
 */
export function joinedForm(text, after, before) {
  if (!JOINING.test(text)) return text;
  const joiner = "\u200d";
  return (after ? joiner : "") + text + (before ? joiner : "");
}

/** @param {string} text */
export const isRtl = (text) => {
  const first = /[A-Za-z\u00c0-\u02af\u0370-\u058f]|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.exec(text)?.[0];
  return Boolean(first && RTL.test(first));
};

/**
 * A text in parts after which a line may end: words with the space behind them, and Chinese characters, each with the
 * marks that stay with it.
 * @param {string} text
 */
export const breakable = (text) => text.match(PARTS) ?? [];

/** @param {string} text @param {number} most */
export const cut = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

/** Return the text with an apostrophe before a spreadsheet's formula. @param {string} text */
export const safeCell = (text) => (/^[=+\-@\t].+/s.test(text) ? `'${text}` : text);

/** One CSV field: quoted where needed, and never a spreadsheet formula. @param {unknown} value */
export function csvField(value) {
  if (typeof value === "number") return String(value);
  const text = safeCell(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** @param {unknown[][]} rows */
export const csv = (rows) => rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";

/**
 * What a file is called, without its ending: by its title's letters and digits, or where there are none by what it
 * holds.
 * @param {string} title @param {string} what
 */
export const fileStem = (title, what) =>
  `headlight-${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || what}`;

/** The same with its ending. @param {string} title @param {string} what @param {string} ending */
export const fileName = (title, what, ending) => `${fileStem(title, what)}.${ending}`;
