// SVG elements; their colours are attributes, so that saved drawings keep them.

export const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an SVG element; strings become text.
 * @param {string} tag @param {Record<string, unknown>} attributes @param {...(Node|string)} children
 * @returns {SVGElement}
 */
export function s(tag, attributes, ...children) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}
