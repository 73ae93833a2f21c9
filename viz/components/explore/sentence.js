// The tokens of the text, to be asked about: rows of chips, and the tools under them.

import { clamp, colourAt, css, inkOn, level } from "../shared/colours.js";
import { h, setAttribute, setText } from "../shared/elements.js";
import { stripKey, windowOn } from "../shared/moves.js";
import { isRtl } from "../shared/texts.js";
import { chipText, continues, isPair } from "./cells.js";
import { createScrubber } from "./scrubber.js";

const STRIP_WIDE = 200; // chips at once

const STRIP_NARROW = 90;

/** One row of chips: everything ("both"), or for cross-attention what looks ("query") and what is looked at ("key"). */
function createChips(app, role) {
  const box = h("div", {
    class: "chips",
    role: "group",
    onclick,
    onkeydown,
    onfocusin,
    onfocusout,
    onpointerover,
    onpointerleave,
  });
  const bar = createScrubber(app, (start) => {
    app.setLocal({ [`strip ${role}`]: start });
  });
  const el = h(
    "div",
    { class: "chip-row" },
    role === "both" ? null : h("span", { class: "row-name" }, role === "query" ? app.say.queriesRow : app.say.keysRow),
    box,
    bar.el,
  );
  const cells = () => (role === "key" ? app.keys() : app.data.queries);
  const chosen = () => (role === "key" ? app.target(app.shown()) : app.shown().focus);
  const indexOf = (event) => Number(event.target.closest?.("button")?.dataset.i ?? -1);
  let built = "";
  let start = 0;
  let count = 0;
  let lastKept = /** @type {number|null|undefined} */ (undefined);

  function patch(i, alt) {
    return role === "key" || (role === "both" && (alt || app.store.state.picking)) ? { target: i } : { focus: i };
  }
  function onclick(event) {
    const i = indexOf(event);
    if (i < 0) return;
    app.keep(patch(i, event.altKey));
    app.setLocal({ picking: false });
  }
  function onpointerover(event) {
    const i = indexOf(event);
    if (event.pointerType === "touch" || i < 0) return;
    app.preview(patch(i, false));
  }
  function onpointerleave() {
    app.preview(null);
  }
  function onfocusin(event) {
    const i = indexOf(event);
    if (i >= 0 && event.target.matches(":focus-visible")) app.preview(patch(i, false));
  }
  function onfocusout() {
    app.preview(null);
  }
  function onkeydown(event) {
    const act = stripKey(event.key, indexOf(event), cells().length, box.dir === "rtl");
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (act.back) {
      app.escape();
      move(app.store.state.kept.focus ?? 0);
    } else move(act.index);
  }
  function move(i) {
    if (i < start || i >= start + count) app.setLocal({ [`strip ${role}`]: windowOn(i, start, count, cells().length) });
    draw();
    button(i)?.focus();
  }
  const button = (i) => /** @type {HTMLButtonElement|null} */ (box.querySelector(`button[data-i="${i}"]`));

  function chip(all, i) {
    const b = h("button", {
      type: "button",
      class: `chip${all[i].special ? " special" : ""}${continues(all, i) ? " joined" : ""}${
        continues(all, i + 1) ? " open" : ""
      }`,
      dir: "auto",
      tabindex: -1,
      "data-i": i,
    });
    b.textContent = chipText(all, i);
    return b;
  }
  function build() {
    const all = cells();
    const most = app.width() > 640 ? STRIP_WIDE : STRIP_NARROW;
    count = all.length <= most * 1.25 ? all.length : most;
    const kept = role === "key" ? app.store.state.kept.target : app.store.state.kept.focus;
    const wish = app.store.state[`strip ${role}`] ?? 0;
    start = kept === lastKept ? clamp(wish, 0, all.length - count) : windowOn(kept, wish, count, all.length);
    if (start !== wish) app.store.state[`strip ${role}`] = start;
    lastKept = kept;
    const key = [app.stamp, start, count].join();
    if (key === built) return;
    built = key;
    box.classList.toggle("long", all.length > 80);
    box.dir = isRtl(all.map((cell) => (cell.special ? "" : cell.text)).join(" ").slice(0, 400)) ? "rtl" : "ltr";
    setAttribute(
      box,
      "aria-label",
      role === "both" ? app.say.strip : `${app.say.strip}: ${role === "query" ? app.say.queriesRow : app.say.keysRow}`,
    );
    const parts = [];
    const pair = isPair(all);
    for (let i = start; i < start + count; i++) {
      if (pair && (i === start || all[i].segment !== all[i - 1].segment)) {
        parts.push(
          h(
            "span",
            { class: i === start ? "segment first" : "segment" },
            all[i].segment === 0 ? app.say.segmentA : app.say.segmentB,
          ),
        );
      }
      parts.push(chip(all, i));
    }
    box.replaceChildren(...parts);
  }
  function colour() {
    const values = app.shades(role);
    const [picked, target] = [chosen(), role === "query" ? null : app.target(app.shown())];
    const [scale, top, theme] = [app.shown().scale, app.scaleTop(), app.theme];
    const current = role === "key" ? (app.store.state.kept.target ?? start) : app.store.state.kept.focus ?? start;
    const stop = current >= start && current < start + count ? current : start;
    for (const b of box.querySelectorAll("button")) {
      const i = Number(b.dataset.i);
      const rgb = values && values[i] > 0 ? colourAt(theme.ramp, level(values[i], top, scale)) : null;
      b.style.backgroundColor = rgb ? css(rgb) : "";
      b.style.color = rgb ? inkOn(rgb) : "";
      b.classList.toggle("focus", role !== "key" && i === picked);
      b.classList.toggle("target", i === target);
      setAttribute(b, "aria-pressed", i === picked || (role === "key" && i === target));
      if (b.tabIndex !== (i === stop ? 0 : -1)) b.tabIndex = i === stop ? 0 : -1;
    }
    bar.draw(values, cells().length, start, count, scale, top);
  }
  function reveal() {
    const b = button(chosen() ?? -1);
    if (!b || b === revealed || app.store.state.preview) return;
    revealed = b;
    if (b.offsetTop < box.scrollTop || b.offsetTop + b.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = b.offsetTop - box.clientHeight / 2;
    }
  }
  let revealed = null;
  function draw() {
    build();
    colour();
    reveal();
  }
  return { el, draw };
}

