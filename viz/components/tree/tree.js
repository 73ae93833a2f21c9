// A tree of tokens from left to right: a column for each step, a line from what was written to what may follow.
//
// What each mark means
//   solid box, blue      kept: one that the search goes on with
//   pill with a bar, green   ended: its text is complete
//   dashes, pale         dropped: looked at and left
//   thin box             another way that was tried
//   bold, accent line    the way to the current node, which has the accent's outline
//   number               the node's value; of dropped ones only where there are few rows
// Texts reach the page only through text nodes. Colours are attributes, so that a saved picture keeps them.

import { css, parseColour, readTheme, themeOf } from "../shared/colours.js";
import { createTip, h, save_as, setAttribute, setText } from "../shared/elements.js";
import { textWidth } from "../shared/labels.js";
import { brief } from "../matrices/sheet.js";
import { cut, visible } from "../shared/texts.js";
import { arrangeTree, BOX_HIGH, lineBetween, treeKey, wayTo } from "./tree_layout.js";

/** @typedef {import("./tree_layout.js").TreeNode} TreeNode */
/**
 * @typedef {object} TreeData  Made by viz/components/tree/tree.py.
 * @property {string} title
 * @property {boolean} picks          whether a node can be picked
 * @property {string} unit            what the values are
 * @property {Record<string, string>} names  what each kind is called
 * @property {string|null} current
 * @property {TreeNode[]} nodes       parents before their children
 */

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 24; // characters of a text that are shown
const ROOMY = 14; // rows up to which dropped nodes show their values
const TEXT = { size: 14, small: 11.5, pad: 8, between: 6 }; // px
const LARGEST = 16000; // px on a side of a saved PNG

/** Whether a node's value is printed. @param {TreeNode} node @param {boolean} roomy */
export const showsValue = (node, roomy) => node.value !== undefined && (roomy || node.kind !== "dropped");

/** What is said of a node, line by line. @param {TreeNode} node @param {TreeData} data */
export function toldOf(node, { unit, names }) {
  const value = node.value === undefined ? "" : `${unit} ${brief(node.value)}`.trim();
  return [visible(node.text), value, names[node.kind], node.note ?? ""].filter(Boolean);
}

/**
 * How wide a node's box is.
 * @param {TreeNode} node @param {boolean} roomy @param {(text: string, size: number) => number} measure
 */
export function boxWidth(node, roomy, measure) {
  const text = measure(cut(visible(node.text), LONGEST), TEXT.size);
  const value = showsValue(node, roomy)
    ? TEXT.between + measure(brief(/** @type {number} */ (node.value)), TEXT.small)
    : 0;
  return Math.ceil(Math.max(text + value + 2 * TEXT.pad, BOX_HIGH));
}

/** Fill, line and dashes of each kind. */
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

function svgElement(tag, attributes, ...children) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

