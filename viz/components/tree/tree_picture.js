// The drawing of a tree of tokens: a column for each step, and a line from a token to its continuations.
//
// Meaning of each mark:
//   solid box, blue      kept: the search continues from it
//   pill with a bar, green   ended: its text is complete
//   dashes, pale         dropped: considered and abandoned
//   thin box             another continuation that was tried
//   bold, accent line    the path to the current node, which has an accent outline
//   number               the node's value; dropped nodes show it only if there are few rows
// Texts reach the page only through text nodes. Colours are attributes, so that a saved picture keeps them.

import { css, parseColour } from "../shared/colours.js";
import { h } from "../shared/elements.js";
import { s, SVG } from "../shared/svg.js";
import { textWidth } from "../shared/labels.js";
import { brief } from "../matrices/sheet.js";
import { cut, visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { arrangeTree, BOX_HIGH, lineBetween, wayTo } from "./tree_layout.js";

/** @typedef {import("./tree_layout.js").TreeNode} TreeNode */
/**
 * @typedef {object} TreeData Made by viz/components/tree/tree.py.
 * @property {string} title
 * @property {boolean} picks whether a node can be picked
 * @property {string} unit unit of the values
 * @property {Record<string, string>} names name of each kind
 * @property {string|null} current
 * @property {TreeNode[]} nodes parents before their children
 * @property {Record<string, string>} [words]
 */

const LONGEST = 24; // characters of a node's visible text
const ROOMY = 14; // rows up to which dropped nodes show their values
const TEXT = { size: 14, small: 11.5, pad: 8, between: 6 }; // px

/** Return true if a node's value is printed. @param {TreeNode} node @param {boolean} roomy */
export const showsValue = (node, roomy) => node.value !== undefined && (roomy || node.kind !== "dropped");

/** Return the lines of a node's tooltip. @param {TreeNode} node @param {TreeData} data */
export function toldOf(node, { unit, names }) {
  const value = node.value === undefined ? "" : `${unit} ${brief(node.value)}`.trim();
  return [visible(node.text), value, names[node.kind], node.note ?? ""].filter(Boolean);
}

/**
 * Return the width of a node's box.
 * @param {TreeNode} node @param {boolean} roomy @param {(text: string, size: number) => number} measure
 */
export function boxWidth(node, roomy, measure) {
  const text = measure(cut(visible(node.text), LONGEST), TEXT.size);
  const value = showsValue(node, roomy)
    ? TEXT.between + measure(brief(/** @type {number} */ (node.value)), TEXT.small)
    : 0;
  return Math.ceil(Math.max(text + value + 2 * TEXT.pad, BOX_HIGH));
}

/** Return fill, line and dashes of each kind. */
function looksOf(theme) {
  const ground = /** @type {number[]} */ (parseColour(theme.background));
  const soft = (hex) =>
    css(/** @type {number[]} */ (parseColour(hex)).map((channel, i) => Math.round(0.16 * channel + 0.84 * ground[i])));
  const [blue, , green] = theme.heads;
  return {
    kept: { fill: soft(blue), line: blue, dashes: "none", ink: theme.text },
    ended: { fill: soft(green), line: green, dashes: "none", ink: theme.text },
    dropped: { fill: theme.background, line: theme.muted, dashes: "3 3", ink: theme.muted },
    other: { fill: theme.background, line: theme.muted, dashes: "none", ink: theme.text },
  };
}

/** Return the shapes of a node. @param {TreeNode} node */
function nodeShapes(node, { x, y, w }, { look, theme, roomy, bold, current }) {
  const rx = node.kind === "ended" ? BOX_HIGH / 2 : 4;
  const line = current
    ? { stroke: theme.accent, "stroke-width": 3 }
    : { stroke: look.line, "stroke-width": node.kind === "other" ? 1 : 1.5, "stroke-dasharray": look.dashes };
  const base = { y: y + 16.5, "font-size": TEXT.size };
  const shapes = [s("rect", { x, y, width: w, height: BOX_HIGH, rx, fill: look.fill, ...line })];
  if (node.kind === "ended") {
    shapes.push(
      s("path", { d: `M${x + w - 5.5} ${y + 6.5}v${BOX_HIGH - 13}`, stroke: look.line, "stroke-width": 2.5 }),
    );
  }
  const text = cut(visible(node.text), LONGEST);
  if (!showsValue(node, roomy)) {
    return [
      ...shapes,
      s("text", {
        ...base,
        x: x + w / 2,
        "text-anchor": "middle",
        fill: look.ink,
        "font-weight": bold ? 700 : 400,
      }, text),
    ];
  }
  return [
    ...shapes,
    s("text", { ...base, x: x + TEXT.pad, fill: look.ink, "font-weight": bold ? 700 : 400 }, text),
    s("text", {
      ...base,
      x: x + w - TEXT.pad,
      "text-anchor": "end",
      fill: theme.muted,
      "font-size": TEXT.small,
    }, brief(/** @type {number} */ (node.value))),
  ];
}

/** Return the whole tree. @param {TreeData} data */
export function picture(data, theme) {
  const roomy = arrangeTree(data.nodes, () => 0).rows <= ROOMY;
  const measure = (text, size) => textWidth(text, `700 ${size}px ${theme.family}`);
  const { spots, width, height } = arrangeTree(data.nodes, (node) => boxWidth(node, roomy, measure));
  const parents = data.nodes.map((node) => node.parent);
  const now = data.nodes.findIndex((node) => node.id === data.current);
  const way = wayTo(parents, now);
  const looks = looksOf(theme);
  const edge = (i) => {
    const { kind, parent } = data.nodes[i];
    const line = way.has(i)
      ? { stroke: theme.accent, "stroke-width": 3 }
      : { stroke: looks[kind].line, "stroke-width": 1.25, "stroke-dasharray": looks[kind].dashes };
    return s("path", { d: lineBetween(spots[parent], spots[i]), fill: "none", ...line });
  };
  // important lines are drawn over others
  const rank = (i) => (way.has(i) ? 2 : Number(data.nodes[i].kind !== "dropped"));
  const order = parents.map((_, i) => i).filter((i) => parents[i] >= 0).sort((a, b) => rank(a) - rank(b));
  const groups = data.nodes.map((node, i) =>
    s(
      "g",
      { "data-i": i },
      ...nodeShapes(node, spots[i], { look: looks[node.kind], theme, roomy, bold: way.has(i), current: i === now }),
    )
  );
  const svg = s(
    "svg",
    { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": theme.family },
    ...order.map(edge),
    ...groups,
  );
  return { svg, spots, parents, way, now, width, height };
}

/** Return the legend of the kinds in the tree. */
export function legendOf(data, theme) {
  const named = /** @type {TreeNode["kind"][]} */ (Object.keys(data.names));
  const there = named.filter((kind) => data.nodes.some((node) => node.kind === kind));
  const looks = looksOf(theme);
  const entry = (sample, name) =>
    h(
      "li",
      {},
      s(
        "svg",
        { width: 34, height: BOX_HIGH, viewBox: `-2 -2 38 ${BOX_HIGH + 4}`, "aria-hidden": "true" },
        ...sample,
      ),
      name,
    );
  const kinds = there.map((kind) =>
    entry(
      nodeShapes({ id: "", parent: -1, text: "a", kind }, { x: 0, y: 0, w: 34 }, {
        look: looks[kind],
        theme,
        roomy: false,
        bold: false,
        current: false,
      }),
      data.names[kind],
    )
  );
  const way = s("path", { d: `M0 ${BOX_HIGH / 2}h34`, stroke: theme.accent, "stroke-width": 3 });
  return data.nodes.some((node) => node.id === data.current) ? [...kinds, entry([way], _("highlighted path"))] : kinds;
}
