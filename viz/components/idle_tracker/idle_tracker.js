// Tracks the page's idle state: no request, run, download, fade or drawing is in progress.
//
// The root element's data-rest is "true" or "false" (missing before this script loads), and the main region is
// aria-busy meanwhile, so that a screen reader may wait for changing content.
//
// A user's action ends the idle state before any listener of the page runs; so does a message to the server. The page
// is idle again after the answering run has ended and the page was complete at two checks in a row, since the effects
// of a message or a click are scheduled by then. A component that is still waiting has aria-busy="true" in its own
// markup, and needs no other code for it.
//
// This script also reruns the page after the server returns, and keeps a single history entry for each user action.

const LOOK = 40; // ms between two checks while the page is busy; an idle page is not checked
const DONE = ["pointerdown", "pointerup", "click", "keydown", "input", "change", "drop", "popstate", "resize"];
const ACTIONS = DONE.filter((event) => event !== "resize");

// Field numbers of Streamlit's messages BackMsg and ForwardMsg (streamlit/proto).
const RERUN = 11;
const FRAGMENT = 5; // a field of ClientState, the content of RERUN
const BEGUN = 4;
const ENDED = 6;
const ENDED_FOR_ANOTHER = 2; // this run stopped because another run follows

/**
 * Return a message's top-level fields in protobuf's wire format, number → value if it is a varint, its bytes if it
 * has a length, else 0. @param {Uint8Array} bytes @returns {Map<number, number|Uint8Array>}
 */
export function fieldsOf(bytes) {
  const found = new Map();
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    const kind = tag % 8;
    /** @type {number|Uint8Array} */
    let value = kind === 0 ? number() : 0;
    if (kind === 2) {
      const length = number(); // read first, since reading advances the position
      value = bytes.subarray(at, at += length);
    }
    if (kind === 1) at += 8;
    if (kind === 5) at += 4;
    found.set(Math.floor(tag / 8), value);
  }
  return found;
}

/**
 * @typedef {Object} Runs
 * @property {(bytes: Uint8Array) => void} sent @property {(bytes: Uint8Array) => void} came
 * @property {() => void} lost @property {() => boolean} ended
 */

/** Track the state of the script's run from the messages in both directions. @returns {Runs} */
export function createRuns() {
  let asked = false; // a rerun is requested and has not begun
  let running = false;
  return {
    sent(bytes) {
      asked ||= fieldsOf(bytes).has(RERUN);
    },
    came(bytes) {
      const fields = fieldsOf(bytes);
      if (fields.has(BEGUN)) [asked, running] = [false, true];
      if (fields.has(ENDED)) running = fields.get(ENDED) === ENDED_FOR_ANOTHER;
    },
    /** Reset the state; the next connection requests a new run. */
    lost() {
      [asked, running] = [false, false];
    },
    ended: () => !asked && !running,
  };
}

/**
 * A pending run of the whole script, requested again whenever a fragment's run replaced it. Events of the same moment
 * share a message, which runs only the fragment if the fragment's event came first; and a restarted server knows no
 * fragment of this page. @param {() => void} run
 */
export function createDebt(run) {
  let owed = false;
  return {
    due() {
      owed = true;
      run();
    },
    /** @param {Uint8Array} bytes */
    sent(bytes) {
      if (!owed) return; // the usual case, in which no message is parsed
      const state = fieldsOf(bytes).get(RERUN);
      if (!(state instanceof Uint8Array)) return;
      const fragment = fieldsOf(state).get(FRAGMENT);
      owed = fragment instanceof Uint8Array && fragment.length > 0;
      if (owed) setTimeout(run); // after Streamlit has cleared the events of this message
    },
  };
}

/**
 * Keep a single history entry for each user action. Streamlit pushes every address that a run writes, and two for
 * another page, so Back would lead to addresses that were never visible. Later addresses replace the first.
 * @param {Pick<History, "pushState"|"replaceState">} history
 */
