// Polls the server for changes by the teacher, and reruns the page after a change. While the visitor types, the rerun
// waits for a pause. Failed requests are repeated, so that a restart of the server disconnects nobody.

import { focusedElement, TEXT_FIELDS } from "../shared/elements.js";

const AGAIN = 1000; // ms until a failed request is repeated
const PAUSE = 3000; // ms without a key after which the visitor has stopped typing

/** @type {WeakMap<object, ReturnType<typeof follow> & {moves: boolean, version: number}>} */
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

/**
 * Return the ms until the visitor's typing counts as paused: 0 if the field `typed.field`, changed at `typed.at`, is
 * not the focused element, or if the change is PAUSE ms ago.
 * @param {{field: object|null, at: number}} typed
 * @param {object|null} focused
 * @param {number} now
 */
export function typingLeft(typed, focused, now) {
  return typed.field !== null && typed.field === focused ? Math.max(0, typed.at + PAUSE - now) : 0;
}

/**
 * Call `act` as soon as `left` returns 0; until then, ask again after the ms that it returns.
 * @param {() => number} left
 * @param {() => void} act
 * @param {(then: () => void, ms: number) => void} later
 */
export function afterTyping(left, act, later = (then, ms) => void setTimeout(then, ms)) {
  const ms = left();
  if (ms > 0) later(() => afterTyping(left, act, later), ms);
  else act();
}

/** Start to note when the visitor types; `left` returns `typingLeft` of now. */
function watchTyping() {
  const typed = { field: /** @type {Element|null} */ (null), at: 0 };
  const note = (/** @type {Event} */ event) => {
    const [field] = event.composedPath();
    if (field instanceof Element && field.matches(TEXT_FIELDS)) Object.assign(typed, { field, at: Date.now() });
  };
  addEventListener("input", note, true);
  return {
    left: () => typingLeft(typed, focusedElement(document), Date.now()),
    stop: () => removeEventListener("input", note, true),
  };
}

/** Leave the field in which the visitor types, so that Streamlit sends its text. @param {Element|null} field */
export function sendTyped(field) {
  if (field instanceof HTMLElement && field.matches("input, textarea")) field.blur();
}

/**
 * Entry point for Streamlit.
 * @param {{data: {address: string, version: number, moves: boolean, says: string}, parentElement: Element|ShadowRoot,
 * setTriggerValue: (name: string, value: number) => void}} component
 */
export default function follower({ data, parentElement, setTriggerValue }) {
  const ask = async (/** @type {number} */ since) => {
    const answer = await fetch(`${data.address}?since=${since}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    return (await answer.json()).version;
  };
  let latest = 0;
  const start = () => {
    const typing = watchTyping();
    const polls = follow(ask, (version) => {
      latest = version;
      afterTyping(typing.left, () => {
        const shown = followed.get(parentElement);
        if (!shown || version !== latest || version === shown.version) return;
        if (shown.moves) sendTyped(document.activeElement);
        setTriggerValue("changed", version);
      });
    });
    const stop = () => {
      typing.stop();
      polls.stop();
    };
    return { from: polls.from, stop };
  };
  const view = Object.assign(followed.get(parentElement) ?? start(), { moves: data.moves, version: data.version });
  followed.set(parentElement, view);
  const status = parentElement.querySelector("[role=status]");
  if (status && status.textContent !== data.says) status.textContent = data.says;
  view.from(data.version);
  return () => {
    view.stop();
    followed.delete(parentElement);
  };
}
