// Helpers to build DOM elements. Texts reach the page only through text nodes.

import { clamp } from "./colours.js";

/**
 * The argument of a component's script, at the mount and at every change of the data or the theme.
 * @template Data
 * @typedef {object} Component
 * @property {Data} data
 * @property {Element|ShadowRoot} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/** @typedef {(event: never) => void} Listener of any event type */

/**
 * Create an element; strings become text nodes, on… properties become listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, Listener|string|number|boolean|null|undefined>} [properties]
 * @param {...(Node|string|null)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") el.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  el.append(...children.filter((child) => child !== null));
  return el;
}

// Fields in which a visitor types text.
export const TEXT_FIELDS = "textarea, input:not([type=checkbox], [type=radio], [type=range], [type=file])";

/** Return the focused element, also if it is in a shadow root. @param {Document} page */
export function focusedElement(page) {
  let found = page.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

let named = 0;

/** Return an id that is unique on the page. @param {string} name */
export const freshId = (name) => `${name}-${++named}`;

/** Change a text only if it differs, so that screen readers announce it once. @param {Node} el @param {string} text */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/** @param {Element} el @param {string} name @param {unknown} value */
export function setAttribute(el, name, value) {
  if (el.getAttribute(name) !== String(value)) el.setAttribute(name, String(value));
}

/**
 * Return the size of an element's pixel in pixels of the window: 1.6 in the projector view, else 1.
 * @param {HTMLElement} el
 */
export function enlargement(el) {
  const scale = el.offsetWidth ? el.getBoundingClientRect().width / el.offsetWidth : 1;
  return Math.round(scale * 10) / 10 || 1; // offsetWidth is rounded
}

/**
 * Return a pointer's place in an element's own pixels.
 * @param {HTMLElement} el @param {{clientX: number, clientY: number}} event @returns {[number, number]}
 */
export function placeIn(el, event) {
  const [box, scale] = [el.getBoundingClientRect(), enlargement(el)];
  return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
}

/** Return the window's height in an element's own pixels. @param {HTMLElement} el */
export const windowHeight = (el) => globalThis.innerHeight / enlargement(el);

/**
 * Return the distance from the page's top in the element's pixels, independent of scrolling.
 * @param {HTMLElement} el
 */
export function distanceFromTop(el) {
  let top = (el.getBoundingClientRect().top + (globalThis.scrollY || 0)) / enlargement(el);
  /** @type {Node|null} */
  let at = el.parentNode;
  while (at) {
    if (at instanceof Element && at !== document.documentElement) top += at.scrollTop;
    at = at instanceof ShadowRoot ? at.host : at.parentNode;
  }
  return top;
}

/** Create the tooltip, a text next to the pointer, inside the view. @param {HTMLElement} root */
export function createTip(root) {
  const el = h("div", { class: "tip", role: "tooltip", hidden: true });
  root.append(el);
  return {
    /** @param {string[]} lines the first line is bold @param {number} clientX @param {number} clientY */
    show(lines, clientX, clientY) {
      el.replaceChildren(...lines.map((line, i) => h(i ? "div" : "strong", {}, line)));
      el.hidden = false;
      const [frame, box, scale] = [root.getBoundingClientRect(), el.getBoundingClientRect(), enlargement(root)];
      const x = clamp((clientX - frame.left) / scale + 14, 0, (frame.width - box.width) / scale);
      const below = (clientY - frame.top) / scale + 18;
      const high = clientY + 18 * scale + box.height > globalThis.innerHeight;
      const y = high ? below - box.height / scale - 34 : below;
      el.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    },
    hide() {
      el.hidden = true;
    },
  };
}

/** @param {string} name @param {Blob} blob */
export function save_as(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
