// The entry point of a component that reports a single value, the pick.

import { speak } from "./words.js";

/**
 * Return the function that Streamlit calls, at the mount and at every change of the data or the theme, with the same
 * parent. The view from `create` is kept for its parent, updated at each call, and closed when it leaves the page; in
 * another language it is created again.
 * @template Data
 * @param {string} name the id of the element that contains the view
 * @param {(root: Element|ShadowRoot) => {update: (data: Data, pick: (value: unknown) => void) => void, close?: () =>
 * void}} create
 */
export function mounting(name, create) {
  /** @type {WeakMap<object, {view: ReturnType<typeof create>, tongue: string}>} */
  const views = new WeakMap();
  /** A redraw function for each view, since printed pages have light colours. @type {WeakMap<object, () => void>} */
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
