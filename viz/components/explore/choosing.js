// Previews and the kept selection, and the time at which the page receives it.

import { setAttribute } from "../shared/elements.js";
import { attendingLayer, canonical, changed, createEchoes, fitSelection, neighbour, togglePin } from "./selection.js";

/** @import { App, Choosing, Selection } from "./types.js" */

const PAUSE = 100; // milliseconds without another preview, after which a pointer is not sweeping over words

/**
 * Return the milliseconds that a pointer rests before a preview fetches so many numbers.
 * @param {number} numbers
 * @param {boolean} paused the pointer paused before this preview
 */
function dwellFor(numbers, paused) {
  if (numbers <= 50000) return paused ? 0 : 30;
  return numbers <= 250000 ? 120 : 360;
}

/** @param {App} app @returns {Choosing} */
export function createChoosing(app) {
  const { store } = app;
  const echoes = createEchoes();
  /** @type {Selection|null} */
  let sent = null;
  let unsent = false; // a selection to send after its picture is painted
  let since = 0;
  let paused = true; // before the preview
  let [later, dwelling] = [0, 0]; // timers

  /** Return true if the page has received the kept selection. */
  const told = () => !app.data || canonical(store.state.kept) === canonical(sent ?? app.data.selection);

  function send() {
    if (told()) return setAttribute(app.el, "aria-busy", false);
    const { kept } = store.state;
    sent = kept;
    echoes.sent(kept);
    Promise.resolve(app.report.selection?.({ ...kept })).then((quietly) => {
      if (quietly) echoes.settled(kept);
      if (told()) setAttribute(app.el, "aria-busy", false);
    });
  }
  /**
   * Keep a selection. `wait` delays the report while keys are pressed quickly.
   * @param {Partial<Selection>} patch
   */
  function keep(patch, wait = false) {
    const { layer } = patch;
    const moved = layer === undefined ? patch : {
      ...patch,
      layer: attendingLayer(app.data, layer, store.state.kept.layer),
    };
    const kept = fitSelection(app.data, changed(store.state.kept, moved));
    if (canonical(kept) === canonical(store.state.kept)) return;
    performance.mark("headlight:ask");
    store.set({ kept, preview: null });
    clearTimeout(later);
    // Paint first: the page's answer uses the same server and the same browser thread.
    unsent = !wait;
    later = setTimeout(send, wait ? 350 : 1000);
    setAttribute(app.el, "aria-busy", true);
  }
  return {
    keep,
    /** Preview a selection; null ends the preview. @param {Partial<Selection>|null} patch */
    preview(patch) {
      const { preview } = store.state;
      if (patch === preview || JSON.stringify(patch) === JSON.stringify(preview)) return;
      paused = performance.now() - since > PAUSE;
      since = performance.now();
      performance.mark("headlight:ask");
      store.set({ preview: patch });
    },
    previewsHead() {
      const { kept, preview } = store.state;
      return preview?.layer !== undefined && (preview.layer !== kept.layer || preview.head !== kept.head);
    },
    /** Return true if the pointer has rested long enough for a preview to fetch; else schedule a redraw. */
    rested() {
      if (!store.state.preview) return true;
      const numbers = app.data.layers * app.data.heads * app.keys().length;
      const left = dwellFor(numbers, paused) - (performance.now() - since);
      if (left > 0) {
        clearTimeout(dwelling);
        dwelling = setTimeout(app.redraw, left + 5);
      }
      return left <= 0;
    },
    /** Send the selection now. */
    flush() {
      clearTimeout(later);
      send();
    },
    escape() {
      app.tip.hide();
      store.set({ preview: null, picking: false });
    },
    /** Step to the previous or next head. @param {number} sign */
    stepHead(sign) {
      const { layer, head } = store.state.kept;
      keep(neighbour(app.data, layer, head, sign), true);
    },
    pin() {
      const { pinned, layer, head } = store.state.kept;
      keep({ pinned: togglePin(pinned, layer, head) });
    },
    /** The kept selection is painted, so the page may receive it. */
    pictured() {
      if (!unsent) return;
      unsent = false;
      clearTimeout(later);
      later = setTimeout(send, 30);
    },
    /** Start with the selection of a new text. @param {Partial<Selection>} selection */
    begin(selection) {
      sent = null;
      echoes.isNews(selection);
    },
    /**
     * Take over a selection from the page, unless it is the echo of a sent selection.
     * @param {Partial<Selection>} selection
     */
    hear(selection) {
      if (!echoes.isNews(selection)) return;
      sent = null;
      store.set({ kept: fitSelection(app.data, selection), preview: null });
    },
    /** Send the last selection and stop. */
    endChoosing() {
      send();
      clearTimeout(later);
      clearTimeout(dwelling);
    },
  };
}
