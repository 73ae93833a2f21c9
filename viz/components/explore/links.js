// Who links the focus to what: one cell per head, the strongest links as a table.

import { clamp, colourAt, css, level } from "../shared/colours.js";
import { h, pageTop, save_as, setAttribute, setText } from "../shared/elements.js";
import { labelStep } from "../shared/labels.js";
import { csv, cut, visible } from "../shared/texts.js";
import { quote } from "./cells.js";
import { STRENGTHS } from "./contract.js";
import { doubtsIn } from "./crowd.js";
import { short } from "./numbers.js";
import { sheet } from "./pens.js";
import { topLinks } from "./truth.js";
import { fill } from "./words.js";

/** @import { App, By, Rows } from "./types.js" */

const COLUMNS = ["layer", "head", "from_index", "from", "to_index", "to", "weight", "others_give", "place_gets"];

/** @param {App} app */
export function createLinks(app) {
  const say = app.say;
  const title = h("summary", {});
  const canvas = h("canvas", { role: "img", onpointermove, onpointerleave: () => app.tip.hide(), onclick });
  const choose = h("select", {
    onchange: () => app.keep({ target: choose.value === "" ? null : Number(choose.value) }),
  });
  const by = h(
    "select",
    { title: say.byHint, onchange: () => app.keep({ by: /** @type {By} */ (by.value) }) },
    ...app.data.choices.by.map((name) => h("option", { value: name }, say[STRENGTHS[name].label])),
  );
  const special = h("input", { type: "checkbox", onchange: () => app.setLocal({ special: special.checked }) });
  const caption = h("caption", {});
  const body = h("tbody", {});
  const note = h("p", { class: "note" });
  const table = h(
    "table",
    {},
    caption,
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...[say.layer, say.headColumn, say.token, say.weight].map((text) => h("th", { scope: "col" }, text)),
        h("th", { scope: "col", title: say.othersGiveHint }, say.othersGive),
      ),
    ),
    body,
  );
  const el = h(
    "details",
    { class: "links", ontoggle: () => app.redraw() },
    title,
    h(
      "div",
      { class: "links-body" },
      h(
        "div",
        { class: "links-map" },
        h("label", { class: "picker" }, h("span", {}, say.target), choose),
        h("label", { class: "picker" }, h("span", {}, say.by), by),
        canvas,
        note,
      ),
      h(
        "div",
        { class: "links-table" },
        table,
        h(
          "div",
          { class: "strip-tools" },
          h("label", { class: "picker" }, special, h("span", {}, say.withSpecial)),
          h("button", { type: "button", class: "plain", onclick: save }, say.download),
        ),
      ),
    ),
  );
  let cell = 20;
  let listed = "";
  let offered = "";
  let decided = false;

  /** @param {MouseEvent} event */
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const [head, layer] = [
      Math.floor((event.clientX - box.left - 24) / cell),
      Math.floor((event.clientY - box.top - 18) / cell),
    ];
    return head >= 0 && layer >= 0 && head < app.data.heads && layer < app.data.layers ? { layer, head } : null;
  }
  /** @param {PointerEvent} event */
  function onpointermove(event) {
    const [at, weights, { focus }] = [under(event), app.linkWeights(), app.store.state.kept];
    const target = app.target(app.store.state.kept);
    if (!at || !weights || focus === null || target === null) return app.tip.hide();
    const weight = weights[at.layer * app.data.heads + at.head];
    const usual = doubtsIn(app)?.({ ...at, query: focus, key: target, weight }).usual ?? NaN;
    app.tip.show(
      [
        app.name(at.layer, at.head),
        fill(say.link, { ...app.linkNames(), weight: weight.toFixed(4) }),
        Number.isNaN(usual) ? "" : `${say.othersGive} ${usual.toFixed(4)}`,
      ],
      event.clientX,
      event.clientY,
    );
  }
  /** @param {MouseEvent} event */
  function onclick(event) {
    const at = under(event);
    if (at) app.keep(at);
  }
  /** @param {Float32Array} weights */
  function drawMap(weights) {
    const { layers, heads, indexBase: base } = app.data;
    const { theme } = app;
    cell = clamp(
      Math.floor(
        Math.min(
          ((el.classList.contains("beside") ? 0.4 : app.wide() ? 0.46 : 0.96) * app.width() - 24) / heads,
          420 / layers,
        ),
      ),
      9,
      30,
    );
    const pen = sheet(canvas, 26 + heads * cell, 20 + layers * cell, theme.family);
    const top = Math.max(0, ...weights);
    const label = { size: 11, fill: theme.muted };
    for (let c = 0; c < heads; c += labelStep(cell, 16)) {
      pen.text(String(c + base), 24 + (c + 0.5) * cell, 9, { ...label, align: "center" });
    }
    for (let l = 0; l < layers; l += labelStep(cell, 12)) {
      pen.text(String(l + base), 18, 18 + (l + 0.5) * cell, { ...label, align: "right" });
    }
    weights.forEach((weight, id) => {
      const [x, y] = [24 + (id % heads) * cell, 18 + Math.floor(id / heads) * cell];
      pen.rect(x, y, cell - 1, cell - 1, {
        fill: css(colourAt(theme.ramp, level(Math.max(0, weight), 1, app.shown().scale))),
      });
    });
    const { layer, head } = app.shown();
    pen.rect(24 + head * cell, 18 + layer * cell, cell - 1, cell - 1, { stroke: theme.accent, width: 2.5 });
    const { from, to } = app.linkNames() ?? { from: "", to: "" };
    const what = app.store.state.kept.by === "weight" ? say.whatWeight : say.whatExcess;
    const template = theme.dark ? say.linksNoteDark : say.linksNote;
    const text = fill(template, { what, focus: from, target: to, top: short(top) });
    setText(note, text);
    setAttribute(canvas, "aria-label", text);
  }
  /** @param {Rows} rows */
  function offerTargets(rows) {
    const keys = app.keys();
    const { focus, target } = app.store.state.kept;
    const strongest = app.target({ ...app.store.state.kept, target: null });
    const key = [app.stamp, focus, strongest, target !== null].join();
    if (key !== offered) {
      offered = key;
      let list = keys.map((_, i) => i);
      if (list.length > 300) {
        list = [...new Set([...topLinks(rows, 300).map((link) => link.token), ...(target === null ? [] : [target])])]
          .sort((a, b) => a - b);
      }
      choose.replaceChildren(
        h("option", { value: "" }, fill(say.strongest, { target: cut(visible(keys[strongest ?? 0].text), 20) })),
        ...list.map((i) => h("option", { value: i }, `${i + app.data.indexBase} ${cut(visible(keys[i].text), 24)}`)),
      );
    }
    if (target !== null && !choose.querySelector(`option[value="${target}"]`)) {
      choose.append(h("option", { value: target }, visible(keys[target].text)));
    }
    choose.value = target === null ? "" : String(target);
  }
  /** The strongest links of the focus, by what the reader calls strong. @param {Rows} rows @param {number} most */
  function strongest(rows, most) {
    const { focus, by: how } = app.store.state.kept;
    const keys = app.keys();
    const allowed = (/** @type {number} */ i) => Boolean(app.store.state.special) || !keys[i].special;
    const strength = how === "weight" || focus === null ? null : app.strengthOf(focus, "out");
    return topLinks(rows, most, allowed, strength ?? undefined);
  }
  /** @param {import("./crowd.js").Doubts|undefined} doubts */
  const othersGive = (doubts) => (doubts && !Number.isNaN(doubts.usual) ? short(doubts.usual) : "–");
  /** @param {Rows} rows */
  function list(rows) {
    const { focus, by: how } = app.store.state.kept;
    const withSpecial = Boolean(app.store.state.special);
    const doubts = doubtsIn(app);
    const key = [app.stamp, focus, withSpecial, how, doubts !== null, app.say.top].join();
    if (key === listed || focus === null) return;
    listed = key;
    const [keys, base] = [app.keys(), app.data.indexBase];
    setText(caption, fill(say.top, { focus: app.linkNames()?.from }));
    body.replaceChildren(
      ...strongest(rows, 10).map(({ layer, head, token, weight }) =>
        h(
          "tr",
          { onclick: () => app.keep({ layer, head, target: token }) },
          h("td", {}, String(layer + base)),
          h(
            "td",
            {},
            h("button", {
              type: "button",
              class: "plain",
              "aria-label": app.name(layer, head),
              onclick: (/** @type {Event} */ event) => {
                event.stopPropagation();
                app.keep({ layer, head, target: token });
              },
            }, String(head + base)),
          ),
          h("td", { dir: "auto" }, visible(keys[token].text)),
          h("td", {}, short(weight)),
          h("td", {}, othersGive(doubts?.({ layer, head, query: focus, key: token, weight }))),
        )
      ),
    );
  }
  function save() {
    const { focus } = app.store.state.kept;
    const rows = focus === null ? null : app.feed.peek("rows", focus);
    if (focus === null || !rows) return;
    const [keys, base, doubts] = [app.keys(), app.data.indexBase, doubtsIn(app)];
    const lines = strongest(rows, 1000).map(
      ({ layer, head, token, weight }) => {
        const [from, to] = [app.data.queries[focus].text, keys[token].text];
        const found = doubts?.({ layer, head, query: focus, key: token, weight });
        const others = found && !Number.isNaN(found.usual) ? found.usual : "";
        return [layer + base, head + base, focus + base, from, token + base, to, weight, others, found?.placed ?? ""];
      },
    );
    save_as(
      "headlight-links.csv",
      new Blob(["\ufeff", csv([COLUMNS, ...lines])], {
        type: "text/csv",
      }),
    );
  }
  function draw() {
    const { focus } = app.store.state.kept;
    el.hidden = focus === null;
    if (focus === null) return;
    setText(title, fill(say.links, { focus: quote(app.data.queries, focus, app.data.indexBase) }));
    const rows = app.feed.get("rows", focus);
    if (!decided && rows) { // open at first where there is room for it
      decided = true;
      el.open = app.wide() && pageTop(el) + 240 < globalThis.innerHeight;
    }
    const weights = rows && app.linkStrengths();
    if (!el.open || !weights) return;
    by.value = app.store.state.kept.by;
    offerTargets(rows);
    drawMap(weights);
    special.checked = Boolean(app.store.state.special);
    list(rows);
  }
  return { el, draw };
}
