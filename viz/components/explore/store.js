// A value with listeners.

/** A value with listeners. @template T @param {T} first */
export function createStore(first) {
  let state = first;
  const listeners = new Set();
  return {
    get state() {
      return state;
    },
    set(patch) {
      const next = { ...state, ...patch };
      if (Object.keys(patch).every((name) => Object.is(state[name], next[name]))) return;
      state = next;
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
