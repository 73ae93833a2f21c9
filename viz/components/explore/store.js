// A state object with listeners.

/**
 * @template {Record<string, unknown>} T
 * @typedef {object} Store
 * @property {T} state
 * @property {(patch: Partial<T>) => void} set
 * @property {(listener: (state: T) => void) => () => void} subscribe
 */

/** @template {Record<string, unknown>} T @param {T} first @returns {Store<T>} */
export function createStore(first) {
  let state = first;
  /** @type {Set<(state: T) => void>} */
  const listeners = new Set();
  return {
    get state() {
      return state;
    },
    set(patch) {
      /** @type {T} */
      const next = { ...state, ...patch };
      if (/** @type {(keyof T)[]} */ (Object.keys(patch)).every((name) => Object.is(state[name], next[name]))) return;
      state = next;
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
