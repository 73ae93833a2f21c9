// Tokens, shares and tables as text: invisible characters are made visible, spreadsheet formulas are neutralised.

const BIDI = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g; // marks that would reorder the text around the token
export const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const JOINING = /[\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff]/; // scripts with joining letters: Arabic and related scripts
const HAN = "\\u2e80-\\u2fff\\u3040-\\u9fff\\uf900-\\ufaff"; // Chinese characters, between which a line may break
const PARTS = new RegExp(`[（《“‘]*[${HAN}][、。，：；？！）》”’]*\\s*|[^\\s${HAN}]+\\s*|\\s+`, "gu");
export const PIECE = "##"; // prefix of a subword that continues the previous token's word
export const BYTE = "<0x"; // prefix of a byte token, which is a part of a character

/** Format a share of attention for a sentence; small shares keep a digit instead of 0%. @param {number} share */
export function percent(share) {
  const parts = 100 * share;
  if (parts > 0 && parts < 0.95) return parts < 0.05 ? "<0.1%" : `${parts.toFixed(1)}%`;
  return `${Math.round(parts)}%`;
}

/** Format a share with a decimal, for sums whose whole percents would disagree. @param {number} share */
export const finePercent = (share) => `${(100 * share).toFixed(1)}%`;

/** Return the number of percentage points of a difference that is formatted in percent. @param {string} text */
export const points = (text) => text.replace("%", "");

/** Return a token's text with its invisible characters made visible. @param {string} text */
export function visible(text) {
  if (text === "") return "∅";
  const marked = text.replace(/\r?\n/g, "⏎").replace(/\t/g, "⇥");
  const named = marked.replace(BIDI, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  return named.trim() === "" ? "␣".repeat(Math.min(named.length, 3)) : named.trim();
}

/**
 * Return a subword with the letter forms that it has inside the word.
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
 * Split a text after each possible line break: words with the space after them, and Chinese characters with their
 * punctuation marks.
 * @param {string} text
 */
export const breakable = (text) => text.match(PARTS) ?? [];

/** @param {string} text @param {number} most */
export const cut = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

/** Return the text with an apostrophe before a spreadsheet's formula. @param {string} text */
export const safeCell = (text) => (/^[=+\-@\t].+/s.test(text) ? `'${text}` : text);

/** Return a CSV field: quoted if necessary, and never a spreadsheet formula. @param {unknown} value */
export function csvField(value) {
  if (typeof value === "number") return String(value);
  const text = safeCell(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** @param {unknown[][]} rows */
export const csv = (rows) => rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";

/**
 * Return a file name without its suffix: the letters and digits of the title, or `what` if there are none.
 * @param {string} title @param {string} what
 */
export const fileStem = (title, what) =>
  `headlight-${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || what}`;

/** Return a file name with its suffix. @param {string} title @param {string} what @param {string} ending */
export const fileName = (title, what, ending) => `${fileStem(title, what)}.${ending}`;
