// Pens that draw on a canvas or write SVG; pictures depend on pens only.

import { enlargement } from "./elements.js";

/**
 * @typedef {{size?: number, fill?: string, align?: "left"|"right"|"center", rotate?: number, weight?: number}}
 * TextStyle
 */
/** @typedef {{fill?: string, stroke?: string, width?: number, dash?: number[]}} RectStyle */
/**
 * @typedef {object} Pen drawing interface of pictures; the y of a text is its vertical middle
 * @property {number} ratio device pixels per unit
 * @property {boolean} [vector] whether it writes shapes instead of pixels
 * @property {(size: number, weight?: number) => string} font
 * @property {(text: string, x: number, y: number, style?: TextStyle) => void} text
 * @property {(x: number, y: number, w: number, h: number, style?: RectStyle) => void} rect
 * @property {(x1: number, y1: number, x2: number, y2: number, style: {stroke: string, width: number, alpha: number,
 * dash?: number[]}) => void} curve
 * @property {(lines: number[][], style: {stroke: string, width: number}) => void} lines each from x1, y1 to x2, y2
 * @property {(picture: HTMLCanvasElement, x: number, y: number, w: number, h: number) => void} image
 * @property {(x: number, y: number, w: number, h: number, draw: () => void) => void} clip
 */

/**
 * Return a pen that draws on a canvas.
 * @param {CanvasRenderingContext2D} ctx @param {string} family @param {number} ratio device pixels per unit @returns
 * {Pen}
 */
export function canvasPen(ctx, family, ratio) {
  const font = (size, weight = 400) => `${weight} ${size}px ${family}`;
  return {
    ratio,
    font,
    text(text, x, y, { size = 12, fill = "#000", align = "left", rotate = 0, weight = 400 } = {}) {
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate((rotate * Math.PI) / 180);
      Object.assign(ctx, {
        font: font(size, weight),
        fillStyle: fill,
        textAlign: align,
        textBaseline: "middle",
        direction: "ltr",
      });
      ctx.fillText(text, 0, 0);
      ctx.restore();
    },
    rect(x, y, w, h, { fill, stroke, width = 1, dash = [] } = {}) {
      if (fill) {
        ctx.fillStyle = fill;
        ctx.fillRect(x, y, w, h);
      }
      if (!stroke) return;
      ctx.setLineDash(dash);
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width });
      ctx.strokeRect(x, y, w, h);
      ctx.setLineDash([]);
    },
    curve(x1, y1, x2, y2, { stroke, width, alpha, dash = [] }) {
      ctx.setLineDash(dash);
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width, globalAlpha: alpha });
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.globalAlpha = 1;
    },
    lines(lines, { stroke, width }) {
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width });
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of lines) {
        ctx.moveTo(x1, y1);
        ctx.lineTo(x2, y2);
      }
      ctx.stroke();
    },
    image(picture, x, y, w, h) {
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(picture, x, y, w, h);
    },
    clip(x, y, w, h, draw) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(x, y, w, h);
      ctx.clip();
      draw();
      ctx.restore();
    },
  };
}

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * Escape text for XML character data or an attribute value; characters that XML forbids become U+FFFD.
 * @param {unknown} text
 */
export function xmlEscape(text) {
  return String(text)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark]);
}

/** @param {number} value */
const tidy = (value) => String(Math.round(value * 100) / 100);

/** Return attributes of an SVG element, escaped. @param {Record<string, string|number|undefined>} attributes */
const marks = (attributes) =>
  Object.entries(attributes).filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? tidy(value) : xmlEscape(value)}"`).join("");

/**
 * Return a pen that writes SVG.
 * @param {number} width @param {number} height @param {string} family @returns {Pen & {finish: () => string}}
 */
export function svgPen(width, height, family = "sans-serif") {
  /** @type {string[]} */
  const parts = [];
  let clips = 0;
  return {
    ratio: 1,
    vector: true,
    font: (size, weight = 400) => `${weight} ${size}px ${family}`,
    text(text, x, y, { size = 12, fill = "#000", align = "left", rotate = 0, weight = 400 } = {}) {
      const anchor = { left: "start", right: "end", center: "middle" }[align];
      const turn = rotate ? `rotate(${rotate} ${tidy(x)} ${tidy(y)})` : undefined;
      parts.push(
        `<text${
          marks({
            x,
            y,
            "font-size": size,
            fill,
            "text-anchor": anchor,
            "dominant-baseline": "central",
            transform: turn,
            "font-weight": weight === 400 ? undefined : weight,
          })
        }>${xmlEscape(text)}</text>`,
      );
    },
    rect(x, y, w, h, { fill, stroke, width: line = 1, dash } = {}) {
      parts.push(
        `<rect${
          marks({
            x,
            y,
            width: w,
            height: h,
            fill: fill ?? "none",
            stroke,
            "stroke-width": stroke ? line : undefined,
            "stroke-dasharray": dash?.join(" "),
          })
        }/>`,
      );
    },
    curve(x1, y1, x2, y2, { stroke, width: line, alpha, dash }) {
      const [a, b, c, d, m] = [x1, y1, x2, y2, (x1 + x2) / 2].map(tidy);
      parts.push(
        `<path${
          marks({
            d: `M${a} ${b}C${m} ${b} ${m} ${d} ${c} ${d}`,
            fill: "none",
            stroke,
            "stroke-width": line,
            "stroke-opacity": alpha,
            "stroke-dasharray": dash?.join(" ") || undefined,
          })
        }/>`,
      );
    },
    lines(lines, { stroke, width: line }) {
      const d = lines.map((ends) => ends.map(tidy)).map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`).join("");
      if (d) parts.push(`<path${marks({ d, fill: "none", stroke, "stroke-width": line })}/>`);
    },
    image(picture, x, y, w, h) {
      parts.push(
        `<image${
          marks({
            x,
            y,
            width: w,
            height: h,
            preserveAspectRatio: "none",
            style: "image-rendering:pixelated",
            href: picture.toDataURL("image/png"),
          })
        }/>`,
      );
    },
    clip(x, y, w, h, draw) {
      const id = `clip${clips++}`;
      parts.push(
        `<clipPath id="${id}"><rect${marks({ x, y, width: w, height: h })}/></clipPath><g clip-path="url(#${id})">`,
      );
      draw();
      parts.push("</g>");
    },
    finish() {
      const size = marks({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": family });
      const sheet = `<rect width="${width}" height="${height}" fill="#ffffff"/>`;
      return `<svg xmlns="http://www.w3.org/2000/svg"${size}>${sheet}${parts.join("")}</svg>`;
    },
  };
}

/** @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * Resize a canvas to device resolution and clear it; return a pen for it.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {string} family
 */
export function cleared(canvas, width, height, family) {
  const ratio = (globalThis.devicePixelRatio || 1) * enlargement(canvas);
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = contextOf(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return canvasPen(ctx, family, ratio);
}
