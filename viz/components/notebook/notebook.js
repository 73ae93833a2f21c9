// Draws the main view in a notebook's cell with anywidget; requests go to the kernel as messages.
//
//   browser → kernel   {id, what: "grid" | "rows" | "columns" | "tile", asked: {field: number}}
//   kernel → browser   {id} and the frame of attention/codec.py as the only buffer; or {id, refused: message}
//   trait _payload     the payload of explore.js, without its selection
//   trait selection    the selection, set by either side
//
// The protocol mirrors headlight/widget.py. Every view of a widget receives every answer, so ids are unique to a view.

import { createApp } from "../explore/app.js";
import { framesSource } from "../explore/source.js";
import { luminance } from "../shared/colours.js";
import { h } from "../shared/elements.js";
import { decodeFrame } from "../shared/frames.js";
import { _ } from "../shared/words.js";

/** @import { Asked, Payload, Selection, Source } from "../explore/types.js" */
/** @typedef {{id: string, refused?: string}} Answer */
/** @typedef {(answer: Answer, buffers: (DataView|ArrayBuffer)[]) => void} Hears */
/** @typedef {{_payload: Omit<Payload, "selection">, selection: Partial<Selection>}} Traits */
/**
 * The model that anywidget passes to a script.
 * @typedef {object} Model
 * @property {<Name extends keyof Traits>(name: Name) => Traits[Name]} get
 * @property {(name: "selection", value: Selection) => void} set
 * @property {() => void} save_changes
 * @property {(content: {id: string, what: keyof Asked, asked: Record<string, number>}) => void} send
 * @property {(event: string, listener: Hears|(() => void)) => void} on
 * @property {(event: string, listener: Hears|(() => void)) => void} off
 */

const SILENCE = 20000; // ms until a request fails; a kernel does not answer while a cell runs

/** The themes' colours without the background, equal to those of the standalone page (standalone.css). */
const LOOKS = {
  light: {
    "--st-text-color": "#31333f",
    "--st-secondary-background-color": "#f0f2f6",
    "--st-primary-color": "#c2410c",
  },
  dark: { "--st-text-color": "#fafafa", "--st-secondary-background-color": "#33343c", "--st-primary-color": "#fb923c" },
};
const PAGES = { light: [255, 255, 255], dark: [17, 17, 17] }; // background if nothing behind the cell has a colour
const FONT = 'system-ui, "Helvetica Neue", Helvetica, Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", ' +
  "sans-serif";

/** Return an answer's bytes as a separate buffer. @param {DataView|ArrayBuffer} buffer */
const bytesOf = (buffer) =>
  buffer instanceof ArrayBuffer
    ? buffer
    : /** @type {ArrayBuffer} */ (buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength));

/**
 * Return the kernel as a Source.
 * @param {Model} model @param {number} [patience] @returns {Source & {close: () => void}}
 */
export function kernelSource(model, patience = SILENCE) {
  const own = Math.random().toString(36).slice(2);
  /** @type {Map<string, (answer: Answer, buffers: (DataView|ArrayBuffer)[]) => void>} */
  const waiting = new Map();
  let count = 0;
  /** @type {Hears} */
  const hear = (answer, buffers) => waiting.get(answer.id)?.(answer, buffers);
  model.on("msg:custom", hear);
  /**
   * @param {keyof Asked} what @param {Record<string, number>} asked @param {AbortSignal} [signal]
   * @returns {Promise<import("../shared/frames.js").Frame>}
   */
  const get = (what, asked, signal) =>
    new Promise((done, fail) => {
      const id = `${own}.${++count}`;
      const late = () => end(() => fail(new Error(_("The kernel does not answer; it is busy or has stopped."))));
      const stop = () => end(() => fail(signal?.reason));
      const timer = setTimeout(late, patience);
      /** @param {() => void} last */
      function end(last) {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
        waiting.delete(id);
        last();
      }
      waiting.set(id, ({ refused }, [buffer]) =>
        end(() => (refused === undefined ? done(decodeFrame(bytesOf(buffer))) : fail(new Error(refused)))));
      signal?.addEventListener("abort", stop, { once: true });
      model.send({ id, what, asked });
    });
  return { ...framesSource(get), close: () => model.off("msg:custom", hear) };
}

/** Return a CSS colour's red, green, blue and opacity, 0 to 255. @param {string} colour */
function channels(colour) {
  const pen = h("canvas", { width: 1, height: 1 }).getContext("2d");
  if (!pen) return [0, 0, 0, 0];
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
}

/** Return the colour behind an element. @param {Element} el @returns {number[]} */
function behind(el) {
  /** @type {Node|null} */
  let at = el;
  while (at) {
    if (at instanceof Element) {
      const [r, g, b, opacity] = channels(getComputedStyle(at).backgroundColor);
      if (opacity > 200) return [r, g, b];
    }
    at = at instanceof ShadowRoot ? at.host : at.parentNode;
  }
  const text = channels(getComputedStyle(el.parentElement ?? el).color);
  return PAGES[luminance(text) > 0.4 ? "dark" : "light"];
}

/** Adopt the notebook's theme. @param {HTMLElement} root */
function dress(root) {
  const background = behind(root);
  const look = LOOKS[luminance(background) < 0.2 ? "dark" : "light"];
  root.style.setProperty("--st-background-color", `rgb(${background.join(", ")})`);
  root.style.setProperty("--st-font", FONT);
  for (const [name, colour] of Object.entries(look)) root.style.setProperty(name, colour);
}

/** @param {{model: Model, el: HTMLElement}} cell */
function render({ model, el }) {
  const root = h("div", { class: "headlight", onkeydown: mine });
  el.append(root);
  const source = kernelSource(model);
  const app = createApp(root, () => source);
  const report = {
    /** @param {Selection} value */
    selection(value) {
      model.set("selection", value);
      model.save_changes();
    },
  };
  const update = () => {
    dress(root);
    app.update({ ...model.get("_payload"), selection: model.get("selection") }, report);
  };
  /** Return true if a key may be meant for the notebook, such as Ctrl+S. @param {KeyboardEvent} event */
  const modified = (event) => event.ctrlKey || event.metaKey || event.altKey;
  /**
   * Reserve plain keys for the view: JupyterLab reads this attribute first, other front ends do not receive the event.
   */
  function before(/** @type {KeyboardEvent} */ event) {
    root.toggleAttribute("data-lm-suppress-shortcuts", !modified(event));
  }
  /** @param {KeyboardEvent} event */
  function mine(event) {
    if (!modified(event)) event.stopPropagation();
  }
  const system = globalThis.matchMedia("(prefers-color-scheme: dark)");
  const themes = new MutationObserver(update);
  for (const page of [document.documentElement, document.body]) themes.observe(page, { attributes: true });
  system.addEventListener("change", update);
  globalThis.addEventListener("keydown", before, true);
  model.on("change:selection", update);
  update();
  return () => {
    themes.disconnect();
    system.removeEventListener("change", update);
    globalThis.removeEventListener("keydown", before, true);
    model.off("change:selection", update);
    app.destroy();
    source.close();
  };
}

export default { render };
