// Tables for spreadsheets and pandas: unique column names, and a zip of a table and its provenance.

import { save_as } from "./elements.js";
import { csv, safeCell } from "./texts.js";

const NOTES = [
  "an apostrophe before = + - @ keeps a spreadsheet from reading a token as a formula",
  "pandas reads NA and null as missing, unless keep_default_na=False",
];
const EARLIEST = 0x21; // 1 January 1980 in the date format of a zip: equal content gives equal bytes
const CHECKS = Uint32Array.from({ length: 256 }, (_, n) => {
  let check = n;
  for (let bit = 0; bit < 8; bit++) check = check & 1 ? (check >>> 1) ^ 0xedb88320 : check >>> 1;
  return check;
});

/**
 * Return the names unique and not empty, as pandas keeps them: the second "the" becomes "the#2".
 * @param {string[]} names
 */
export function columnNames(names) {
  const cells = names.map((name) => safeCell(String(name)) || "(empty)");
  const taken = new Set(cells);
  /** @type {Map<string, number>} */
  const found = new Map();
  return cells.map((cell) => {
    let number = (found.get(cell) ?? 0) + 1;
    let name = cell;
    if (number > 1) {
      while (taken.has(name = `${cell}#${number}`)) number++;
      taken.add(name);
    }
    found.set(cell, number);
    return name;
  });
}

/**
 * Return a file name without its ending: the table's name, the model, the head and the text.
 * @param {string} table @param {Record<string, unknown>} about
 */
export function fileStemOf(table, about) {
  const model = String(about.model ?? about["model, first"] ?? "").replace(/[/\\]+$/, "").split(/[/\\]/).at(-1) ?? "";
  const text = shortSlug(String(about.text ?? about["text, first"] ?? "").toLowerCase());
  const place = about.layer === undefined || about.head === undefined ? "" : `${about.layer}-${about.head}`;
  return [slug(table, 40), slug(model, 40), place, text].filter(Boolean).join("_").slice(0, 100);
}

/** Return the slug of a text, or of its first and last words if it is longer than 24. @param {string} text */
function shortSlug(text) {
  const most = 24, half = most / 2;
  const first = [...slug(text, most + 1)];
  if (first.length <= most) return first.join("");
  const start = first.slice(0, half).join("");
  const end = [...slug(text.slice(-10 * most), 10 * most)].slice(-half).join("");
  return `${start.replace(/-[^-]*$/, "")}--${end.replace(/^[^-]*-/, "") || end}`;
}

/** @param {string} text @param {number} most characters */
const slug = (text, most) => {
  const plain = text.slice(0, 10 * most).replace(/[^\p{L}\p{M}\p{N}.]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "");
  return [...plain].slice(0, most).join("");
};

/**
 * Save the table and its provenance in a zip file.
 * @param {string} name @param {string} table as CSV @param {Record<string, unknown>} about
 */
export function saveTable(name, table, about) {
  const stem = fileStemOf(name, about);
  const meta = { table: `${stem}.csv`, ...about, notes: NOTES };
  const files = { [`${stem}.csv`]: `\ufeff${table}`, [`${stem}.meta.json`]: `${JSON.stringify(meta, null, 2)}\n` };
  save_as(`${stem}.zip`, new Blob([zip(files)], { type: "application/zip" }));
}

/** Return a table whose column names are unique. @param {string[]} names @param {unknown[][]} rows */
export const tableOf = (names, rows) => csv([columnNames(names), ...rows]);

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let check = 0xffffffff;
  for (const byte of bytes) check = CHECKS[(check ^ byte) & 255] ^ (check >>> 8);
  return (check ^ 0xffffffff) >>> 0;
}

/** Return a zip of texts in UTF-8, not compressed. @param {Record<string, string>} files texts by name */
export function zip(files) {
  const encoder = new TextEncoder();
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const bodies = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const directory = [];
  let at = 0;
  for (const [title, text] of Object.entries(files)) {
    const [name, body] = [encoder.encode(title), encoder.encode(text)];
    const common = [
      [2, 20],
      [2, 0x800],
      [2, 0],
      [2, 0],
      [2, EARLIEST],
      [4, crc32(body)],
      [4, body.length],
      [4, body.length],
      [2, name.length],
      [2, 0],
    ];
    const local = fields([[4, 0x04034b50], ...common]);
    const central = fields([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]);
    bodies.push(local, name, body);
    directory.push(central, name);
    at += local.length + name.length + body.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = directory.length / 2;
  const end = fields([[4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0]]);
  return concat([...bodies, ...directory, end]);
}

/** Return numbers as little-endian bytes. @param {number[][]} sized (bytes, number) */
const fields = (sized) =>
  Uint8Array.from(sized.flatMap(([size, number]) => Array.from({ length: size }, (_, i) => (number / 256 ** i) & 255)));

/** @param {Uint8Array<ArrayBuffer>[]} parts */
function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
