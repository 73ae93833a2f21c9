// The main view: the state that its parts share, and the schedule of drawing.

import { clamp, readTheme } from "../shared/colours.js";
import { createTip, distanceFromTop, h, setAttribute, setText, windowHeight } from "../shared/elements.js";
import { createArrival } from "./arrival.js";
import { createChoosing } from "./choosing.js";
import { createNotice } from "./notice.js";
import { questions } from "./questions.js";
import { changed, FIRST } from "./selection.js";
import { TILE } from "./source.js";
import { createStore } from "./store.js";
import { headName } from "./truth.js";
import { wording } from "./words.js";

/** @import { App, Payload, Report, SourceMaker, State } from "./types.js" */

const UNSEEN = 300; // ms until drawing without an animation frame, which a notebook does not grant below the fold
const MOVING = 150; // ms after the last step of a zoom or scroll before tiles are fetched

/** Return the initial state of a view; every view has its own. @returns {State} */
const firstState = () => ({
  kept: FIRST,
  preview: null,
  picking: false,
  special: false,
  view: null,
  scroll: null,
  page: 0,
  strips: { both: 0, query: 0, key: 0 },
});

/**
 * Create the view and the object that its parts share.
 * @param {Element|ShadowRoot} root @param {SourceMaker} makeSource
 */
export function createApp(root, makeSource) {
  for (const child of [...root.children]) if (child.classList.contains("hl")) child.remove();
  const notice = createNotice();
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const body = h("div", { class: "body" });
  const el = h("div", { class: "hl", onkeydown }, notice.el, body, live);
  root.append(el);
  const store = createStore(firstState());
  let [frame, late] = [0, 0];
  let moved = -MOVING;
  let [moving, idle] = [0, 0]; // timers

  /** Data, feed, source and parts exist after the first text arrives; nothing is drawn before. */
  const app = /** @type {App} */ (/** @type {Partial<App>} */ ({
    el,
    store,
    say: wording(),
    report: {},
    stamp: "",
    tip: createTip(el),
    keys: () => app.data.keys ?? app.data.queries,
    shown: () => changed(store.state.kept, store.state.preview),
    width: () => el.clientWidth,
    wide: () => el.clientWidth >= 760,
    coarse: () => Boolean(globalThis.matchMedia?.("(pointer: coarse)").matches),
    room: (least = 440) => clamp(windowHeight(el) - distanceFromTop(app.parts.main) - 8, least, 800),
    name: (layer, head) => headName(app.say, layer, head),
    announce: (text) => setText(live, text),
    redraw,
    flushDraw: draw,
    setLocal(patch) {
      if (patch.view || patch.scroll) moved = performance.now();
      store.set(patch);
    },
    still() {
      const left = MOVING - (performance.now() - moved);
      if (left <= 0) return true;
      app.waits = true;
      clearTimeout(moving);
      moving = setTimeout(redraw, left + 5);
      return false;
    },
  }));
  Object.assign(app, createChoosing(app), questions(app));
  const arrival = createArrival(app, body, notice, makeSource);

  function redraw() {
    frame ||= requestAnimationFrame(draw);
    late ||= setTimeout(draw, UNSEEN);
  }
  function draw() {
    cancelAnimationFrame(frame);
    clearTimeout(late);
    [frame, late] = [0, 0];
    if (!app.data || !el.isConnected || el.clientWidth === 0) return;
    app.waits = false;
    el.classList.toggle("wide", app.wide());
    app.feed.begin();
    app.parts.draw();
    const complete = app.feed.end() && !app.waits;
    if (complete) painted();
    else setAttribute(body, "aria-busy", true);
  }
  function painted() {
    const { layer, head, tab } = app.shown();
    setAttribute(el, "data-painted", [app.data.base, layer, head, app.pivot() ?? "", tab].join("|"));
    setAttribute(body, "aria-busy", arrival.waits());
    performance.mark("headlight:painted");
    clearTimeout(idle);
    idle = setTimeout(warm, 400);
    app.pictured();
  }
  /** Prefetch the next head's map if the text is short. */
  function warm() {
    const { layers, heads } = app.data;
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    if (rows * cols > 16384 || store.state.preview) return;
    const { kept } = store.state;
    const id = (kept.layer * heads + kept.head + 1) % (layers * heads);
    const [layer, head] = [Math.floor(id / heads), id % heads];
    app.feed.warm("tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE });
  }
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const typing = /** @type {Element} */ (event.target).matches("input, select, textarea");
    if (!app.data || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "[" || event.key === "]") {
      app.stepHead(event.key === "[" ? -1 : 1);
      event.preventDefault();
    }
    if (event.key === "Escape") app.escape();
  }
  /** Read the theme's colours; the style sheet makes them light on paper. @param {boolean} signed */
  function dress(signed) {
    app.theme = readTheme(el, signed);
    el.classList.toggle("dark", app.theme.dark);
  }
  function onprint() {
    if (!app.data) return;
    dress(app.data.signed);
    draw();
  }
  /** @param {Event} event from the text box, whose text is not the one shown here */
  function onoutdated(event) {
    el.classList.toggle("outdated", Boolean(/** @type {CustomEvent} */ (event).detail));
  }
  globalThis.addEventListener("headlight:outdated", onoutdated);
  const paper = globalThis.matchMedia?.("print");
  paper?.addEventListener("change", onprint);
  const stop = store.subscribe(redraw);
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  globalThis.addEventListener("resize", redraw);
  return {
    /** Return false if the script of another language has replaced this view in the root. */
    stands: () => root.contains(el),
    /** @param {Payload} data @param {Report} [report] */
    update(data, report = app.report) {
      app.report = report;
      dress(data.signed);
      arrival.update(data);
    },
    destroy() {
      app.endChoosing();
      stop();
      paper?.removeEventListener("change", onprint);
      clearTimeout(late);
      watch.disconnect();
      globalThis.removeEventListener("resize", redraw);
      globalThis.removeEventListener("headlight:outdated", onoutdated);
      for (const timer of [moving, idle]) clearTimeout(timer);
      cancelAnimationFrame(frame);
      arrival.close();
      el.remove();
    },
  };
}
