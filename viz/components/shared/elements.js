// What components build their part of the page from. Texts reach it only through text nodes.

import { clamp } from "./colours.js";

/**
 * An element; strings become text nodes, on… become listeners.
 * @param {string} tag @param {Record<string, any>} [properties] @param {...(Node|string|null)} children
 */
export function h(tag, properties = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  el.append(...children.filter((child) => child !== null));
  return el;
}

/** Change text only when it differs, so that screen readers hear it once. */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/** @param {HTMLElement} el */
export function setAttribute(el, name, value) {
  if (el.getAttribute(name) !== String(value)) el.setAttribute(name, String(value));
}

/** Distance from the page's top, wherever it is scrolled to. @param {Element} el */
export function pageTop(el) {
  let top = el.getBoundingClientRect().top + (globalThis.scrollY || 0);
  for (let at = el.parentNode; at; at = at.parentNode ?? at.host) {
    top += at.scrollTop && at !== document.documentElement ? at.scrollTop : 0;
  }
  return top;
}

/** The tooltip: text beside the pointer, inside the view. @param {HTMLElement} root */
export function createTip(root) {
  const el = h("div", { class: "tip", role: "tooltip", hidden: true });
  root.append(el);
  return {
    /** @param {string[]} lines the first is set strong */
    show(lines, clientX, clientY) {
      el.replaceChildren(...lines.map((line, i) => h(i ? "div" : "strong", {}, line)));
      el.hidden = false;
      const [frame, box] = [root.getBoundingClientRect(), el.getBoundingClientRect()];
      const x = clamp(clientX - frame.left + 14, 0, frame.width - box.width);
      const below = clientY - frame.top + 18;
      const y = clientY + 18 + box.height > globalThis.innerHeight ? below - box.height - 34 : below;
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