/** The shapes of one node. @param {TreeNode} node */
function nodeShapes(node, { x, y, w }, { look, theme, roomy, bold, current }) {
  const rx = node.kind === "ended" ? BOX_HIGH / 2 : 4;
  const line = current
    ? { stroke: theme.accent, "stroke-width": 3 }
    : { stroke: look.line, "stroke-width": node.kind === "other" ? 1 : 1.5, "stroke-dasharray": look.dashes };
  const base = { y: y + 16.5, "font-size": TEXT.size };
  const shapes = [svgElement("rect", { x, y, width: w, height: BOX_HIGH, rx, fill: look.fill, ...line })];
  if (node.kind === "ended") {
    shapes.push(
      svgElement("path", { d: `M${x + w - 5.5} ${y + 6.5}v${BOX_HIGH - 13}`, stroke: look.line, "stroke-width": 2.5 }),
    );
  }
  const text = cut(visible(node.text), LONGEST);
  if (!showsValue(node, roomy)) {
    return [
      ...shapes,
      svgElement("text", {
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
    svgElement("text", { ...base, x: x + TEXT.pad, fill: look.ink, "font-weight": bold ? 700 : 400 }, text),
    svgElement("text", {
      ...base,
      x: x + w - TEXT.pad,
      "text-anchor": "end",
      fill: theme.muted,
      "font-size": TEXT.small,
    }, brief(/** @type {number} */ (node.value))),
  ];
}

/** The whole tree. @param {TreeData} data */
function picture(data, theme) {
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
    return svgElement("path", { d: lineBetween(spots[parent], spots[i]), fill: "none", ...line });
  };
  // what matters more is drawn over the rest
  const rank = (i) => (way.has(i) ? 2 : Number(data.nodes[i].kind !== "dropped"));
  const order = parents.map((_, i) => i).filter((i) => parents[i] >= 0).sort((a, b) => rank(a) - rank(b));
  const groups = data.nodes.map((node, i) =>
    svgElement(
      "g",
      { "data-i": i },
      ...nodeShapes(node, spots[i], { look: looks[node.kind], theme, roomy, bold: way.has(i), current: i === now }),
    )
  );
  const svg = svgElement(
    "svg",
    { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": theme.family },
    ...order.map(edge),
    ...groups,
  );
  return { svg, spots, parents, way, now, width, height };
}

/** As a file: on white, with its title. */
function savedPicture(data) {
  const theme = themeOf(
    false,
    [255, 255, 255],
    [30, 32, 40],
    [214, 40, 40],
    "Helvetica, Arial, 'DejaVu Sans', sans-serif",
  );
  const { svg, width, height } = picture(data, theme);
  svg.prepend(
    svgElement("title", {}, data.title),
    svgElement("rect", { width: "100%", height: "100%", fill: "#ffffff" }),
  );
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}

const fileOf = (title, kind) =>
  `headlight-${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "tree"}.${kind}`;

function saveSvg(data) {
  save_as(fileOf(data.title, "svg"), new Blob([savedPicture(data).text], { type: "image/svg+xml" }));
}

async function savePicture(data) {
  const { text, width, height } = savedPicture(data);
  const scale = Math.min(2, LARGEST / Math.max(width, height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => {
    if (blob) save_as(fileOf(data.title, "png"), blob);
  });
}

/** What the marks mean, of the kinds that are there. */
function legendOf(data, theme) {
  const there = Object.keys(data.names).filter((kind) => data.nodes.some((node) => node.kind === kind));
  const looks = looksOf(theme);
  const entry = (sample, name) =>
    h(
      "li",
      {},
      svgElement(
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
  const way = svgElement("path", { d: `M0 ${BOX_HIGH / 2}h34`, stroke: theme.accent, "stroke-width": 3 });
  return data.nodes.some((node) => node.id === data.current) ? [...kinds, entry([way], "the current way")] : kinds;
}

function createTree(root) {
  const name = h("p", { class: "strip-title" });
  const box = h("div", {
    class: "canopy",
    onclick,
    onkeydown,
    onpointerover,
    onpointerleave: () => tip.hide(),
    onfocusin,
    onfocusout: () => tip.hide(),
    onscroll: () => tip.hide(),
  });
  const legend = h("ul", { class: "marks" });
  const button = (text, act) => h("button", { type: "button", class: "plain", onclick: act }, text);
  const saves = h(
    "div",
    { class: "saves" },
    button("Save as SVG", () => data && saveSvg(data)),
    button("Save as PNG", () => data && savePicture(data)),
  );
  const el = h(
    "section",
    { class: "hl tree" },
    name,
    box,
    h("div", { class: "foot" }, legend, saves),
  );
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {TreeData} nothing until the first update */
  let data;
  /** @type {ReturnType<typeof picture>} */
  let drawn;
  let send = (_) => {};
  let [built, cursor, shown] = ["", "", /** @type {string|null} */ (null)];

  const indexOf = (event) => Number(event.target.closest?.("[data-i]")?.dataset.i ?? -1);
  const nodeAt = (i) => /** @type {SVGGElement|null} */ (box.querySelector(`[data-i="${i}"]`));

  function onclick(event) {
    const i = indexOf(event);
    if (i < 0 || !data) return;
    stop(i);
    if (data.picks) send(data.nodes[i].id);
  }
  function onkeydown(event) {
    const i = indexOf(event);
    if (i < 0 || !data || !drawn || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (data.picks) send(data.nodes[i].id);
      return;
    }
    const to = treeKey(event.key, i, drawn.parents, drawn.spots, drawn.way);
    if (to === null) return;
    event.preventDefault();
    stop(to);
    reveal(to);
    nodeAt(to)?.focus({ preventScroll: true });
  }
  function tell(i, x, y) {
    if (i < 0 || !data) return tip.hide();
    tip.show(toldOf(data.nodes[i], data), x, y);
  }
  function onpointerover(event) {
    if (event.pointerType !== "touch") tell(indexOf(event), event.clientX, event.clientY);
  }
  function onfocusin(event) {
    if (!event.target.matches(":focus-visible")) return;
    const { left, bottom } = event.target.getBoundingClientRect();
    tell(indexOf(event), left - 14, bottom - 12);
  }
  /** The node that Tab reaches. */
  function stop(i) {
    nodeAt(data.nodes.findIndex((node) => node.id === cursor))?.setAttribute("tabindex", "-1");
    cursor = data.nodes[i].id;
    nodeAt(i)?.setAttribute("tabindex", "0");
  }
  /** Scrolls the box, never the page. */
  function reveal(i) {
    const { x, y, w } = drawn.spots[i];
    const room = 24;
    if (x - room < box.scrollLeft) box.scrollLeft = x - room;
    else if (x + w + room > box.scrollLeft + box.clientWidth) box.scrollLeft = x + w + room - box.clientWidth;
    if (y < box.scrollTop || y + BOX_HIGH > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
  }
  function label(i) {
    const node = nodeAt(i);
    const { depth } = drawn.spots[i];
    const said = [...toldOf(data.nodes[i], data), i === drawn.now ? "current" : ""].filter(Boolean).join(", ");
    for (
      const [attribute, value] of Object.entries({
        role: "treeitem",
        "aria-level": depth + 1,
        "aria-selected": i === drawn.now,
        "aria-label": said,
        tabindex: -1,
        class: data.picks ? "part" : "leaf",
      })
    ) node?.setAttribute(attribute, String(value));
  }
  function draw() {
    const theme = readTheme(el);
    const held = Boolean(box.querySelector(":focus"));
    drawn = picture(data, theme);
    setAttribute(drawn.svg, "role", "tree");
    setAttribute(drawn.svg, "aria-label", data.title);
    box.replaceChildren(drawn.svg);
    data.nodes.forEach((_, i) => label(i));
    legend.replaceChildren(...legendOf(data, theme));
    const kept = data.nodes.findIndex((node) => node.id === cursor);
    const at = kept >= 0 ? kept : Math.max(drawn.now, 0);
    stop(at);
    if (held) nodeAt(at)?.focus({ preventScroll: true });
  }
  /** @param {TreeData} given @param {(id: string) => void} report */
  function update(given, report) {
    [data, send] = [given, report];
    setText(name, data.title);
    setAttribute(el, "aria-label", data.title);
    const key = JSON.stringify([given, readTheme(el).name]);
    if (key === built) return;
    built = key;
    tip.hide();
    if (shown === null || shown === cursor) cursor = given.current ?? cursor; // a reader who has walked on stays there
    draw();
    if (shown !== given.current && drawn.now >= 0) reveal(drawn.now);
    shown = given.current;
  }
  return { update };
}

/** @type {WeakMap<object, ReturnType<typeof createTree>>} */
const trees = new WeakMap();

/**
 * Streamlit calls this at the mount and again at every change of the data or the theme, with the same parent.
 * @param {{data: TreeData, parentElement: Element|ShadowRoot, setTriggerValue: (name: string, value: unknown) =>
 *   void}} component
 */
export default function tree({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#tree") ?? parentElement;
  const view = trees.get(root) ?? createTree(root);
  trees.set(root, view);
  view.update(data, (id) => setTriggerValue("picked", id));
  return () => trees.delete(root);
}
