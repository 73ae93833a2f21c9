// The heads whose lines are drawn, and their coloured names below the lines.

import { h } from "../shared/elements.js";
import { togglePin } from "./selection.js";

/** @import { App, Theme } from "./types.js" */

/** Return the pinned heads with their colours, and the chosen head. @param {App} app @param {Theme} theme */
export function lineHeads(app, theme) {
  const { layer, head } = app.shown();
  const list = app.store.state.kept.pinned.map(([l, hd], i) => ({
    layer: l,
    head: hd,
    colour: theme.heads[i],
    pinned: true,
  }));
  if (!list.some((one) => one.layer === layer && one.head === head)) {
    list.push({ layer, head, colour: theme.text, pinned: false });
  }
  return list;
}

/** Create the list of names; a click chooses a pinned head, and the cross unpins it. @param {App} app */
export function createHeadNames(app) {
  const say = app.say;
  const el = h("div", { class: "heads" });
  function draw() {
    const list = lineHeads(app, app.theme);
    const key = JSON.stringify([list, app.stamp, app.theme.name]);
    if (el.dataset.key === key) return;
    el.dataset.key = key;
    el.replaceChildren(...list.map(({ layer, head, colour, pinned }) => {
      const dot = h("span", { class: "dot", "aria-hidden": "true" });
      dot.style.backgroundColor = colour;
      const name = app.name(layer, head);
      if (!pinned) return h("span", { class: "head" }, dot, `${name} (${say.current})`);
      return h(
        "span",
        { class: "head" },
        dot,
        h("button", { type: "button", class: "plain", onclick: () => app.keep({ layer, head }) }, name),
        h("button", {
          type: "button",
          class: "plain",
          "aria-label": `${say.unpin} ${name}`,
          onclick: () => app.keep({ pinned: togglePin(app.store.state.kept.pinned, layer, head) }),
        }, "×"),
      );
    }));
  }
  return { el, draw };
}
