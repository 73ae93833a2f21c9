// Everything in the scripts that depends on Streamlit's private elements, attributes and messages. The Python side is
// ui/streamlit_internals.py; style rules that use Streamlit's elements are in assets/app.css.

import { focusedElement } from "./elements.js";

export const EXPECTED = "1.67"; // the release whose private names are used below, as in ui/streamlit_internals.py

/**
 * Throw an error if the server's version of Streamlit does not belong to the expected release.
 * @param {string} installed
 */
export function checkStreamlit(installed) {
  if (`${installed}.`.startsWith(`${EXPECTED}.`)) return;
  throw new Error(
    `Streamlit ${installed} is installed, but this page needs Streamlit ${EXPECTED}, since it uses private parts of ` +
      `it. Run: pip install "streamlit==${EXPECTED}.*"`,
  );
}

const APP = "[data-testid=stApp]";
const CONNECTION = "data-test-connection-state"; // attributes of the app's element
const SCRIPT = "data-test-script-state";

/** Return true while a script runs or Streamlit's elements are outdated or incomplete. @param {Document} page */
export function isDrawing(page) {
  return page.querySelector(APP)?.getAttribute(SCRIPT) !== "notRunning" ||
    page.querySelector("[data-stale=true], [data-testid=stSkeleton]") !== null;
}

/** Return the hosts of all components on the page. @param {Document} page */
export const componentHosts = (page) => [...page.querySelectorAll("[data-testid=stBidiComponentIsolated]")];

/** Return the page's main region. @param {Document} page */
export const mainRegion = (page) => page.querySelector("[data-testid=stMain]");

const NAV_LINK = "[data-testid=stSidebarNavLink]";
const COLLAPSE = "[data-testid=stSidebarCollapseButton] button";
const NARROW = "(max-width: 640px)"; // as in assets/app.css

/**
 * Close the menu of pages after the choice of a page if the window is narrow, because the menu covers the page.
 * Streamlit remembers an open menu, even after a reload.
 * @param {Document} page
 */
export function closeMenuAfterChoice(page) {
  page.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.closest(NAV_LINK) || !matchMedia(NARROW).matches) return;
    // Streamlit's own handler comes first; without this order, a redrawn link would no longer contain the target.
    setTimeout(() => /** @type {HTMLElement|null} */ (page.querySelector(COLLAPSE))?.click());
  }, { capture: true });
}

const POPOVER = "[data-testid=stPopoverBody]";
const POPOVER_BUTTON = "[data-testid=stPopoverButton][aria-expanded=true]";
const STOPS = "a[href], button, input, textarea, select, summary, iframe, [tabindex]";

