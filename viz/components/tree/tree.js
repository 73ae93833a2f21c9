// A tree of tokens as a component, with picks, keyboard navigation and saving; tree_picture.js draws it.

import { readTheme } from "../shared/colours.js";
import { createTip, h, setAttribute, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { _ } from "../shared/words.js";
import { BOX_HIGH, treeKey } from "./tree_layout.js";
import { legendOf, picture, toldOf } from "./tree_picture.js";
import { savePicture, saveSvg } from "./tree_saving.js";

/** @typedef {import("./tree_picture.js").TreeData} TreeData */

function createTree(root) {
  const name = h("p", { class: "strip-title" });
  const box = h("div", {
    class: "canopy",
    onclick,
    onkeydown,
    onpointerover,
    onpointerleave: () => tip.hide(),
    onfocusin,
    onfocusout: () => tip.hide(),
    onscroll: () => tip.hide(),
  });
  const legend = h("ul", { class: "marks" });
  const button = (text, act) => h("button", { type: "button", class: "plain", onclick: act }, text);
  const saves = h(
    "div",
    { class: "saves" },
    button(_("Save as SVG"), () => data && saveSvg(data)),
    button(_("Save as PNG"), () => data && savePicture(data)),
  );
  const el = h(
    "section",
    { class: "hl tree" },
    name,
    box,
    h("div", { class: "foot" }, legend, saves),
  );
  root.replaceChildren(el);
  const tip = createTip(el);
  /** @type {TreeData} undefined until the first update */
  let data;
  /** @type {ReturnType<typeof picture>} */
  let drawn;
  let send = (_) => {};
  let [built, cursor, shown] = ["", "", /** @type {string|null} */ (null)];

  const indexOf = (event) => Number(event.target.closest?.("[data-i]")?.dataset.i ?? -1);
  const nodeAt = (i) => /** @type {SVGGElement|null} */ (box.querySelector(`[data-i="${i}"]`));

  function onclick(event) {
    const i = indexOf(event);
    if (i < 0 || !data) return;
    stop(i);
    if (data.picks) send(data.nodes[i].id);
  }
  function onkeydown(event) {
    const i = indexOf(event);
    if (i < 0 || !data || !drawn || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (data.picks) send(data.nodes[i].id);
      return;
    }
    const to = treeKey(event.key, i, drawn.parents, drawn.spots, drawn.way);
    if (to === null) return;
    event.preventDefault();
    stop(to);
    reveal(to);
    nodeAt(to)?.focus({ preventScroll: true });
  }
  function tell(i, x, y) {
    if (i < 0 || !data) return tip.hide();
    tip.show(toldOf(data.nodes[i], data), x, y);
  }
  function onpointerover(event) {
    if (event.pointerType !== "touch") tell(indexOf(event), event.clientX, event.clientY);
  }
  function onfocusin(event) {
    if (!event.target.matches(":focus-visible")) return;
    const { left, bottom } = event.target.getBoundingClientRect();
    tell(indexOf(event), left - 14, bottom - 12);
  }
  /** Set the node that Tab reaches. */
  function stop(i) {
    nodeAt(data.nodes.findIndex((node) => node.id === cursor))?.setAttribute("tabindex", "-1");
    cursor = data.nodes[i].id;
    nodeAt(i)?.setAttribute("tabindex", "0");
  }
  /** Scroll the box, never the page. */
  function reveal(i) {
    const { x, y, w } = drawn.spots[i];
    const room = 24;
    if (x - room < box.scrollLeft) box.scrollLeft = x - room;
    else if (x + w + room > box.scrollLeft + box.clientWidth) box.scrollLeft = x + w + room - box.clientWidth;
    if (y < box.scrollTop || y + BOX_HIGH > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
  }
  function label(i) {
    const node = nodeAt(i);
    const { depth } = drawn.spots[i];
    const said = [...toldOf(data.nodes[i], data), i === drawn.now ? _("current") : ""].filter(Boolean).join(", ");
    for (
      const [attribute, value] of Object.entries({
        role: "treeitem",
        "aria-level": depth + 1,
        "aria-selected": i === drawn.now,
        "aria-label": said,
        tabindex: -1,
        class: data.picks ? "part" : "leaf",
      })
    ) node?.setAttribute(attribute, String(value));
  }
  function draw() {
    const theme = readTheme(el);
    const held = Boolean(box.querySelector(":focus"));
    drawn = picture(data, theme);
    setAttribute(drawn.svg, "role", "tree");
    setAttribute(drawn.svg, "aria-label", data.title);
    box.replaceChildren(drawn.svg);
    data.nodes.forEach((_, i) => label(i));
    legend.replaceChildren(...legendOf(data, theme));
    const kept = data.nodes.findIndex((node) => node.id === cursor);
    const at = kept >= 0 ? kept : Math.max(drawn.now, 0);
    stop(at);
    if (held) nodeAt(at)?.focus({ preventScroll: true });
  }
  /** @param {TreeData} given @param {(id: string) => void} report */
  function update(given, report) {
    [data, send] = [given, report];
    setText(name, data.title);
    setAttribute(el, "aria-label", data.title);
    const key = JSON.stringify([given, readTheme(el).name]);
    if (key === built) return;
    built = key;
    tip.hide();
    if (shown === null || shown === cursor) cursor = given.current ?? cursor; // a user who has moved on stays there
    draw();
    if (shown !== given.current && drawn.now >= 0) reveal(drawn.now);
    shown = given.current;
  }
  return { update };
}

export default mounting("tree", createTree);
