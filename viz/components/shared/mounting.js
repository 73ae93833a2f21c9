// The way in of a component that reports one thing: what was picked.

import { speak } from "./words.js";

/**
 * The function that Streamlit calls, at the mount and again at every change of the data or the theme, with the same
 * parent. What `create` makes of a parent is kept, updated at each call, and closed when it leaves the page; in another
 * language it is made anew.
 * @template Data
 * @param {string} name the id of the element that it draws in
 * @param {(root: Element|ShadowRoot) => {update: (data: Data, pick: (value: unknown) => void) => void, close?: () =>
 *   void}} create
 */
export function mounting(name, create) {
  /** @type {WeakMap<object, {view: ReturnType<typeof create>, tongue: string}>} */
  const views = new WeakMap();
  /** Draws each view again: on paper its colours are light. @type {WeakMap<object, () => void>} */
  const papers = new WeakMap();
  const paper = globalThis.matchMedia?.("print");
  /** @param {import("./elements.js").Component<Data>} component */
  return ({ data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector(`#${name}`) ?? parentElement;
    const tongue = speak(/** @type {{words?: Record<string, string>}|undefined} */ (data)?.words);
    const known = views.get(root);
    if (known && known.tongue !== tongue) known.view.close?.();
    const view = known?.tongue === tongue ? known.view : create(root);
    views.set(root, { view, tongue });
    const update = () => view.update(data, (value) => setTriggerValue("picked", value));
    paper?.removeEventListener("change", papers.get(root) ?? update);
    papers.set(root, update);
    paper?.addEventListener("change", update);
    update();
    return () => {
      paper?.removeEventListener("change", papers.get(root) ?? update);
      view.close?.();
      views.delete(root);
    };
  };
}