export function createStrip(app) {
  const say = app.say;
  const facing = (value, text) =>
    h("button", { type: "button", "data-value": value, onclick: () => app.setLocal({ facing: value }) }, text);
  const ways = [facing("out", say.looksAt), facing("in", say.lookedAt)];
  const pick = h("button", {
    type: "button",
    class: "plain",
    title: say.pickTargetHint,
    onclick: () => app.setLocal({ picking: !app.store.state.picking }),
  }, say.pickTarget);
  const rows = h("div", {});
  const el = h(
    "section",
    { class: "strip", "aria-label": say.strip },
    rows,
    h(
      "div",
      { class: "strip-tools" },
      h("div", { class: "switch", role: "group", "aria-label": say.direction }, ...ways),
      pick,
    ),
  );
  let groups = [];
  let kind = "";
  function draw() {
    const cross = Boolean(app.data.keys);
    if (kind !== String(cross)) {
      kind = String(cross);
      groups = (cross ? ["query", "key"] : ["both"]).map((role) => createChips(app, role));
      rows.replaceChildren(...groups.map((group) => group.el));
    }
    for (const b of ways) setAttribute(b, "aria-pressed", b.dataset.value === app.store.state.facing);
    setAttribute(pick, "aria-pressed", app.store.state.picking);
    el.classList.toggle("picking", app.store.state.picking);
    for (const group of groups) group.draw();
  }
  return { el, draw };
}

export function createTruth(app) {
  const el = h("p", { class: "truth", "aria-live": "polite" });
  return { el, draw: () => setText(el, app.sentence()) };
}
