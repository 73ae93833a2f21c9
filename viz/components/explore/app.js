// The view as a whole: its parts, what they share, and when they are drawn.

import { clamp, readTheme } from "../shared/colours.js";
import { createTip, h, pageTop, setAttribute, setText } from "../shared/elements.js";
import { createFeed } from "./feed.js";
import { createFigure } from "./figure.js";
import { createGrid } from "./grid.js";
import { createLinks } from "./links.js";
import { questions } from "./questions.js";
import { canonical, createEchoes, FIRST, fitSelection, togglePin } from "./selection.js";
import { createStrip, createTruth } from "./sentence.js";
import { THUMB, TILE } from "./source.js";
import { createStore } from "./store.js";
import { headName } from "./truth.js";
import { WORDS } from "./words.js";

const DWELL = 120; // ms that a pointer rests before a preview may fetch; longer where an answer is large

const MOVING = 150; // ms after the last step of a zoom or scroll before tiles are fetched

/** The parts of the view, and what they share. @param {Element|ShadowRoot} root @param {(data: Payload, hooks: object) => Source} makeSource */
export function createApp(root, makeSource) {
  for (const child of [...root.children]) if (child.classList.contains("hl")) child.remove();
  const notice = h("div", { class: "notice", role: "status", hidden: true });
  const live = h("div", { class: "unseen", "aria-live": "polite" });
  const body = h("div", { class: "body" });
  const el = h("div", { class: "hl", onkeydown }, notice, body, live);
  root.append(el);
  const store = createStore({
    kept: FIRST,
    preview: null,
    facing: "out",
    picking: false,
    special: false,
    view: null,
    scroll: null,
    page: 0,
  });
  const echoes = createEchoes();
  /** @type {Report} */
  let report = {};
  let frame = 0;
  let later = 0;
  let unsent = false; // a choice to be reported once its picture is painted
  let since = 0;
  let asked = 0;
  let asking = 0;
  let gone = 0; // answers 410 in a row
  let dwelling = 0;
  let moved = -MOVING;
  let moving = 0;
  /** @type {{data: Payload, feed: any, source: Source, timer: number}|null} a new text whose numbers are on their way */
  let coming = null;

  /** @type {any} */
  const app = {
    el,
    store,
    say: WORDS,
    data: null,
    feed: null,
    source: null,
    theme: null,
    parts: {},
    stamp: "",
    tip: createTip(el),
    keys: () => app.data.keys ?? app.data.queries,
    shown: () => ({ ...store.state.kept, ...store.state.preview }),
    width: () => el.clientWidth,
    wide: () => el.clientWidth >= 760,
    coarse: () => Boolean(globalThis.matchMedia?.("(pointer: coarse)").matches),
    /** Height that the window leaves for the figures, at least `least`. */
    room: (least = 440) => clamp(globalThis.innerHeight - pageTop(app.parts.main) - 8, least, 800),
    name: (layer, head) => headName(app.say, app.data.indexBase, layer, head),
    previewsHead: () =>
      store.state.preview?.layer !== undefined &&
      (store.state.preview.layer !== store.state.kept.layer || store.state.preview.head !== store.state.kept.head),
    redraw,
    flushDraw: draw,
    setLocal(patch) {
      if (patch.view || patch.scroll) moved = performance.now();
      store.set(patch);
    },
    /** Whether zooming and scrolling have stopped, so that fetching is worth while; if not, look again later. */
    still() {
      const left = MOVING - (performance.now() - moved);
      if (left <= 0) return true;
      app.waits = true;
      clearTimeout(moving);
      moving = setTimeout(redraw, left + 5);
      return false;
    },
    announce: (text) => setText(live, text),
    preview(patch) {
      const { preview } = store.state;
      if (patch === preview || JSON.stringify(patch) === JSON.stringify(preview)) return;
      since = performance.now();
      performance.mark("headlight:ask");
      store.set({ preview: patch });
    },
    /** Keep a choice; a new focus asks about its own strongest target. `wait` holds the report back while keys are pressed quickly. */
    keep(patch, wait = false) {
      const before = store.state.kept;
      const asksAnew = Number.isInteger(patch.focus) && patch.focus !== before.focus && patch.target === undefined;
      const kept = fitSelection(app.data, { ...before, ...(asksAnew ? { target: null } : {}), ...patch });
      if (canonical(kept) === canonical(store.state.kept)) return;
      performance.mark("headlight:ask");
      store.set({ kept, preview: null });
      clearTimeout(later);
      // The picture first: the page's answer costs the same server and the same thread of the browser.
      unsent = !wait;
      later = setTimeout(send, wait ? 350 : 1000);
      setAttribute(el, "aria-busy", "true");
    },
    flush() {
      clearTimeout(later);
      send();
    },
    escape() {
      app.tip.hide();
      store.set({ preview: null, picking: false });
    },
    stepHead(sign) {
      const { layer, head } = store.state.kept;
      const count = app.data.layers * app.data.heads;
      const id = (layer * app.data.heads + head + sign + count) % count;
      app.keep({ layer: Math.floor(id / app.data.heads), head: id % app.data.heads }, true);
    },
    pin() {
      const { pinned, layer, head } = store.state.kept;
      app.keep({ pinned: togglePin(pinned, layer, head) });
    },
  };
  Object.assign(app, questions(app, () => rested()));

  function send() {
    setAttribute(el, "aria-busy", "false");
    if (!app.data || canonical(store.state.kept) === canonical(app.sent ?? app.data.selection)) return;
    app.sent = store.state.kept;
    echoes.sent(store.state.kept);
    report.selection?.({ ...store.state.kept });
  }
  /** Whether the pointer has rested long enough to fetch for a preview; if not, look again later. */
  function rested() {
    if (!store.state.preview) return true;
    const large = app.data.layers * app.data.heads * app.keys().length > 250000;
    const left = (large ? 3 * DWELL : DWELL) - (performance.now() - since);
    if (left > 0) {
      clearTimeout(dwelling);
      dwelling = setTimeout(redraw, left + 5);
    }
    return left <= 0;
  }
  function redraw() {
    frame ||= requestAnimationFrame(draw);
  }
  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    if (!app.data || !el.isConnected || el.clientWidth === 0) return;
    app.waits = false;
    el.classList.toggle("wide", app.wide());
    app.feed.begin();
    for (
      const part of [
        app.parts.grid,
        app.parts.placement,
        app.parts.figure,
        app.parts.links,
        app.parts.strip,
        app.parts.truth,
      ]
    ) part.draw();
    const complete = app.feed.end() && !app.waits;
    if (complete) painted();
    else setAttribute(body, "aria-busy", "true");
  }
  function painted() {
    const { layer, head, focus, tab } = app.shown();
    setAttribute(el, "data-painted", [app.data.base, layer, head, focus ?? "", tab].join("|"));
    setAttribute(body, "aria-busy", Boolean(coming));
    performance.mark("headlight:painted");
    clearTimeout(app.idle);
    app.idle = setTimeout(warm, 400);
    if (unsent) {
      unsent = false;
      clearTimeout(later);
      later = setTimeout(send, 30);
    }
  }
  /** The next head of a short text, fetched before it is asked for. */
  function warm() {
    const [rows, cols] = [app.data.queries.length, app.keys().length];
    if (rows * cols > 16384 || store.state.preview) return;
    const { layer, head } = store.state.kept;
    const id = (layer * app.data.heads + head + 1) % (app.data.layers * app.data.heads);
    app.feed.warm("tile", {
      layer: Math.floor(id / app.data.heads),
      head: id % app.data.heads,
      q0: 0,
      q1: rows,
      k0: 0,
      k1: cols,
      size: TILE,
    });
  }
  function onkeydown(event) {
    if (
      !app.data || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")
    ) return;
    if (event.key === "[" || event.key === "]") {
      app.stepHead(event.key === "[" ? -1 : 1);
      event.preventDefault();
    }
    if (event.key === "Escape") app.escape();
  }
  /** A line of what is going on, with a way out where there is one. */
  function tell(text, action = null) {
    notice.hidden = !text;
    notice.replaceChildren(
      ...(text ? [h("span", {}, text)] : []),
      ...(action ? [h("button", { type: "button", class: "plain", onclick: action }, app.say.retry)] : []),
    );
  }
  function build() {
    const parts = {
      strip: createStrip(app),
      truth: createTruth(app),
      grid: createGrid(app),
      figure: createFigure(app),
      links: createLinks(app),
    };
    const main = h("div", { class: "main" }, h("div", { class: "left" }, parts.grid.el), parts.figure.el);
    body.replaceChildren(parts.strip.el, parts.truth.el, main, parts.links.el);
    app.parts = { ...parts, main, placement: { draw: placeLinks } };
  }
  /** The links stand under a low grid, beside the figure; under everything otherwise. */
  function placeLinks() {
    const { links, grid, main } = app.parts;
    const beside = app.wide() && grid.el.offsetHeight + 300 < app.room();
    const parent = beside ? main.firstChild : body;
    if (links.el.parentNode !== parent) parent.append(links.el);
    links.el.classList.toggle("beside", beside);
  }
  function feedFor(data) {
    const hooks = {
      onLost: () => tell(app.say.lost),
      onFound: () => {
        if (notice.textContent === app.say.lost || gone) tell("");
        gone = 0;
      },
      onGone,
    };
    const source = makeSource(data, hooks);
    const feed = createFeed(source, {
      onArrive: () => (coming?.feed === feed ? arrived() : redraw()),
      onError: (error) => {
        if (!gone) {
          tell(error.message || app.say.failed, () => {
            tell("");
            feed.retry();
          });
        }
        setAttribute(body, "aria-busy", Boolean(gone));
        if (coming?.feed === feed) arrive();
      },
    });
    return { source, feed };
  }
  /** The server forgot the trace: have it made again, and keep asking until it is there (the same data is not sent twice). */
  function onGone() {
    if (!gone) report.again?.(++asked);
    tell(app.say.again);
    clearTimeout(asking);
    if (gone < 8) asking = setTimeout(() => (coming ?? app).feed.retry(), 1000 * 1.6 ** gone);
    else {tell(app.say.failed, () => {
        gone = 0;
        app.feed.retry();
      });}
    gone = Math.min(gone + 1, 8);
  }
  /** The first questions about a text, the same as its parts will ask. */
  function firstQuestions(data) {
    const { layer, head, focus } = fitSelection(data, data.selection);
    const [rows, cols] = [data.queries.length, (data.keys ?? data.queries).length];
    const list = [["grid", THUMB]];
    if (focus !== null) list.push(["rows", focus]);
    if (rows <= TILE && cols <= TILE) {
      list.push(["tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE }]);
    }
    return list;
  }
  function arrived() {
    if (coming && firstQuestions(coming.data).every(([kind, query]) => coming.feed.peek(kind, query))) arrive();
  }
  /** The new text takes the place of the old one. */
  function arrive() {
    if (!coming) return;
    clearTimeout(coming.timer);
    app.feed?.close();
    const { data, feed, source } = coming;
    coming = null;
    const words = { ...WORDS, ...data.words };
    const rebuild = !app.data || JSON.stringify(words) !== JSON.stringify(app.say);
    Object.assign(app, { data, feed, source, say: words, sent: null, stamp: `${data.base}?${data.view}` });
    echoes.isNews(data.selection);
    if (rebuild) build();
    tell(data.message && data.state === "ready" ? data.message : "");
    store.set({
      kept: fitSelection(data, data.selection),
      preview: null,
      picking: false,
      view: null,
      scroll: null,
      "strip both": 0,
      "strip query": 0,
      "strip key": 0,
    });
    redraw();
  }
  function wait(data) {
    const text = data.message || (data.state === "failed" ? app.say.failed : app.say.working);
    tell(text);
    notice.classList.toggle("failed", data.state === "failed");
    setAttribute(body, "aria-busy", data.state === "loading");
    if (!app.data && !body.firstChild) {
      body.replaceChildren(...["short", "", "tall"].map((size) => h("div", { class: `skeleton block ${size}` })));
    }
    if (!app.data && data.state === "failed") body.replaceChildren();
  }
  /** @param {Payload} data @param {Report} [hooks] */
  function update(data, hooks = report) {
    report = hooks;
    app.theme = readTheme(el);
    el.classList.toggle("dark", app.theme.dark);
    if (data?.state !== "ready") return wait(data ?? { state: "loading", message: "" });
    notice.classList.remove("failed");
    const same = app.data && app.stamp === `${data.base}?${data.view}` &&
      JSON.stringify({ ...WORDS, ...data.words }) === JSON.stringify(app.say);
    if (!same) {
      coming?.feed.close();
      coming = { data, ...feedFor(data), timer: 0 };
      if (!app.data) return arrive();
      coming.timer = setTimeout(arrive, 1500);
      setAttribute(body, "aria-busy", "true");
      for (const [kind, query] of firstQuestions(data)) coming.feed.get(kind, query);
      return arrived();
    }
    app.data = data;
    if (notice.textContent !== app.say.lost) tell(data.message ?? "");
    if (echoes.isNews(data.selection)) {
      app.sent = null;
      store.set({ kept: fitSelection(data, data.selection), preview: null });
    }
    redraw();
  }
  const stop = store.subscribe(redraw);
  const watch = new ResizeObserver(redraw);
  watch.observe(el);
  globalThis.addEventListener("resize", redraw);
  function destroy() {
    send();
    stop();
    watch.disconnect();
    globalThis.removeEventListener("resize", redraw);
    for (const timer of [later, dwelling, moving, asking, app.idle, coming?.timer]) clearTimeout(timer);
    cancelAnimationFrame(frame);
    coming?.feed.close();
    app.feed?.close();
    el.remove();
  }
  return { update, destroy };
}
