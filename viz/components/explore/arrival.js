// Arrival of a text: its first arrays are fetched while the old text is still shown, then it replaces the old text.

import { h, setAttribute } from "../shared/elements.js";
import { createFeed } from "./feed.js";
import { createParts } from "./parts.js";
import { ends, fitSelection } from "./selection.js";
import { THUMB, TILE } from "./source.js";
import { wording } from "./words.js";

/** @import { App, Feed, Payload, Question, Source, SourceMaker } from "./types.js" */

const PATIENCE = 1500; // ms that the old text stays while the new text's arrays are on their way
const ATTEMPTS = 8; // attempts to fetch a text that the server has dropped

/** @param {Payload} data */
const stampOf = (data) => `${data.base}?${data.view}`;

/** Return the first requests for a text, equal to those of its parts. @param {Payload} data */
function firstQuestions(data) {
  const selection = fitSelection(data, data.selection);
  const { layer, head } = selection;
  const pivot = selection[ends(selection)[0]];
  const [rows, cols] = [data.queries.length, (data.keys ?? data.queries).length];
  /** @type {Question[]} */
  const list = [["grid", THUMB]];
  if (pivot !== null) list.push([selection.facing === "out" ? "rows" : "columns", pivot]);
  if (rows <= TILE && cols <= TILE) list.push(["tile", { layer, head, q0: 0, q1: rows, k0: 0, k1: cols, size: TILE }]);
  return list;
}

/**
 * @param {App} app @param {HTMLElement} body @param {ReturnType<typeof import("./notice.js").createNotice>} notice
 * @param {SourceMaker} makeSource
 */
export function createArrival(app, body, notice, makeSource) {
  let asked = 0;
  let asking = 0; // timer
  let gone = 0; // consecutive answers with status 410
  /** @type {{data: Payload, feed: Feed, source: Source, timer: number}|null} a text whose arrays are on their way */
  let coming = null;

  /** @param {Payload} data */
  function feedFor(data) {
    const source = makeSource(data, {
      onLost: () => notice.tell(app.say.lost),
      onFound: () => {
        if (notice.says(app.say.lost) || gone) notice.tell("");
        gone = 0;
      },
      onGone,
    });
    /** @type {Feed} */
    const feed = createFeed(source, {
      onArrive: () => (coming?.feed === feed ? arrived() : app.redraw()),
      onError: (error) => {
        const act = () => {
          notice.tell("");
          feed.retry();
        };
        if (!gone) notice.tell(error.message || app.say.failed, { label: app.say.retry, act });
        setAttribute(body, "aria-busy", gone > 0);
        if (coming?.feed === feed) arrive();
      },
    });
    return { source, feed };
  }
  /**
   * The server dropped the trace: request a rerun, and retry until the trace is there (identical data is not resent).
   */
  function onGone() {
    if (!gone) app.report.again?.(++asked);
    clearTimeout(asking);
    if (gone < ATTEMPTS) {
      notice.tell(app.say.again);
      asking = setTimeout(() => (coming ?? app).feed.retry(), 1000 * 1.6 ** gone);
    } else {
      const act = () => {
        gone = 0;
        app.feed.retry();
      };
      notice.tell(app.say.failed, { label: app.say.retry, act });
    }
    gone = Math.min(gone + 1, ATTEMPTS);
  }
  function arrived() {
    const here = coming;
    if (here?.feed.has(firstQuestions(here.data))) arrive();
  }
  /** Replace the old text by the new text. */
  function arrive() {
    if (!coming) return;
    clearTimeout(coming.timer);
    app.feed?.close();
    const { data, feed, source } = coming;
    coming = null;
    const rebuild = !app.data || !sameControls(data);
    Object.assign(app, { data, feed, source, stamp: stampOf(data) });
    if (rebuild) app.say = wording(data.patches);
    app.begin(data.selection);
    if (rebuild) app.parts = createParts(app, body);
    notice.tell(data.message);
    app.store.set({
      kept: fitSelection(data, data.selection),
      preview: null,
      picking: false,
      view: null,
      scroll: null,
      strips: { both: 0, query: 0, key: 0 },
    });
    app.redraw();
  }
  /** Return true if the controls can stay. @param {Payload} data */
  function sameControls(data) {
    const named = (/** @type {Payload} */ one) => one.measures.map(({ name }) => name);
    const controls = (/** @type {Payload} */ one) => JSON.stringify([one.options, named(one), one.patches]);
    return controls(data) === controls(app.data);
  }
  /** @param {Pick<Payload, "state"|"message">} data */
  function wait(data) {
    const failed = data.state === "failed";
    notice.tell(data.message || (failed ? app.say.failed : app.say.working));
    notice.mark(failed);
    setAttribute(body, "aria-busy", data.state === "loading");
    if (app.data) return;
    if (failed) body.replaceChildren();
    else if (!body.firstChild) {
      body.replaceChildren(...["short", "", "tall"].map((size) => h("div", { class: `skeleton block ${size}` })));
    }
  }
  return {
    /** Return true if another text is on its way. */
    waits: () => coming !== null,
    /** @param {Payload} data */
    update(data) {
      if (data?.state !== "ready") return wait(data ?? { state: "loading", message: "" });
      notice.mark(false);
      if (!app.data || app.stamp !== stampOf(data) || !sameControls(data)) {
        coming?.feed.close();
        coming = { data, ...feedFor(data), timer: 0 };
        if (!app.data) return arrive();
        coming.timer = setTimeout(arrive, PATIENCE);
        setAttribute(body, "aria-busy", true);
        coming.feed.fetch(firstQuestions(data));
        return arrived();
      }
      app.data = data;
      if (!notice.says(app.say.lost)) notice.tell(data.message ?? "");
      app.hear(data.selection);
      app.redraw();
    },
    close() {
      clearTimeout(asking);
      clearTimeout(coming?.timer);
      coming?.feed.close();
      app.feed?.close();
    },
  };
}
