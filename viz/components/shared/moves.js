// Keyboard navigation in a row of chips and in a matrix, and the window of chips in a long text.

import { clamp } from "./colours.js";

/** Return the action of a key in the strip: {index}, {back} or null. */
export function stripKey(key, index, count, rtl) {
  if (key === "Escape") return { back: true };
  const step = { ArrowLeft: rtl ? 1 : -1, ArrowRight: rtl ? -1 : 1, ArrowUp: -1, ArrowDown: 1 }[key];
  if (step) return { index: clamp(index + step, 0, count - 1) };
  if (key === "Home") return { index: 0 };
  if (key === "End") return { index: count - 1 };
  return null;
}

/** Return the start of a window of `size` tokens that contains `index`; it moves only if necessary. */
export function windowOn(index, start, size, count) {
  const last = Math.max(0, count - size);
  if (index === null || (index >= start && index < start + size)) return clamp(start, 0, last);
  return clamp(Math.round(index - size / 2), 0, last);
}

export const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Return the cell that a key leads to in rows q0..q1 and columns k0..k1, or null. */
export function cellKey(key, { row, col }, { q0, q1, k0, k1 }) {
  const step = ARROWS[key];
  if (step) return { row: clamp(row + step[0], q0, q1 - 1), col: clamp(col + step[1], k0, k1 - 1) };
  return {
    Home: { row, col: k0 },
    End: { row, col: k1 - 1 },
    PageUp: { row: q0, col },
    PageDown: { row: q1 - 1, col },
  }[key] ?? null;
}
