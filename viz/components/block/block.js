// A model drawn as its parts; a part that is picked is explained beside the drawing.
//
// What each mark means
//   box        a part, coloured by what it does; ⊕ an addition; the frame holds one layer
//   line       what flows, from top to bottom; the thin line round a part is the residual connection
//   outline    accent: the part that is explained
// Texts reach the page only through text nodes. Colours are attributes, so that a saved drawing keeps them.

import { readTheme } from "../shared/colours.js";
import { h, save_as, setText } from "../shared/elements.js";

/**
 * @typedef {object} Shape  Made by viz/components/block/layout.py; each kind has some of the fields.
 * @property {string} kind
 * @property {string} id
 * @property {string} role
 * @property {string[]} title
 * @property {string[]} notes
 * @property {string} text
 * @property {string} anchor
 * @property {boolean} arrow
 * @property {number[]} points
 * @property {boolean[][]} rows
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {number} r
 * @property {number} size
 */
/** @typedef {{width: number, height: number, shapes: Shape[]}} Drawing */
/**
 * @typedef {object} BlockData  Made by viz/components/block/block.py.
 * @property {string[]} title
 * @property {string} file     the name under which the drawing is saved
 * @property {string} picked   id of the part that is explained
 * @property {Drawing} wide    an encoder and its decoder side by side
 * @property {Drawing} narrow  one below the other
 * @property {[string, string, string][]} sizes  letter, number, what it counts
 * @property {Record<string, {title: string, text: string, papers: {text: string, url: string}[]}>} told
 */

const SVG = "http://www.w3.org/2000/svg";
const PANEL = 250; // pixels that the explanation needs beside the drawing
const HEAD = 7; // length of an arrow's head

/** Fill and line of each role; hues as HEAD_COLOURS in colours.js. */
export const ROLES = {
  light: {
    embedding: ["#dff3ea", "#009e73"],
    attention: ["#dbeaf6", "#0072b2"],
    "cross-attention": ["#f6e4ef", "#b0588a"],
    "feed-forward": ["#fbe6d6", "#d55e00"],
    norm: ["#ececf0", "#8c8c8c"],
    head: ["#e9e1f6", "#7a4fbf"],
    other: ["#f7f7f7", "#8c8c8c"],
  },
  dark: {
    embedding: ["#123a2f", "#2fc79a"],
    attention: ["#14324a", "#56b4e9"],
    "cross-attention": ["#43243a", "#e39cc4"],
    "feed-forward": ["#46300c", "#e69f00"],
    norm: ["#2b2d36", "#b5b5b5"],
    head: ["#30264a", "#b79cf2"],
    other: ["#22242c", "#b5b5b5"],
  },
};

/**
 * Where the drawing stands: which one, and whether the explanation has room beside it.
 * @param {number} room @param {BlockData} data
 */
export function arrangement(room, data) {
  const wide = room >= data.wide.width;
  return { wide, beside: room >= (wide ? data.wide : data.narrow).width + PANEL };
}

/** The three corners of an arrow's head at the end of a line. @param {number[][]} points */
export function arrowhead(points) {
  const [[x0, y0], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - x0, y - y0) || 1;
  const [dx, dy] = [((x - x0) / length) * HEAD, ((y - y0) / length) * HEAD];
  return [[x, y], [x - dx - dy / 2, y - dy + dx / 2], [x - dx + dy / 2, y - dy - dx / 2]];
}

/** What a screen reader hears of a box. @param {Shape} box */
export const spoken = (box) => [box.title.join(" "), ...box.notes].join(", ");

function s(tag, attributes, ...children) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

const path = (points) => points.map(([x, y]) => `${x},${y}`).join(" ");

