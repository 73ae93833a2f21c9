// A row of chips: built for the visible window, coloured and marked at every drawing, with pointer and keyboard events.
//
// The row is independent of the source of the numbers: its owner supplies each chip's look, and receives hover and pick
// events. Texts reach the page only through text nodes.

import { css, inkOn } from "../shared/colours.js";
import { h, setAttribute } from "../shared/elements.js";
import { stripKey } from "../shared/moves.js";
import { isRtl, joinedForm, visible } from "../shared/texts.js";

/**
 * @typedef {{text: string, glued?: boolean, special?: boolean, label?: string, unknown?: string, heading?:
 * string|null}} ChipText unknown: the token that replaces an unknown text
 */
/** @typedef {{rgb: number[]|null, marks: string[], pressed: boolean, name?: string}} ChipLook */
/**
 * @typedef {object} RowHooks
 * @property {(index: number, event: MouseEvent) => void} onpick
 * @property {(index: number, x: number, y: number) => void} onpoint pointer or keyboard on a chip; -1: between chips
 * @property {() => void} onleave
 * @property {(index: number) => void} onreach a key leads to this chip, which must become visible
 * @property {() => number} [onback] Escape; returns the chip that gets the keyboard
 */
/**
 * @typedef {object} RowState the contents of a row
 * @property {string} key identifies the contents; another key rebuilds the chips
 * @property {string} label label for screen readers
 * @property {number} length chips of the whole text
 * @property {number} start the window's first chip
 * @property {number} count chips in the window
 * @property {boolean} picks whether chips are buttons
 * @property {number} stop the chip that Tab reaches
 * @property {(index: number) => ChipText} chip
 * @property {(index: number) => ChipLook} look
 */

const WIDE = 200; // chips in a window on a wide page
const NARROW = 90;
const LONG = 80; // chips above which the box is lower and scrolls
const OUTSIDE = -2; // the pointer is outside of the row
const CHIP_MARKS = ["focus", "target", "masked", "removed", "right", "missed", "wrong"];

/** Return the number of visible chips. @param {number} count @param {number} width of the page's column */
export function shownAtOnce(count, width) {
  const most = width > 640 ? WIDE : NARROW;
  return count <= most * 1.25 ? count : most;
}

/**
 * Return a chip's text; subwords of an Arabic word keep their joined letter forms.
 * @param {ChipText} chip @param {boolean} open whether the next chip is a subword of the same word
 */
export const shownText = ({ text, glued }, open) => joinedForm(visible(text), Boolean(glued), open);

