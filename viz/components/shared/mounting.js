// The way in of a component that reports one thing: what was picked.

/**
 * The function that Streamlit calls, at the mount and again at every change of the data or the theme, with the same
 * parent. What `create` makes of a parent is kept, updated at each call, and closed when it leaves the page.
 * @template Data
 * @param {string} name the id of the element that it draws in
 * @param {(root: Element|ShadowRoot) => {update: (data: Data, pick: (value: unknown) => void) => void, close?: () =>
 *   void}} create
 */
export function mounting(name, create) {
  /** @type {WeakMap<object, ReturnType<typeof create>>} */
  const views = new WeakMap();
  /** @param {import("./elements.js").Component<Data>} component */
  return ({ data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector(`#${name}`) ?? parentElement;
    const view = views.get(root) ?? create(root);
    views.set(root, view);
    view.update(data, (value) => setTriggerValue("picked", value));
    return () => {
      view.close?.();
      views.delete(root);
    };
  };
}