/** Return the elements in `part` that Tab reaches, in order. @param {Element} part */
function tabStops(part) {
  const found = [.../** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll(STOPS))];
  return found.filter((el) => el.tabIndex >= 0 && !el.matches(":disabled") && el.getClientRects().length > 0);
}

/**
 * Let Tab lead from the button of an open popover into it, and from the ends of the popover back to the button, because
 * Streamlit draws popovers at the end of the document.
 * @param {Document} page
 */
export function keepPopoverAtButton(page) {
  page.addEventListener("keydown", (event) => {
    if (event.key !== "Tab") return;
    const popover = page.querySelector(POPOVER);
    const button = page.querySelector(POPOVER_BUTTON);
    if (!popover || !(button instanceof HTMLElement)) return;
    const stops = tabStops(popover);
    const focused = page.activeElement;
    if (focused === button && !event.shiftKey && stops[0]) {
      event.preventDefault();
      stops[0].focus();
    } else if (focused === stops.at(event.shiftKey ? 0 : -1) || focused === popover) {
      button.focus(); // Tab goes on from here to the next control of the page
      if (event.shiftKey) event.preventDefault();
    }
  }, { capture: true });
}

const STEPS = ["PageUp", "PageDown"]; // with Alt, the shortcuts of Back and Next (ui/input/controls.py)

/**
 * Leave the text field before a shortcut opens another step, because Streamlit sends a typed text only when its field
 * is left.
 * @param {Document} page
 */
export function leaveFieldBeforeStep(page) {
  page.addEventListener("keydown", ({ altKey, key }) => {
    const field = focusedElement(page);
    if (altKey && STEPS.includes(key) && field instanceof HTMLElement && field.matches("input, textarea")) field.blur();
  }, { capture: true });
}

const ANSWER = /^(st-key-lesson_.+)_(?:number|word)$/; // fields of ui/pages/lessons/answers.py

/**
 * Check a lesson's answer on Enter in its field. Streamlit's server cannot distinguish Enter from leaving the field,
 * which keeps the answer without a verdict.
 * @param {Document} page
 */
export function checkAnswerOnEnter(page) {
  page.addEventListener("keydown", ({ isComposing, key, target }) => {
    if (key !== "Enter" || isComposing || !(target instanceof Element)) return;
    const names = [...target.closest("[class*=st-key-lesson_]")?.classList ?? []];
    const slot = names.map((name) => ANSWER.exec(name)?.[1]).find(Boolean);
    // Streamlit's own handler, which sends the text, comes first: it listens inside the document.
    if (slot) /** @type {HTMLElement|null} */ (page.querySelector(`.${CSS.escape(slot)}_check button`))?.click();
  });
}

/** Return the page's tables. @param {Document} page */
export const dataFrames = (
  page,
) => [.../** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("[data-testid=stDataFrame]"))];

/**
 * @typedef {HTMLElement & {_fullLayout?: object}} ChartElement an element with a layout after its chart is drawn
 * @typedef {(chart: ChartElement, ...figure: unknown[]) => unknown} React Plotly's function that draws a chart
 */

const LONGEST_TURN = 5_000; // ms until the next chart is drawn even if Plotly has not finished this one

/** Wait until a promise has settled, for at most `limit` ms. @param {Promise<unknown>} promise @param {number} limit */
const settle = (promise, limit) =>
  new Promise((done) => {
    const timer = setTimeout(done, limit);
    promise.catch(() => {}).finally(() => done(clearTimeout(timer)));
  });

/**
 * Turns for the first drawings of charts: the browser paints after each. Streamlit draws the charts of a page in a
 * single task, so that the first would be visible only after the last. A turn ends after `limit` ms at the latest.
 * @param {() => Promise<void>} painted @param {number} [limit]
 */
export function createTurns(painted, limit = LONGEST_TURN) {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  let waiting = 0;
  /** @type {WeakSet<React>} */
  const withTurns = new WeakSet();
  return {
    /**
     * Return `react` with turns, or unchanged if it has turns already: it would wait for itself. A chart that left the
     * page meanwhile is not drawn. @param {React} react
     */
    inTurn(react) {
      if (withTurns.has(react)) return react;
      /** @type {React} */
      const inTurn = (chart, ...figure) => {
        if (chart._fullLayout) return react(chart, ...figure);
        waiting++;
        const drawn = last.then(() => chart.isConnected ? react(chart, ...figure) : null);
        last = last.then(() => settle(drawn, limit)).finally(() => waiting--).then(painted);
        return drawn;
      };
      withTurns.add(inTurn);
      return inTurn;
    },
    areOver: () => waiting === 0,
  };
}

const LONGEST_FRAME = 100; // ms, since a hidden page paints no frame

/** Wait until the browser has painted. @returns {Promise<void>} */
const nextPaint = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, LONGEST_FRAME);
  });

/** Draw charts in turn; Plotly's script may run before or after. Return a function: are all drawn? */
export function drawChartsInTurn() {
  const turns = createTurns(nextPaint);
  const place = /** @type {{Plotly?: {react: React}}} */ (/** @type {unknown} */ (globalThis));
  let plotly = place.Plotly;
  /** @param {typeof plotly} library */
  const set = (library) => {
    plotly = library;
    if (library) library.react = turns.inTurn(library.react);
  };
  set(plotly);
  Object.defineProperty(place, "Plotly", { configurable: true, get: () => plotly, set });
  return turns.areOver;
}

/** Call `back` whenever the page is connected again after a loss. @param {Document} page @param {() => void} back */
export function watchConnection(page, back) {
  const app = page.querySelector(APP);
  if (!app) return;
  let away = false;
  new MutationObserver(() => {
    const here = app.getAttribute(CONNECTION) === "CONNECTED";
    if (here && away) back();
    away = !here;
  }).observe(app, { attributeFilter: [CONNECTION] });
}

/**
 * Call `sent` and `came` with each message to and from the server, null for other data, and `lost` when a connection
 * closes. Streamlit offers no events for its messages, so the method of all WebSockets is replaced.
 * @param {{sent: (bytes: Uint8Array|null) => void, came: (bytes: Uint8Array|null) => void, lost: () => void}} listener
 */
export function watchMessages({ sent, came, lost }) {
  const sockets = new WeakSet();
  /** @param {WebSocket} socket */
  const follow = (socket) => {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    socket.addEventListener("message", ({ data }) => came(data instanceof ArrayBuffer ? new Uint8Array(data) : null));
    socket.addEventListener("close", lost);
  };
  const send = WebSocket.prototype.send;
  /** @param {Parameters<WebSocket["send"]>[0]} data */
  WebSocket.prototype.send = function (data) {
    follow(this);
    sent(data instanceof Uint8Array ? data : null);
    send.call(this, data);
  };
}

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
