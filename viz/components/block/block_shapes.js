// Shapes of the model diagram.
//
// Meaning of each mark:
//   box        a part, coloured by its role; ⊕ is an addition; the frame is a layer
//   line       data flow, from top to bottom; the thin line round a part is the residual connection
//   outline    in the accent colour: the explained part
// Texts reach the page only through text nodes. Colours are attributes, so that a saved drawing keeps them.

import { s } from "../shared/svg.js";

/**
 * @typedef {object} Shape  Made by viz/components/block/block.py; each kind has some of the fields.
 * @property {string} kind
 * @property {string} id
 * @property {string} role
 * @property {string[]} title
 * @property {string[]} notes
 * @property {string} text
 * @property {string} anchor
 * @property {boolean} arrow
 * @property {number[]} points
 * @property {boolean[][]} rows
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {number} r
 * @property {number} size
 */

const HEAD = 7; // length of an arrowhead

/** Fill and outline colour of each role; the hues are those of HEAD_COLOURS in colours.js. */
export const ROLES = {
  light: {
    embedding: ["#dff3ea", "#009e73"],
    attention: ["#dbeaf6", "#0072b2"],
    "cross-attention": ["#f6e4ef", "#b0588a"],
    "feed-forward": ["#fbe6d6", "#d55e00"],
    norm: ["#ececf0", "#8c8c8c"],
    head: ["#e9e1f6", "#7a4fbf"],
    other: ["#f7f7f7", "#8c8c8c"],
  },
  dark: {
    embedding: ["#123a2f", "#2fc79a"],
    attention: ["#14324a", "#56b4e9"],
    "cross-attention": ["#43243a", "#e39cc4"],
    "feed-forward": ["#46300c", "#e69f00"],
    norm: ["#2b2d36", "#b5b5b5"],
    head: ["#30264a", "#b79cf2"],
    other: ["#22242c", "#b5b5b5"],
  },
};

/** Return the three corners of the arrowhead at a line's end. @param {number[][]} points */
export function arrowhead(points) {
  const [[x0, y0], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - x0, y - y0) || 1;
  const [dx, dy] = [((x - x0) / length) * HEAD, ((y - y0) / length) * HEAD];
  return [[x, y], [x - dx - dy / 2, y - dy + dx / 2], [x - dx + dy / 2, y - dy - dx / 2]];
}

const path = (points) => points.map(([x, y]) => `${x},${y}`).join(" ");

/** A function for each kind of shape; it returns SVG elements. */
export const DRAWN = {
  box(shape, look) {
    const [fill, stroke] = look.roles[shape.role] ?? look.roles.other;
    const middle = shape.x + shape.w / 2;
    const line = (text, row, strong) =>
      s("text", {
        x: middle,
        y: shape.y + 20 + 17 * row,
        "text-anchor": "middle",
        fill: look.text,
        "font-size": strong ? 14 : 12,
        "font-weight": strong ? 600 : 400,
      }, text);
    return [
      s("rect", { x: shape.x, y: shape.y, width: shape.w, height: shape.h, rx: 6, fill, stroke, "stroke-width": 1.5 }),
      ...shape.title.map((text, i) => line(text, i, true)),
      ...shape.notes.map((note, i) => line(note, i + shape.title.length, false)),
    ];
  },
  add(shape, look) {
    const arm = shape.r - 5;
    return [
      s("circle", {
        cx: shape.x,
        cy: shape.y,
        r: shape.r,
        fill: look.background,
        stroke: look.text,
        "stroke-width": 1.5,
      }),
      s("path", {
        d: `M${shape.x - arm} ${shape.y}h${2 * arm}M${shape.x} ${shape.y - arm}v${2 * arm}`,
        stroke: look.text,
        "stroke-width": 1.5,
      }),
    ];
  },
  line(shape, look) {
    const colour = shape.role === "memory" ? look.roles["cross-attention"][1] : look.line;
    const line = s("polyline", {
      points: path(shape.points),
      fill: "none",
      stroke: colour,
      "stroke-width": shape.role === "residual" ? 1.25 : 1.75,
    });
    return shape.arrow ? [line, s("polygon", { points: path(arrowhead(shape.points)), fill: colour })] : [line];
  },
  cells(shape, look) {
    const cell = (seen, row, column) =>
      s("rect", {
        x: shape.x + column * shape.size,
        y: shape.y + row * shape.size,
        width: shape.size,
        height: shape.size,
        fill: seen ? look.roles[shape.role][1] : look.background,
        stroke: look.roles[shape.role][0],
      });
    return shape.rows.flatMap((keys, row) => keys.map((seen, column) => cell(seen, row, column)));
  },
  frame(shape, look) {
    return [
      s("rect", {
        x: shape.x,
        y: shape.y,
        width: shape.w,
        height: shape.h,
        rx: 10,
        fill: "none",
        stroke: look.line,
        "stroke-dasharray": "5 4",
      }),
      s("text", { x: shape.x + 4, y: shape.y - 6, fill: look.text, "font-size": 14, "font-weight": 600 }, shape.text),
    ];
  },
  text(shape, look) {
    const strong = shape.role === "title";
    return [
      s("text", {
        x: shape.x,
        y: shape.y,
        "text-anchor": shape.anchor,
        fill: look.text,
        "font-size": strong ? 15 : 12.5,
        "font-weight": strong ? 600 : 400,
      }, shape.text),
    ];
  },
};