/** How each kind of shape is drawn. */
const DRAWN = {
  box(shape, look) {
    const [fill, stroke] = look.roles[shape.role] ?? look.roles.other;
    const middle = shape.x + shape.w / 2;
    const line = (text, row, strong) =>
      s("text", {
        x: middle,
        y: shape.y + 20 + 17 * row,
        "text-anchor": "middle",
        fill: look.text,
        "font-size": strong ? 14 : 12,
        "font-weight": strong ? 600 : 400,
      }, text);
    return [
      s("rect", { x: shape.x, y: shape.y, width: shape.w, height: shape.h, rx: 6, fill, stroke, "stroke-width": 1.5 }),
      ...shape.title.map((text, i) => line(text, i, true)),
      ...shape.notes.map((note, i) => line(note, i + shape.title.length, false)),
    ];
  },
  add(shape, look) {
    const arm = shape.r - 5;
    return [
      s("circle", {
        cx: shape.x,
        cy: shape.y,
        r: shape.r,
        fill: look.background,
        stroke: look.text,
        "stroke-width": 1.5,
      }),
      s("path", {
        d: `M${shape.x - arm} ${shape.y}h${2 * arm}M${shape.x} ${shape.y - arm}v${2 * arm}`,
        stroke: look.text,
        "stroke-width": 1.5,
      }),
    ];
  },
  line(shape, look) {
    const colour = shape.role === "memory" ? look.roles["cross-attention"][1] : look.line;
    const line = s("polyline", {
      points: path(shape.points),
      fill: "none",
      stroke: colour,
      "stroke-width": shape.role === "residual" ? 1.25 : 1.75,
    });
    return shape.arrow ? [line, s("polygon", { points: path(arrowhead(shape.points)), fill: colour })] : [line];
  },
  cells(shape, look) {
    const cell = (seen, row, column) =>
      s("rect", {
        x: shape.x + column * shape.size,
        y: shape.y + row * shape.size,
        width: shape.size,
        height: shape.size,
        fill: seen ? look.roles[shape.role][1] : look.background,
        stroke: look.roles[shape.role][0],
      });
    return shape.rows.flatMap((keys, row) => keys.map((seen, column) => cell(seen, row, column)));
  },
  frame(shape, look) {
    return [
      s("rect", {
        x: shape.x,
        y: shape.y,
        width: shape.w,
        height: shape.h,
        rx: 10,
        fill: "none",
        stroke: look.line,
        "stroke-dasharray": "5 4",
      }),
      s("text", { x: shape.x + 4, y: shape.y - 6, fill: look.text, "font-size": 14, "font-weight": 600 }, shape.text),
    ];
  },
  text(shape, look) {
    const strong = shape.role === "title";
    return [
      s("text", {
        x: shape.x,
        y: shape.y,
        "text-anchor": shape.anchor,
        fill: look.text,
        "font-size": strong ? 15 : 12.5,
        "font-weight": strong ? 600 : 400,
      }, shape.text),
    ];
  },
};

function createBlock(root) {
  const place = h("div", { class: "drawing" });
  const name = h("h2", {});
  const text = h("p", {});
  const papers = h("p", { class: "papers" });
  const said = h("div", { class: "said", "aria-live": "polite" }, name, text, papers);
  const sizes = h("dl", { class: "sizes" });
  const panel = h("aside", { class: "panel" }, said, sizes);
  const save = h("button", { type: "button", class: "plain save", onclick: onsave }, "Save as SVG");
  const el = h("section", { class: "hl block" }, h("div", { class: "left" }, place, save), panel);
  root.replaceChildren(el);
  /** @type {BlockData} nothing until the first update */
  let data;
  let send = (_) => {};
  let [picked, built, drawnWide] = ["", "", false];

  /** The drawing's parts that can be picked. @param {ParentNode} [within] */
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
  /** The outline is an attribute too, but no part of a saved drawing. */
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
    else show(picked); // the drawing stays, and with it the keyboard's place
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

/** @type {WeakMap<object, ReturnType<typeof createBlock>>} */
const blocks = new WeakMap();

/**
 * Streamlit calls this at the mount and again at every change of the data or the theme, with the same parent.
 * @param {{data: BlockData, parentElement: Element|ShadowRoot, setTriggerValue: (name: string, value: unknown) =>
 *   void}} component
 */
export default function block({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#block") ?? parentElement;
  const view = blocks.get(root) ?? createBlock(root);
  blocks.set(root, view);
  view.update(data, (id) => setTriggerValue("picked", id));
  return () => {
    view.close();
    blocks.delete(root);
  };
}
