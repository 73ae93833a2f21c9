// Draws the microscope in a notebook's cell, over anywidget: what it asks goes to the kernel as messages.
//
//   browser → kernel   {id, what: "grid" | "rows" | "columns" | "tile", asked: {field: number}}
//   kernel → browser   {id} and the frame of attention/codec.py as the only buffer; or {id, refused: one sentence}
//   trait _payload     what explore.js draws, without its selection
//   trait selection    what is chosen, set by either side
//
// Mirrors headlight/widget.py. Every view of a widget hears every answer, so each view's ids are its own.

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
 * What anywidget hands a script of its model.
 * @typedef {object} Model
 * @property {<Name extends keyof Traits>(name: Name) => Traits[Name]} get
 * @property {(name: "selection", value: Selection) => void} set
 * @property {() => void} save_changes
 * @property {(content: {id: string, what: keyof Asked, asked: Record<string, number>}) => void} send
 * @property {(event: string, listener: Hears|(() => void)) => void} on
 * @property {(event: string, listener: Hears|(() => void)) => void} off
 */

const SILENCE = 20000; // ms that a kernel may take; while a cell runs it answers nothing

/** The themes' colours beside background, as of a page of its own (standalone.css). */
const LOOKS = {
  light: {
    "--st-text-color": "#31333f",
    "--st-secondary-background-color": "#f0f2f6",
    "--st-primary-color": "#c2410c",
  },
  dark: { "--st-text-color": "#fafafa", "--st-secondary-background-color": "#33343c", "--st-primary-color": "#fb923c" },
};
const PAGES = { light: [255, 255, 255], dark: [17, 17, 17] }; // where nothing behind the cell has a colour
const FONT = 'system-ui, "Helvetica Neue", Helvetica, Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", ' +
  "sans-serif";

/** The bytes of an answer, a copy that begins where they do. @param {DataView|ArrayBuffer} buffer */
const bytesOf = (buffer) =>
  buffer instanceof ArrayBuffer
    ? buffer
    : /** @type {ArrayBuffer} */ (buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength));

/**
 * The kernel as a Source.
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
      const late = () => end(() => fail(new Error(_("The kernel does not answer: it is busy, or no longer there."))));
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

/** A colour's red, green, blue and opacity, each to 255, however it is written. @param {string} colour */
function channels(colour) {
  const pen = h("canvas", { width: 1, height: 1 }).getContext("2d");
  if (!pen) return [0, 0, 0, 0];
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
}

/** The colour that is seen behind an element. @param {Element} el @returns {number[]} */
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

/** Look as the notebook does. @param {HTMLElement} root */
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
  /** Whether a key may be meant for the notebook: Ctrl+S is. @param {KeyboardEvent} event */
  const modified = (event) => event.ctrlKey || event.metaKey || event.altKey;
  /** Plain keys are the view's: JupyterLab, which hears them first, is told so; others do not hear them. */
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
