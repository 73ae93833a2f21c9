// Reports a change of the page's theme to the server, so that figures are drawn in it, and sets the page's language.
// Printing needs the theme and the page's width too (assets/app.css).

import { dataFrames } from "../shared/streamlit_internals.js";

const PAPER = 640; // content width in pixels between the margins of A4 and of Letter

let known = ""; // the background at the last call

/**
 * Entry point for Streamlit, at the mount and if the theme or the language changes.
 * @param {{parentElement: Element|ShadowRoot, data: {language: string}, setTriggerValue: (name: string, value: string)
 * => void}} component
 */
export default function themeChange({ parentElement, data, setTriggerValue }) {
  document.documentElement.lang = data.language;
  const el = parentElement instanceof ShadowRoot ? parentElement.host : parentElement;
  const now = getComputedStyle(el).getPropertyValue("--st-background-color").trim();
  if (known && now !== known) setTriggerValue("changed", now);
  known = now;
  document.documentElement.classList.toggle("headlight-dark", isDark(now));
  globalThis.onbeforeprint = () => fitCharts(true); // browsers count the pages before they change the medium
  globalThis.onafterprint = () => fitCharts(false);
}

/**
 * Let charts shrink to the paper, since plotly has drawn them as wide as the window; on screen, restore plotly's size.
 * @param {boolean} printed
 */
function fitCharts(printed) {
  for (
    const frame of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".js-plotly-plot .svg-container"))
  ) {
    const drawings = [...frame.querySelectorAll(":scope > .main-svg")];
    const [width, height] = ["width", "height"].map((name) => Number(drawings[0]?.getAttribute(name)));
    frame.style.setProperty("--headlight-width", `${width}px`);
    frame.style.setProperty("--headlight-ratio", `${width} / ${height}`);
    for (const drawing of drawings) {
      if (printed) drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
      else drawing.removeAttribute("viewBox");
    }
  }
  for (const table of dataFrames(document)) {
    const drawn = Math.max(0, ...[...table.querySelectorAll("canvas")].map((canvas) => parseFloat(canvas.style.width)));
    table.style.setProperty("--headlight-paper", String(paperScale(drawn)));
  }
}

/** Return whether a background, as #rrggbb, is dark. @param {string} colour */
export function isDark(colour) {
  const parts = /^#(..)(..)(..)$/.exec(colour)?.slice(1).map((part) => parseInt(part, 16));
  return parts !== undefined && parts.reduce((sum, part) => sum + part, 0) < 3 * 128;
}

/** Return the factor that makes a table fit on paper. @param {number} width of the table in pixels */
export const paperScale = (width) => Math.min(1, PAPER / Math.max(1, width));
