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
// This script also draws charts in turn, reruns the page after the server returns, holds clicks until typed texts are
// read, keeps a single history entry for each user action, restores scroll positions, and leads Tab into popovers.

import {
  checkAnswerOnEnter,
  checkStreamlit,
  closeMenuAfterChoice,
  componentHosts,
  createDebt,
  createRuns,
  drawChartsInTurn,
  isDrawing,
  keepPopoverAtButton,
  leaveFieldBeforeStep,
  mainRegion,
  watchConnection,
  watchMessages,
} from "../shared/streamlit_internals.js";
import { holdClicks } from "./held_click.js";
import { restorePositions } from "./scroll_positions.js";

const LOOK = 40; // ms between two checks while the page is busy; an idle page is not checked
const DONE = ["pointerdown", "pointerup", "click", "keydown", "input", "change", "drop", "popstate", "resize"];
const ACTIONS = DONE.filter((event) => event !== "resize");

/**
 * Keep a single history entry for each user action. Streamlit pushes every address that a run writes, and two for
 * another page, so Back would lead to addresses that were never visible. Later addresses replace the first.
 * @param {Pick<History, "pushState"|"replaceState">} history
 */
export function createEntries(history) {
  const push = history.pushState;
  let acted = false; // the user acted, and no address has been pushed since
  let same = false; // the next address belongs to the present entry
  /** @param {Parameters<History["pushState"]>} entry */
  history.pushState = function (...entry) {
    if (acted && !same) push.apply(history, entry);
    else history.replaceState(...entry);
    [acted, same] = [false, false];
  };
  return {
    /** @param {{type: string}} event */
    heard({ type }) {
      acted = type !== "popstate";
      if (type === "pointerdown" || !acted) same = false;
    },
    /** Let the next address replace the present entry: a typed sentence goes on after a pause. */
    goOn() {
      same = true;
    },
  };
}

/**
 * Return true if anything on the page is incomplete: the frame, components, fonts, or animations.
 * @param {Document} page
 */
function unfinished(page) {
  if (isDrawing(page) || page.fonts.status === "loading" || componentHosts(page).some(waits)) return true;
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
  const chartsDrawn = drawChartsInTurn();
  const positions = restorePositions(page, mainRegion); // before the tracker, which ends the idle state
  const clicks = holdClicks(page); // before other listeners of clicks, which see a held click later
  let timer = 0;
  let calm = 0; // consecutive checks without activity

  /** @param {boolean} rests */
  function mark(rests) {
    page.documentElement.dataset.rest = String(rests);
    mainRegion(page)?.setAttribute("aria-busy", String(!rests));
  }
  function wake() {
    calm = 0;
    mark(false);
    timer ||= setTimeout(look, LOOK);
  }
  function look() {
    timer = 0;
    calm = runs.ended() && chartsDrawn() && !unfinished(page) ? calm + 1 : 0;
    if (calm < 2) timer = setTimeout(() => requestAnimationFrame(look), LOOK);
    else {
      positions.pageRests();
      mark(true);
      clicks.pageRests();
    }
  }
  watchMessages({
    sent(bytes) {
      if (bytes) {
        runs.sent(bytes);
        debt.sent(bytes);
      }
      wake();
    },
    came(bytes) {
      if (bytes) runs.came(bytes);
      wake();
    },
    lost() {
      runs.lost();
      wake();
    },
  });
  const entries = createEntries(history);
  for (const event of DONE) addEventListener(event, wake, { capture: true, passive: true });
  for (const event of ACTIONS) addEventListener(event, entries.heard, { capture: true, passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", wake);
  wake();
  const here = { wake, run: () => {} };
  closeMenuAfterChoice(page);
  leaveFieldBeforeStep(page);
  keepPopoverAtButton(page);
  addEventListener("headlight:same-entry", entries.goOn);
  checkAnswerOnEnter(page);
  watchConnection(page, debt.due); // a restarted server could not handle the first event of this page
  return here;
}

const NAME = Symbol.for("headlight.rest"); // a page has a single tracker, although this script may load several times

/**
 * Entry point for Streamlit, at the mount and if the theme changes.
 * @param {{data: {streamlit: string}, setTriggerValue: (name: string, value: unknown) => void}} component
 */
export default function rest({ data, setTriggerValue }) {
  checkStreamlit(data.streamlit);
  const place = /** @type {Record<symbol, ReturnType<typeof createRest>|undefined>} */ (
    /** @type {unknown} */ (globalThis)
  );
  const here = place[NAME] ??= createRest(document);
  here.run = () => setTriggerValue("again", Date.now());
  here.wake();
}
