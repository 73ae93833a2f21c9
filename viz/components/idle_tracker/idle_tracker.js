// When the page is at rest: nothing is asked, under way, fetched, faded or painted any more.
//
// The document's root says so in data-rest, "true" or "false" (missing until this script has come), and the main region
// is aria-busy meanwhile, so that a screen reader may wait with what is still changing.
//
// What a reader does ends the rest at once, before any listener of the page hears of it; so does what the page asks
// the server. The rest comes back when the run that answers has ended, the page has been drawn, and it has stayed so
// for two looks: what a message or a click sets off is scheduled by then. A component that still waits for something
// says aria-busy="true" in its own markup, and needs to know nothing of this.
//
// This script also reruns the page when the server is back, and keeps one history entry for each action of the reader.

const LOOK = 40; // ms between two looks while the page is busy; at rest nobody looks
const DONE = ["pointerdown", "pointerup", "click", "keydown", "input", "change", "drop", "popstate", "resize"];
const ACTIONS = DONE.filter((event) => event !== "resize");

// Fields of Streamlit's messages: BackMsg and ForwardMsg of streamlit/proto.
const RERUN = 11;
const FRAGMENT = 5; // of ClientState, which is what RERUN holds
const BEGUN = 4;
const ENDED = 6;
const ENDED_FOR_ANOTHER = 2; // this run stopped because another follows at once

/**
 * A message's fields at the top level, number -> value where that is a number, its bytes where it has a length, else 0
 * (protobuf's wire format). @param {Uint8Array} bytes @returns {Map<number, number|Uint8Array>}
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
      const length = number(); // first, since reading it moves on
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

/** Where a run of the script stands, told by the messages that go and come. @returns {Runs} */
export function createRuns() {
  let asked = false; // and no run has begun since
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
    /** What comes next is asked anew. */
    lost() {
      [asked, running] = [false, false];
    },
    ended: () => !asked && !running,
  };
}

/**
 * A run of the whole script that is owed: asked for, and again whenever a fragment's took it along. What is set off at
 * one moment goes in one message, which runs the fragment alone where a fragment's was first; and a server that was
 * started anew knows no fragment of this page. @param {() => void} run
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
      if (!owed) return; // as nearly always: nothing is read then
      const state = fieldsOf(bytes).get(RERUN);
      if (!(state instanceof Uint8Array)) return;
      const fragment = fieldsOf(state).get(FRAGMENT);
      owed = fragment instanceof Uint8Array && fragment.length > 0;
      if (owed) setTimeout(run); // once what this message took along has been forgotten
    },
  };
}

/**
 * Keep one entry of the browser's history for each action of the reader. Streamlit pushes every address that a run
 * writes, and two for another page: Back would lead to addresses that nobody has seen. Those after the first replace
 * it.
 * @param {Pick<History, "pushState"|"replaceState">} history
 */
export function createEntries(history) {
  const push = history.pushState;
  let acted = false; // and no address has been pushed since
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

/** Whether anything on the page is yet to come: the frame, the components, fonts, what fades. @param {Document} page */
function unfinished(page) {
  const app = page.querySelector("[data-testid=stApp]");
  if (app?.getAttribute("data-test-script-state") !== "notRunning") return true;
  if (page.querySelector("[data-stale=true], [data-testid=stSkeleton]") || page.fonts.status === "loading") return true;
  const components = page.querySelectorAll("[data-testid=stBidiComponentIsolated]");
  if ([...components].some(waits)) return true;
  // Others run with scrolling, or for ever.
  return page.getAnimations().some((a) =>
    a.playState === "running" && a.timeline instanceof DocumentTimeline && a.effect?.getTiming().iterations !== Infinity
  );
}

/** Whether a component says that it is busy. @param {Element} host */
const waits = (host) => Boolean(host.shadowRoot?.querySelector('[aria-busy="true"]'));

/** Watch a page and keep its mark. @param {Document} page */
function createRest(page) {
  const runs = createRuns();
  const debt = createDebt(() => here.run());
  const sockets = new WeakSet();
  let timer = 0;
  let calm = 0; // looks in a row that found nothing

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
 * Have the script run when the server is there again. One that was started anew knows nothing of this page, nor what
 * to do with the first thing that its reader sets off. @param {Document} page @param {() => void} due
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

const NAME = Symbol.for("headlight.rest"); // a page has one, however often this script comes

/**
 * Streamlit's way in, at the mount and when the theme changes.
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
