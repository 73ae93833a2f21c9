// Draws the model diagram; a side panel explains the picked part. The shapes are in block_shapes.js.

import { readTheme } from "../shared/colours.js";
import { h, save_as, setText } from "../shared/elements.js";
import { mounting } from "../shared/mounting.js";
import { s, SVG } from "../shared/svg.js";
import { _ } from "../shared/words.js";
import { DRAWN, ROLES } from "./block_shapes.js";

/** @typedef {import("./block_shapes.js").Shape} Shape */
/** @typedef {{width: number, height: number, shapes: Shape[]}} Drawing */
/**
 * @typedef {object} BlockData Made by viz/components/block/block.py.
 * @property {string[]} title
 * @property {string} file the name of a saved file
 * @property {string} picked id of the explained part
 * @property {Drawing} wide encoder and decoder side by side
 * @property {Drawing} narrow encoder above decoder
 * @property {[string, string, string][]} sizes letter, number, meaning
 * @property {Record<string, {title: string, text: string, papers: {text: string, url: string}[]}>} told
 * @property {Record<string, string>} [words]
 */

const PANEL = 250; // pixels that the explanation needs at the drawing's side

/**
 * Return which drawing fits, and whether the explanation fits at its side.
 * @param {number} room @param {BlockData} data
 */
export function arrangement(room, data) {
  const wide = room >= data.wide.width;
  return { wide, beside: room >= (wide ? data.wide : data.narrow).width + PANEL };
}

/** Return a box's text for screen readers. @param {Shape} box */
export const spoken = (box) => [box.title.join(" "), ...box.notes].join(", ");

function createBlock(root) {
  const place = h("div", { class: "drawing" });
  const name = h("h2", {});
  const text = h("p", {});
  const papers = h("p", { class: "papers" });
  const said = h("div", { class: "said", "aria-live": "polite" }, name, text, papers);
  const sizes = h("dl", { class: "sizes" });
  const panel = h("aside", { class: "panel" }, said, sizes);
  const save = h("button", { type: "button", class: "plain save", onclick: onsave }, _("Save as SVG"));
  const el = h("section", { class: "hl block" }, h("div", { class: "left" }, place, save), panel);
  root.replaceChildren(el);
  /** @type {BlockData} undefined until the first update */
  let data;
  let send = (_) => {};
  let [picked, built, drawnWide] = ["", "", false];

  /** Return the parts of the drawing that can be picked. @param {ParentNode} [within] */
  const partsOf = (within = place) => /** @type {NodeListOf<SVGElement>} */ (within.querySelectorAll("[data-id]"));

  function show(id) {
    const told = data?.told[id];
    if (!told) return;
    picked = id;
    setText(name, told.title);
    setText(text, told.text);
    papers.replaceChildren(
      ...told.papers.flatMap((
        paper,
        i,
      ) => [i ? " · " : "", h("a", { href: paper.url, target: "_blank", rel: "noopener noreferrer" }, paper.text)]),
    );
    for (const part of partsOf()) {
      part.setAttribute("aria-pressed", String(part.dataset.id === id));
    }
    frame();
  }
  /** Set the outline as an attribute; saved drawings reset it. */
  function frame() {
    const look = readTheme(el);
    for (const part of partsOf()) {
      const shape = part.firstElementChild;
      shape?.setAttribute("stroke-width", part.dataset.id === picked ? "3" : "1.5");
      shape?.setAttribute("stroke", part.dataset.id === picked ? look.accent : part.dataset.stroke ?? "");
    }
  }
  function pick(id) {
    show(id);
    send(id);
  }
  function onsave() {
    const svg = /** @type {SVGSVGElement|undefined} */ (place.querySelector("svg")?.cloneNode(true));
    if (!svg || !data) return;
    for (const part of partsOf(svg)) {
      part.firstElementChild?.setAttribute("stroke", part.dataset.stroke ?? "");
      part.firstElementChild?.setAttribute("stroke-width", "1.5");
      for (const attribute of ["role", "tabindex", "aria-pressed", "class", "data-id", "data-stroke"]) {
        part.removeAttribute(attribute);
      }
    }
    svg.prepend(s("rect", { width: "100%", height: "100%", fill: readTheme(el).background }));
    svg.setAttribute("xmlns", SVG);
    save_as(`${data.file}.svg`, new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
  }
  function part(shape, look) {
    const drawn = DRAWN[shape.kind](shape, look);
    if (!(shape.id in data.told)) return s("g", {}, ...drawn);
    const label = shape.kind === "box" ? spoken(shape) : data.told[shape.id].title;
    const g = s("g", {
      role: "button",
      tabindex: 0,
      "aria-label": label,
      class: "part",
      "data-id": shape.id,
      "data-stroke": drawn[0].getAttribute("stroke"),
    }, ...drawn);
    g.addEventListener("click", () => pick(shape.id));
    g.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick(shape.id);
    });
    return g;
  }
  function draw() {
    if (!data) return;
    const { wide, beside } = arrangement(el.clientWidth, data);
    const drawing = wide ? data.wide : data.narrow;
    drawnWide = wide;
    const theme = readTheme(el);
    const look = { ...theme, roles: ROLES[theme.dark ? "dark" : "light"], line: theme.muted };
    const svg = s("svg", {
      viewBox: `0 0 ${drawing.width} ${drawing.height}`,
      width: drawing.width,
      height: drawing.height,
      role: "group",
      "aria-label": data.title,
      "font-family": theme.family,
    }, ...drawing.shapes.map((shape) => part(shape, look)));
    place.replaceChildren(svg);
    el.classList.toggle("beside", beside);
    sizes.replaceChildren(
      ...data.sizes.flatMap((
        [letter, number, meaning],
      ) => [h("dt", {}, letter), h("dd", {}, h("strong", {}, number), ` ${meaning}`)]),
    );
    panel.hidden = !picked;
    show(picked);
  }
  /** @param {BlockData} next @param {(id: string) => void} report */
  function update(next, report) {
    const now = JSON.stringify([next.wide, next.narrow, next.sizes, Object.keys(next.told), readTheme(el).name]);
    [data, send] = [next, report];
    picked = next.picked in next.told ? next.picked : Object.keys(next.told)[0] ?? "";
    if (now !== built) draw();
    else show(picked); // keep the drawing, and with it the keyboard focus
    built = now;
  }
  const watch = new ResizeObserver(() => {
    if (!data || !el.clientWidth) return;
    const { wide, beside } = arrangement(el.clientWidth, data);
    if (wide !== drawnWide) draw();
    el.classList.toggle("beside", beside);
  });
  watch.observe(el);
  return { update, close: () => watch.disconnect() };
}

export default mounting("block", createBlock);
