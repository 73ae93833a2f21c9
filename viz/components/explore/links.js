// The links of the focus: a cell for each head, and the strongest links as a table.

import { clamp, colourAt, css } from "../shared/colours.js";
import { distanceFromTop, h, placeIn, setAttribute, setText, windowHeight } from "../shared/elements.js";
import { labelStep } from "../shared/labels.js";
import { saveTable, tableOf } from "../shared/tables.js";
import { cut, visible } from "../shared/texts.js";
import { quote } from "./cells.js";
import { baselinesOf, doubtsIn } from "./crowd.js";
import { drawLegend, LEGENDS } from "./legend.js";
import { argmax, minus, short } from "./numbers.js";
import { picker } from "./picker.js";
import { cleared } from "../shared/pens.js";
import { attends, ends } from "./selection.js";
import { topLinks } from "./truth.js";
import { fill } from "../shared/words.js";

/** @import { App, Rows } from "./types.js" */
/** @typedef {keyof ReturnType<typeof baselinesOf>} BaselineName */

const COLUMNS = [
  "layer",
  "head",
  "from_index",
  "from",
  "to_index",
  "to",
  "weight",
  "column_mean",
  "positional_prior",
  "above_baseline",
];

const LEGEND = 300; // px: the width that the legend needs

/** @param {App} app */
export function createLinks(app) {
  const say = app.say;
  const title = h("summary", {});
  const partner = () => ends(app.store.state.kept)[1];
  const canvas = h("canvas", { role: "img", onpointermove, onpointerleave: () => app.tip.hide(), onclick });
  const choose = h("select", {
    onchange: () => app.keep({ [partner()]: choose.value === "" ? null : Number(choose.value) }),
  });
  const by = picker(app, "by");
  by.el.hidden = app.data.options.by.choices.length < 2;
  const special = h("input", { type: "checkbox", onchange: () => app.setLocal({ special: special.checked }) });
  const caption = h("caption", {});
  const body = h("tbody", {});
  const note = h("p", { class: "note" });
  const token = h("th", { scope: "col" });
  const other = h("span", {});
  const weighed = h("th", { scope: "col" }, say.weight);
  const corrected = h("th", { scope: "col", title: say.aboveHint }, say.aboveBaseline);
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
        ...[say.layer, say.headColumn].map((text) => h("th", { scope: "col" }, text)),
        token,
        weighed,
        h("th", { scope: "col", title: say.columnMeanHint }, say.columnMean),
        h("th", { scope: "col", title: say.priorHint }, say.prior),
        corrected,
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
        h("label", { class: "picker" }, other, choose),
        by.el,
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
          h("button", { type: "button", class: "plain", onclick: save }, `${say.download} (zip)`),
        ),
      ),
    ),
  );
  let cell = 20;
  let listed = "";
  let offered = "";
  let decided = false;

  const quoted = (/** @type {number} */ pivot) => quote(app.cellsOf(ends(app.store.state.kept)[0]), pivot);
  /** @param {MouseEvent} event */
  function under(event) {
    const [x, y] = placeIn(canvas, event);
    const [head, layer] = [Math.floor((x - 24) / cell), Math.floor((y - 18) / cell)];
    const there = head >= 0 && layer >= 0 && head < app.data.heads && layer < app.data.layers;
    return there && attends(app.data, layer) ? { layer, head } : null;
  }
  /** @param {PointerEvent} event */
  function onpointermove(event) {
    const [at, weights] = [under(event), app.linkWeights()];
    const { focus, target } = app.linkOf(app.store.state.kept);
    if (!at || !weights || focus === null || target === null) return app.tip.hide();
    const weight = weights[at.layer * app.data.heads + at.head];
    const doubts = doubtsIn(app)?.({ ...at, query: focus, key: target, weight });
    const baselines = Object.entries(doubts ? baselinesOf(weight, doubts) : {});
    app.tip.show(
      [
        app.name(at.layer, at.head),
        fill(say.link, { ...app.linkNames(), weight: minus(weight.toFixed(4)) }),
        ...baselines.map(([name, value]) =>
          value === null ? "" : `${say[/** @type {BaselineName} */ (name)]} ${minus(value.toFixed(4))}`
        ),
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
    const { layers, heads } = app.data;
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
    const below = 20 + layers * cell; // the lower end of the cells, above the legend
    const pen = cleared(canvas, Math.max(26 + heads * cell, LEGEND), below + 34, theme.family);
    const there = (/** @type {number} */ id) => attends(app.data, Math.floor(id / heads));
    const top = weights[argmax(weights, there, theme.signed ? Math.abs : Number)];
    const label = { size: 11, fill: theme.muted };
    for (let c = 0; c < heads; c += labelStep(cell, 16)) {
      pen.text(String(c), 24 + (c + 0.5) * cell, 9, { ...label, align: "center" });
    }
    for (let l = 0; l < layers; l += labelStep(cell, 12)) {
      pen.text(String(l), 18, 18 + (l + 0.5) * cell, { ...label, align: "right" });
    }
    weights.forEach((weight, id) => {
      const [x, y] = [24 + (id % heads) * cell, 18 + Math.floor(id / heads) * cell];
      pen.rect(x, y, cell - 1, cell - 1, {
        fill: css(colourAt(theme.ramp, theme.level(weight, 1, app.shown().scale))),
      });
    });
    const { layer, head, scale } = app.shown();
    drawLegend(pen, { theme, x: 24, y: below + 6, w: 110, top: 1, scale, name: say[LEGENDS[scale]] });
    pen.rect(24 + head * cell, 18 + layer * cell, cell - 1, cell - 1, { stroke: theme.accent, width: 2.5 });
    const { from, to } = app.linkNames() ?? { from: "", to: "" };
    const what = app.store.state.kept.by === "weight" ? say.whatWeight : say.whatExcess;
    const template = theme.signed ? say.linksNoteSigned : say.linksNote;
    const text = fill(template, { what, focus: from, target: to, top: short(top) });
    setText(note, text);
    setAttribute(canvas, "aria-label", text);
  }
  /** Offer the tokens for the link's other end. @param {Rows} rows @param {number} pivot */
  function offerPartners(rows, pivot) {
    const { kept } = app.store.state;
    const end = partner();
    const cells = app.cellsOf(end);
    const target = kept[end];
    const strongest = app.linkOf({ ...kept, [end]: null })[end];
    const head = kept.order === "focus" ? "" : `${kept.layer}-${kept.head}`;
    const key = [app.stamp, end, pivot, strongest, target !== null, head].join();
    if (key !== offered) {
      offered = key;
      let list = cells.map((_, i) => i);
      if (list.length > 300) {
        list = [...new Set([...topLinks(rows, 300).map((link) => link.token), ...(target === null ? [] : [target])])]
          .sort((a, b) => a - b);
      }
      choose.replaceChildren(
        h(
          "option",
          { value: "" },
          fill(head ? say.strongestIn : say.strongest, { head, target: cut(visible(cells[strongest ?? 0].text), 20) }),
        ),
        ...list.map((i) => h("option", { value: i }, `${i} ${cut(visible(cells[i].text), 24)}`)),
      );
    }
    if (target !== null && !choose.querySelector(`option[value="${target}"]`)) {
      choose.append(h("option", { value: target }, visible(cells[target].text)));
    }
    choose.value = target === null ? "" : String(target);
  }
  /**
   * Return the strongest links of the pivot, in the chosen order.
   * @param {Rows} rows @param {number} pivot @param {number} most
   */
  function strongest(rows, pivot, most) {
    const { facing, by: how } = app.store.state.kept;
    const cells = app.cellsOf(partner());
    const allowed = (/** @type {number} */ i) => Boolean(app.store.state.special) || !cells[i].special;
    const strength = how === "weight" ? null : app.strengthOf(pivot, facing);
    return topLinks(rows, most, allowed, strength ?? undefined).map((link) => ({
      ...link,
      query: facing === "out" ? pivot : link.token,
      key: facing === "out" ? link.token : pivot,
    }));
  }
  /** @param {Rows} rows @param {number} pivot */
  function list(rows, pivot) {
    const { facing, by: how } = app.store.state.kept;
    const withSpecial = Boolean(app.store.state.special);
    const doubts = doubtsIn(app);
    const key = [app.stamp, facing, pivot, withSpecial, how, doubts !== null, app.say.top].join();
    if (key === listed) return;
    listed = key;
    const end = partner();
    const cells = app.cellsOf(end);
    const out = facing === "out";
    setText(token, out ? say.token : say.lookedAt);
    const ranked = how === "weight" || doubts === null ? weighed : corrected;
    for (const column of [weighed, corrected]) {
      setAttribute(column, "aria-sort", column === ranked ? "descending" : "none");
    }
    setText(caption, fill(out ? say.top : say.topIn, { focus: quoted(pivot) }));
    body.replaceChildren(
      ...strongest(rows, pivot, 10).map(({ layer, head, token, weight, query, key }) =>
        h(
          "tr",
          { onclick: () => app.keep({ layer, head, [end]: token }) },
          h("td", {}, String(layer)),
          h(
            "td",
            {},
            h("button", {
              type: "button",
              class: "plain",
              "aria-label": app.name(layer, head),
              onclick: (/** @type {Event} */ event) => {
                event.stopPropagation();
                app.keep({ layer, head, [end]: token });
              },
            }, String(head)),
          ),
          h("td", { dir: "auto" }, quote(cells, token)),
          h("td", {}, short(weight)),
          ...(doubts
            ? Object.values(baselinesOf(weight, doubts({ layer, head, query, key, weight })))
            : [null, null, null]).map((value) => h("td", {}, value === null ? "–" : short(value))),
        )
      ),
    );
  }
  function save() {
    const { facing, [ends(app.store.state.kept)[0]]: pivot } = app.store.state.kept;
    const rows = pivot === null ? null : app.feed.peek(facing === "out" ? "rows" : "columns", pivot);
    if (pivot === null || !rows) return;
    const [keys, doubts] = [app.keys(), doubtsIn(app)];
    const lines = strongest(rows, pivot, 1000).map(
      ({ layer, head, query, key, weight }) => {
        const [from, to] = [app.data.queries[query].text, keys[key].text];
        const found = doubts?.({ layer, head, query, key, weight });
        const baselines = found ? Object.values(baselinesOf(weight, found)) : [null, null, null];
        return [layer, head, query, from, key, to, weight, ...baselines.map((value) => value ?? "")];
      },
    );
    const { model, text, pair } = app.data;
    const about = { model: model.name, revision: model.revision, weights_sha256: model.weights, text, pair };
    saveTable("headlight-links", tableOf(COLUMNS, lines), about);
  }
  function draw() {
    const { facing, [ends(app.store.state.kept)[0]]: pivot } = app.store.state.kept;
    const out = facing === "out";
    el.hidden = Boolean(app.data.quiet) || pivot === null;
    if (pivot === null) return;
    setText(title, fill(out ? say.links : say.linksIn, { focus: quoted(pivot) }));
    setText(other, out ? say.target : say.looking);
    const rows = app.feed.get(out ? "rows" : "columns", pivot);
    if (!decided && rows) { // open at first if there is room
      decided = true;
      el.open = app.wide() && distanceFromTop(el) + 240 < windowHeight(el);
    }
    const weights = rows && app.linkStrengths();
    if (!el.open || !weights) return;
    by.select.value = app.store.state.kept.by;
    offerPartners(rows, pivot);
    drawMap(weights);
    special.checked = Boolean(app.store.state.special);
    list(rows, pivot);
  }
  return { el, draw };
}