export function createEntries(history) {
  const push = history.pushState;
  let acted = false; // the user acted, and no address has been pushed since
  /** @param {Parameters<History["pushState"]>} entry */
  history.pushState = function (...entry) {
    if (acted) push.apply(history, entry);
    else history.replaceState(...entry);
    acted = false;
  };
  return {
    /** @param {{type: string}} event */
    heard({ type }) {
      acted = type !== "popstate";
    },
  };
}

/**
 * Return true if anything on the page is incomplete: the frame, components, fonts, or animations.
 * @param {Document} page
 */
function unfinished(page) {
  const app = page.querySelector("[data-testid=stApp]");
  if (app?.getAttribute("data-test-script-state") !== "notRunning") return true;
  if (page.querySelector("[data-stale=true], [data-testid=stSkeleton]") || page.fonts.status === "loading") return true;
  const components = page.querySelectorAll("[data-testid=stBidiComponentIsolated]");
  if ([...components].some(waits)) return true;
  // Other animations follow the scroll position or never end.
  return page.getAnimations().some((a) =>
    a.playState === "running" && a.timeline instanceof DocumentTimeline && a.effect?.getTiming().iterations !== Infinity
  );
}

/** Return true if a component is marked as busy. @param {Element} host */
const waits = (host) => Boolean(host.shadowRoot?.querySelector('[aria-busy="true"]'));

/** Watch a page and update its idle state. @param {Document} page */
function createRest(page) {
  const runs = createRuns();
  const debt = createDebt(() => here.run());
  const sockets = new WeakSet();
  let timer = 0;
  let calm = 0; // consecutive checks without activity

  /** @param {boolean} rests */
  function mark(rests) {
    page.documentElement.dataset.rest = String(rests);
    page.querySelector("[data-testid=stMain]")?.setAttribute("aria-busy", String(!rests));
  }
  function wake() {
    calm = 0;
    mark(false);
    timer ||= setTimeout(look, LOOK);
  }
  function look() {
    timer = 0;
    calm = runs.ended() && !unfinished(page) ? calm + 1 : 0;
    if (calm < 2) timer = setTimeout(() => requestAnimationFrame(look), LOOK);
    else mark(true);
  }
  /** @param {WebSocket} socket */
  function follow(socket) {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) runs.came(new Uint8Array(data));
      wake();
    });
    socket.addEventListener("close", () => {
      runs.lost();
      wake();
    });
  }

  const send = WebSocket.prototype.send;
  /** @param {Parameters<WebSocket["send"]>[0]} data */
  WebSocket.prototype.send = function (data) {
    follow(this);
    if (data instanceof Uint8Array) {
      runs.sent(data);
      debt.sent(data);
    }
    wake();
    send.call(this, data);
  };
  const entries = createEntries(history);
  for (const event of DONE) addEventListener(event, wake, { capture: true, passive: true });
  for (const event of ACTIONS) addEventListener(event, entries.heard, { capture: true, passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", wake);
  wake();
  const here = { wake, run: () => {} };
  watchServer(page, debt.due);
  return here;
}

/**
 * Rerun the script after the server returns. A restarted server has no state of this page and could not handle its
 * first event. @param {Document} page @param {() => void} due
 */
function watchServer(page, due) {
  const app = page.querySelector("[data-testid=stApp]");
  if (!app) return;
  let away = false;
  new MutationObserver(() => {
    const here = app.getAttribute("data-test-connection-state") === "CONNECTED";
    if (here && away) due();
    away = !here;
  }).observe(app, { attributeFilter: ["data-test-connection-state"] });
}

const NAME = Symbol.for("headlight.rest"); // a page has a single tracker, although this script may load several times

/**
 * Entry point for Streamlit, at the mount and if the theme changes.
 * @param {{setTriggerValue: (name: string, value: unknown) => void}} component
 */
export default function rest({ setTriggerValue }) {
  const place = /** @type {Record<symbol, ReturnType<typeof createRest>|undefined>} */ (
    /** @type {unknown} */ (globalThis)
  );
  const here = place[NAME] ??= createRest(document);
  here.run = () => setTriggerValue("again", Date.now());
  here.wake();
}
