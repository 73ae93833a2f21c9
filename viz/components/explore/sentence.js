// The tokens of the text as rows of chips, and the controls under them.

import { createChipRow, shownAtOnce } from "../token_strip/chips.js";
import { clamp, colourAt } from "../shared/colours.js";
import { h, setAttribute, setText } from "../shared/elements.js";
import { windowOn } from "../shared/moves.js";
import { createArcs } from "./arcs.js";
import { continues, isPair, quoteWord } from "./cells.js";
import { createScrubber } from "./scrubber.js";
import { fill } from "../shared/words.js";
import { ends, textOf, turned } from "./selection.js";

/** @import { App, Facing, StripRole, Words } from "./types.js" */

/** Label of the button that picks the other end of a link. @type {Record<Facing, keyof Words>} */
const PICKS = { out: "pickTarget", in: "pickLooker" };

/** Return the end of links that a row of chips selects; null for the end in question. @param {StripRole} role */
const endOf = (role) => role === "query" ? "focus" : role === "key" ? "target" : null;

/**
 * Create a row of chips: the text ("both"), or for cross-attention the queries ("query") or the keys ("key").
 * @param {App} app @param {StripRole} role
 */
function createWords(app, role) {
  const row = createChipRow({
    onpick(i, event) {
      app.keep(patch(i, event.altKey));
      app.setLocal({ picking: false });
    },
    onpoint: (i) => i >= 0 && app.preview(patch(i, false)),
    onleave: () => app.preview(null),
    onreach(i) {
      if (i < start || i >= start + count) moveTo(windowOn(i, start, count, cells().length));
      draw();
    },
    onback() {
      app.escape();
      return app.store.state.kept[mine()] ?? 0;
    },
  });
  const bar = createScrubber(app, moveTo);
  const name = role === "both" ? "" : role === "query" ? app.say.queriesRow : app.say.keysRow;
  const label = name ? `${app.say.strip}: ${name}` : app.say.strip;
  const el = h("div", { class: "chip-row" }, name ? h("span", { class: "row-name" }, name) : null, row.el, bar.el);
  const mine = () => endOf(role) ?? ends(app.store.state.kept)[0];
  const cells = () => app.cellsOf(mine());
  let [start, count] = [0, 0];
  /** @type {number|null|undefined} */
  let lastKept;

  /** @param {number} to */
  function moveTo(to) {
    app.setLocal({ strips: { ...app.store.state.strips, [role]: to } });
  }
  /** Return the selection that a click on a chip makes. @param {number} i @param {boolean} alt */
  function patch(i, alt) {
    const [pivot, partner] = ends(app.store.state.kept);
    return { [endOf(role) ?? (alt || app.store.state.picking ? partner : pivot)]: i };
  }
  /** Update the visible window of the text; it contains the token that was kept last. */
  function frame() {
    const { kept, strips } = app.store.state;
    const length = cells().length;
    const at = kept[mine()];
    count = shownAtOnce(length, app.width());
    start = at === lastKept ? clamp(strips[role], 0, length - count) : windowOn(at, strips[role], count, length);
    strips[role] = start; // set without notifying listeners, since this is the drawing that they would request
    lastKept = at;
  }
  function draw() {
    frame();
    const [all, shown, { kept, preview }] = [cells(), app.shown(), app.store.state];
    const [pair, values, top] = [isPair(all), app.shades(role), app.scaleTop()];
    const [pivot, partner] = ends(shown);
    const link = app.linkOf(shown);
    const chosen = link[mine()];
    const marked = (/** @type {"focus"|"target"} */ end, /** @type {number} */ i) =>
      (endOf(role) ?? end) === end && link[end] === i;
    const stop = kept[mine()] ?? start;
    const heads = (/** @type {number} */ i) => pair && (i === start || all[i].segment !== all[i - 1].segment);
    row.draw({
      key: app.stamp,
      label,
      length: all.length,
      start,
      count,
      picks: true,
      stop: stop >= start && stop < start + count ? stop : start,
      chip: (i) => ({
        text: all[i].text,
        special: all[i].special,
        glued: continues(all, i),
        unknown: all[i].unknown,
        heading: heads(i) ? (all[i].segment === 0 ? app.say.segmentA : app.say.segmentB) : null,
      }),
      look: (i) => ({
        rgb: values && values[i] ? colourAt(app.theme.ramp, app.theme.level(values[i], top, shown.scale)) : null,
        marks: [marked(pivot, i) ? "focus" : "", marked(partner, i) ? "target" : ""],
        pressed: i === chosen,
      }),
    });
    bar.draw(values, all.length, start, count, shown.scale, top);
    if (chosen !== null && !preview) row.reveal(chosen);
  }
  return { el, draw, role, visibleChip: row.visibleChip };
}

