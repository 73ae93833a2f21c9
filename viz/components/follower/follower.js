// Polls the server for changes by the teacher, and reruns the page after a change. Failed requests are repeated, so
// that a restart of the server disconnects nobody.

const AGAIN = 1000; // ms until a failed request is repeated

/** @type {WeakMap<object, ReturnType<typeof follow> & {moves: boolean}>} */
const followed = new WeakMap();

/**
 * Poll until stopped. `ask` resolves to the room's version, which may take seconds; it rejects if the server is not
 * reachable.
 * @param {(since: number) => Promise<number>} ask
 * @param {(version: number) => void} changed
 * @param {(then: () => void) => void} later
 */
export function follow(ask, changed, later = (then) => void setTimeout(then, AGAIN)) {
  let since = 0;
  let stopped = false;
  const next = () => {
    if (stopped) return;
    const asked = since;
    ask(asked).then((version) => {
      if (stopped) return;
      if (version !== asked && asked === since) {
        since = version;
        changed(version);
      }
      next();
    }, () => later(next));
  };
  return {
    /** @param {number} version the version on the page */
    from(version) {
      const first = since === 0;
      since = version;
      if (first) next();
    },
    stop() {
      stopped = true;
    },
  };
}

/** Leave the field in which the visitor types, so that Streamlit sends its text. @param {Element|null} field */
export function sendTyped(field) {
  if (field instanceof HTMLElement && field.matches("input, textarea")) field.blur();
}

/**
 * Entry point for Streamlit.
 * @param {{data: {address: string, version: number, moves: boolean}, parentElement: Element|ShadowRoot,
 * setTriggerValue: (name: string, value: number) => void}} component
 */
export default function follower({ data, parentElement, setTriggerValue }) {
  const ask = async (/** @type {number} */ since) => {
    const answer = await fetch(`${data.address}?since=${since}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    return (await answer.json()).version;
  };
  const changed = (/** @type {number} */ version) => {
    if (followed.get(parentElement)?.moves) sendTyped(document.activeElement);
    setTriggerValue("changed", version);
  };
  const view = Object.assign(followed.get(parentElement) ?? follow(ask, changed), { moves: data.moves });
  followed.set(parentElement, view);
  view.from(data.version);
  return () => {
    view.stop();
    followed.delete(parentElement);
  };
}
