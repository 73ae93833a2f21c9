// Elements of a lesson's text, from the tree of lessons/markup.py. Only the tags below are made.

/** @typedef {string|[string, ...unknown[]]} Markup a text, or a tag and its children */

const PLAIN = ["p", "ul", "ol", "li", "strong", "em", "code", "h4", "table", "thead", "tbody", "tr", "th", "td"];
const MATH = ["math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msqrt", "mfrac"];
const MATH_SPACE = "http://www.w3.org/1998/Math/MathML";

/**
 * Return the nodes of a tree; a tag that is not known becomes its children's text.
 * @param {Markup[]} tree @returns {Node[]}
 */
export function nodesOf(tree) {
  return tree.map((node) => {
    if (typeof node === "string") return document.createTextNode(node);
    const [tag, ...rest] = node;
    if (tag === "mspace") {
      const space = document.createElementNS(MATH_SPACE, tag);
      space.setAttribute("width", String(rest[0]));
      return space;
    }
    const children = nodesOf(/** @type {Markup[]} */ (rest));
    const el = PLAIN.includes(tag)
      ? document.createElement(tag)
      : MATH.includes(tag)
      ? document.createElementNS(MATH_SPACE, tag)
      : document.createDocumentFragment();
    el.append(...children);
    if (tag === "mo") /** @type {Element} */ (el).setAttribute("stretchy", "false");
    return el;
  });
}

/** Return the text of a tree, a line for each block. @param {Markup[]} tree @returns {string} */
export function textOfTree(tree) {
  const inner = (/** @type {Markup} */ node) =>
    typeof node === "string" ? node : textOfTree(/** @type {Markup[]} */ (node.slice(1)));
  const isBlock = (/** @type {Markup} */ node) => ["p", "ul", "ol", "li", "h4", "tr", "table"].includes(node[0]);
  return tree.map((node) => (typeof node !== "string" && isBlock(node) ? `${inner(node)}\n` : inner(node))).join("");
}