const LARGE = 40; // chips at most in large type

/** Create the rows of chips, the lines above them and the controls under them. @param {App} app */
export function createStrip(app) {
  const say = app.say;
  const { facing } = app.data.options;
  const ways = facing.choices.map(({ value, text }) =>
    h("button", { type: "button", "data-value": value, onclick: () => turn(value) }, text)
  );
  /** @param {Facing} facing */
  function turn(facing) {
    const { kept } = app.store.state;
    if (facing !== kept.facing) app.keep(turned(app.linkOf(kept), facing, Boolean(app.data.keys)));
  }
  const pick = h("button", {
    type: "button",
    class: "plain pick",
    onclick: () => app.setLocal({ picking: !app.store.state.picking }),
  });
  const hint = h("span", { class: "muted" });
  /** @type {Partial<import("./types.js").Selection>|null} */
  let best = null;
  const strongest = h("button", { type: "button", class: "plain strongest", onclick: () => best && app.keep(best) });
  const rows = h("div", { class: "rows" });
  const arcs = createArcs(
    app,
    (end, i) => groups.find(({ role }) => (endOf(role) ?? end) === end)?.visibleChip(i) ?? null,
  );
  rows.addEventListener("scroll", arcs.draw, { capture: true, passive: true });
  const el = h(
    "section",
    { class: "strip", "aria-label": say.strip },
    h("div", { class: "sentence" }, arcs.el, rows),
    h(
      "div",
      { class: "strip-tools" },
      h("div", { class: "switch", role: "group", "aria-label": facing.label }, ...ways),
      pick,
      hint,
      strongest,
    ),
  );
  /** Offer the head with the strongest link between the two words, which stay chosen, unless this head is chosen. */
  function offerStrongest() {
    const found = app.strongestHead();
    strongest.hidden = found === null;
    best = null;
    if (!found) return;
    const { by, ...there } = found;
    best = there;
    const [query, key] = [quoteWord(app.data.queries, there.focus), quoteWord(app.keys(), there.target)];
    setText(strongest, fill(say.strongestHead, { ...there, measure: textOf(app.data, "by", by), query, key }));
  }
  /** @type {ReturnType<typeof createWords>[]} */
  let groups = [];
  let kind = "";
  function draw() {
    const cross = Boolean(app.data.keys);
    if (kind !== String(cross)) {
      kind = String(cross);
      groups = /** @type {StripRole[]} */ (cross ? ["query", "key"] : ["both"]).map((role) => createWords(app, role));
      rows.replaceChildren(...groups.map((group) => group.el));
    }
    for (const b of ways) setAttribute(b, "aria-pressed", b.dataset.value === app.store.state.kept.facing);
    setText(pick, say[PICKS[app.store.state.kept.facing]]);
    setAttribute(pick, "title", say.pickHint);
    setText(hint, app.store.state.picking ? say.pickHint : "");
    offerStrongest();
    setAttribute(pick, "aria-pressed", app.store.state.picking);
    el.classList.toggle("picking", app.store.state.picking);
    el.classList.toggle("large", !app.data.patches && Math.max(app.data.queries.length, app.keys().length) <= LARGE);
    for (const group of groups) group.draw();
    arcs.draw();
  }
  return { el, draw };
}

/**
 * Keep the greatest height that an element has had at its width, so that a shorter text does not move what is below.
 * @param {HTMLElement} el
 */
function keepRoom(el) {
  let width = 0;
  const watch = new ResizeObserver(() => {
    if (el.offsetWidth !== width) el.style.minHeight = "";
    width = el.offsetWidth;
    el.style.minHeight = `${el.offsetHeight}px`;
  });
  watch.observe(el);
}

/** Create the sentence about the link in question, and the note about its baselines. @param {App} app */
export function createTruth(app) {
  const sentence = h("p", { class: "truth", "aria-live": "polite" });
  const note = h("p", { class: "note doubt" });
  const el = h("div", { class: "result" }, sentence, note);
  keepRoom(el); // The maps under the pointer stay in place while the sentence follows it.
  return {
    el,
    draw() {
      setText(sentence, app.sentence());
      setText(note, app.doubt());
    },
  };
}