/** Create a row of chips. @param {RowHooks} hooks */
export function createChipRow(hooks) {
  const box = h("div", {
    class: "chips",
    onclick,
    onkeydown,
    onfocusin,
    onfocusout: hooks.onleave,
    onpointermove,
    onpointerleave,
  });
  /** @type {RowState} */
  let row = {
    key: "",
    label: "",
    length: 0,
    start: 0,
    count: 0,
    picks: false,
    stop: 0,
    chip: () => ({ text: "" }),
    look,
  };
  let built = "";
  let pointed = OUTSIDE;
  /** @type {HTMLElement|null} */
  let revealed = null;

  /** @param {Event} event */
  const chipUnder = (event) => /** @type {HTMLElement|null} */ (/** @type {Element} */ (event.target).closest(".chip"));
  /** @param {Event} event */
  const indexOf = (event) => Number(chipUnder(event)?.dataset.i ?? -1);
  /** @param {number} i */
  const nodeAt = (i) => /** @type {HTMLElement|null} */ (box.querySelector(`[data-i="${i}"]`));

  /** @returns {ChipLook} */
  function look() {
    return { rgb: null, marks: [], pressed: false };
  }
  /** @param {MouseEvent} event */
  function onclick(event) {
    const i = indexOf(event);
    if (i >= 0 && row.picks) hooks.onpick(i, event);
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const act = stripKey(event.key, indexOf(event), row.length, box.dir === "rtl");
    if (!act || (act.back && !hooks.onback) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = act.index ?? hooks.onback?.() ?? 0;
    hooks.onreach(to);
    nodeAt(to)?.focus();
  }
  /**
   * Report the chip to which the pointer moves; a chip that appears under a pointer at rest is not meant.
   * @param {PointerEvent} event
   */
  function onpointermove(event) {
    const i = indexOf(event);
    if (event.pointerType === "touch" || i === pointed) return;
    pointed = i;
    hooks.onpoint(i, event.clientX, event.clientY);
  }
  function onpointerleave() {
    pointed = OUTSIDE;
    hooks.onleave();
  }
  /** @param {FocusEvent} event */
  function onfocusin(event) {
    const chip = chipUnder(event);
    if (!chip?.matches(":focus-visible")) return;
    const { left, bottom } = chip.getBoundingClientRect();
    hooks.onpoint(indexOf(event), left - 14, bottom - 12);
  }

  /** @param {number} i */
  function node(i) {
    const { text, glued, special, label, unknown } = row.chip(i);
    const open = i + 1 < row.length && Boolean(row.chip(i + 1).glued);
    const kinds = ["chip", glued && "joined", open && "open", special && "special", (label || unknown) && "labelled"];
    const inside = h("span", { class: "text", dir: "auto" }, shownText({ text, glued }, open));
    const properties = row.picks ? { type: "button", tabindex: -1 } : { role: "listitem" };
    return h(
      row.picks ? "button" : "span",
      { ...properties, class: kinds.filter(Boolean).join(" "), "data-i": i },
      inside,
      unknown ? h("small", {}, unknown) : null,
      label ? h("small", {}, label) : null,
    );
  }
  function build() {
    const key = JSON.stringify([row.key, row.start, row.count, row.picks]);
    if (key === built) return;
    built = key;
    setAttribute(box, "role", row.picks ? "group" : "list");
    box.classList.toggle("long", row.length > LONG);
    const first = Array.from({ length: Math.min(row.length, 400) }, (_, i) => row.chip(i));
    box.dir = isRtl(first.map((chip) => (chip.special ? "" : chip.text)).join(" ")) ? "rtl" : "ltr";
    const parts = [];
    for (let i = row.start; i < row.start + row.count; i++) {
      const { heading } = row.chip(i);
      if (heading) parts.push(h("span", { class: i === row.start ? "segment first" : "segment" }, heading));
      parts.push(node(i));
    }
    box.replaceChildren(...parts);
  }
  function colour() {
    for (const chip of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".chip"))) {
      const i = Number(chip.dataset.i);
      const { rgb, marks, pressed, name } = row.look(i);
      chip.style.backgroundColor = rgb ? css(rgb) : "";
      chip.style.color = rgb ? inkOn(rgb) : "";
      for (const mark of CHIP_MARKS) chip.classList.toggle(mark, marks.includes(mark));
      if (name !== undefined) setAttribute(chip, "aria-label", name);
      if (!row.picks) continue;
      setAttribute(chip, "aria-pressed", pressed);
      const tab = i === row.stop ? 0 : -1;
      if (chip.tabIndex !== tab) chip.tabIndex = tab;
    }
  }
  return {
    el: box,
    /** @param {RowState} next */
    draw(next) {
      row = next;
      setAttribute(box, "aria-label", row.label);
      build();
      colour();
    },
    /** Return a chip, or null if it is outside the window or scrolled out of view. @param {number} i */
    visibleChip(i) {
      const chip = nodeAt(i);
      const middle = chip ? chip.offsetTop + chip.offsetHeight / 2 - box.scrollTop : -1;
      return middle >= 0 && middle <= box.clientHeight ? chip : null;
    },
    /** Scroll the box to a chip, once for each built chip. @param {number} i */
    reveal(i) {
      const chip = nodeAt(i);
      if (!chip || chip === revealed) return;
      revealed = chip;
      const [top, bottom] = [chip.offsetTop, chip.offsetTop + chip.offsetHeight];
      if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
    },
  };
}
