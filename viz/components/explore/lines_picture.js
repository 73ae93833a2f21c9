// The picture of lines: two columns of tokens, and a line for each weight between them.

import { colourAt, css } from "../shared/colours.js";
import { elide, textWidth } from "../shared/labels.js";
import { cellName } from "./cells.js";
import { tileAt } from "./numbers.js";

/** @import { Cell, Facing, Pen, Print, Scale, Theme, Tile } from "./types.js" */

export const LEAST_LINE = 0.02; // weights under it are not drawn as lines; the caption states it
export const PAPER = { width: 620, step: 22 };

/** @typedef {{cells: Cell[], start: number, end: number, x: number, room: number}} Column of tokens start to end */
/** @typedef {{side: "left"|"right", index: number}} Followed a token whose lines are emphasised */
/** @typedef {{layer: number, head: number, colour: string, tile: Tile}} Lines of a single head */
/**
 * @typedef {object} LinesFigure
 * @property {Column} left
 * @property {Column} right
 * @property {string[]} names of both columns
 * @property {number} top
 * @property {number} step height of a row
 * @property {number} size font size of labels
 * @property {Scale} scale
 * @property {Theme} theme
 * @property {Lines[]} layers
 * @property {number|null} focus
 * @property {number|null} target
 * @property {Facing} facing the direction of the question
 * @property {Followed|null} emphasis
 */

/**
 * Return true if lines are coloured by sign, which needs a single head.
 * @param {Pick<LinesFigure, "theme"|"layers">} spec
 */
export const bySign = ({ theme, layers }) => theme.signed && layers.length === 1;

/** Return the colour of a sign, dark enough for a thin line. @param {Theme} theme @param {number} value */
const signColour = (theme, value) => css(colourAt(theme.ramp, value < 0 ? 48 : 207));

/** Draw two columns of tokens and the lines between them. @param {Pen} pen @param {LinesFigure} spec */
export function drawLines(pen, spec) {
  const middle = (/** @type {Column} */ side, /** @type {number} */ i) => spec.top + (i - side.start + 0.5) * spec.step;
  const strong = spec.emphasis;
  for (const pass of [false, true]) {
    for (const { tile, colour } of spec.layers) {
      for (let q = spec.left.start; q < spec.left.end; q++) {
        for (let k = spec.right.start; k < spec.right.end; k++) {
          const chosen = !strong || (strong.side === "left" ? q === strong.index : k === strong.index);
          if (chosen !== pass) continue;
          const weight = tileAt(tile, q, k)?.value ?? 0;
          const size = Math.abs(weight);
          if (size < LEAST_LINE) continue;
          const alpha = (spec.scale === "sqrt" ? Math.sqrt(size) : size) * (chosen ? 0.95 : 0.13);
          pen.curve(spec.left.x, middle(spec.left, q), spec.right.x, middle(spec.right, k), {
            stroke: bySign(spec) ? signColour(spec.theme, weight) : colour,
            width: 0.75 + 4 * size,
            alpha,
            dash: weight < 0 ? [5, 4] : [],
          });
        }
      }
    }
  }
  const name = { size: 11, fill: spec.theme.muted };
  pen.text(spec.names[0], spec.left.x - 8, 10, { ...name, align: "right" });
  pen.text(spec.names[1], spec.right.x + 8, 10, name);
  drawLineTokens(pen, spec, spec.left, "right", spec.focus);
  drawLineTokens(pen, spec, spec.right, "left", spec.target);
}

/**
 * @param {Pen} pen @param {LinesFigure} spec @param {Column} side @param {"left"|"right"} align @param {number|null}
 *   chosen
 */
function drawLineTokens(pen, spec, side, align, chosen) {
  const { theme, size, step } = spec;
  const away = align === "right" ? -8 : 8;
  for (let i = side.start; i < side.end; i++) {
    const y = spec.top + (i - side.start + 0.5) * step;
    const bold = i === chosen ||
      (spec.emphasis?.index === i && (spec.emphasis.side === "left") === (align === "right"));
    const style = {
      size,
      align,
      fill: side.cells[i].special && !bold ? theme.muted : theme.text,
      weight: bold ? 600 : 400,
    };
    const text = elide(cellName(side.cells, i), side.room, pen.font(size, style.weight));
    if (i === chosen) {
      const width = textWidth(text, pen.font(size, 600)) + 10;
      pen.rect(align === "right" ? side.x - 3 - width : side.x + 3, y - step / 2 + 1, width, step - 2, {
        stroke: theme.accent,
        width: 1.5,
        dash: (align === "right") === (spec.facing === "out") ? [] : [3, 3],
      });
    }
    pen.text(text, side.x + away, y, style);
  }
}

/**
 * Return the lines for export, with the names of their heads below them.
 * @param {LinesFigure} spec as wide as PAPER @param {(layer: number, head: number) => string} nameOf
 * @returns {Print}
 */
export function printedLines(spec, nameOf) {
  const rows = Math.max(spec.left.end - spec.left.start, spec.right.end - spec.right.start);
  const bottom = spec.top + rows * PAPER.step + 14;
  return {
    name: "lines",
    width: PAPER.width,
    height: bottom + Math.ceil(spec.layers.length / 4) * 18,
    draw: (pen) => {
      drawLines(pen, spec);
      spec.layers.forEach(({ layer, head, colour }, i) => {
        const [x, y] = [12 + (i % 4) * 152, bottom + Math.floor(i / 4) * 18];
        pen.rect(x, y - 5, 10, 10, { fill: colour });
        pen.text(nameOf(layer, head), x + 16, y, { size: 12, fill: spec.theme.text });
      });
    },
  };
}
