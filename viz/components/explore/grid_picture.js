// The grid's picture: all small maps of a page, and the names and marks over them.

import { sqrt8 } from "../shared/frames.js";
import { labelStep } from "../shared/labels.js";
import { slotPlace } from "./grid_layout.js";
import { short } from "./numbers.js";
import { smallMap } from "./raster.js";

/** All small maps of a page as one picture, at device resolution. @param {Grid} grid @param {number[]} order heads by slot */
export function gridPicture(grid, layout, order, kind, theme, scale, ratio) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(layout.width * ratio));
  canvas.height = Math.max(1, Math.round(layout.height * ratio));
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const size = Math.max(1, Math.round((layout.cell - layout.gap) * ratio));
  const levels = Uint8Array.from(
    { length: 256 },
    (_, byte) => (scale === "sqrt" ? byte : Math.round(255 * sqrt8(byte))),
  );
  const palette = Uint32Array.from(levels, (at) => theme.palette[at]);
  for (let slot = 0; slot < order.length; slot++) {
    const [x, y] = slotCorner(layout, kind, slot);
    if (y === null) continue;
    smallMap(out, canvas.width, grid, order[slot], Math.round(x * ratio), Math.round(y * ratio), size, palette);
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Top left of a slot on its page; y is null on other pages. */
function slotCorner(layout, kind, slot) {
  const [line, column] = slotPlace(layout, kind, slot);
  const at = line - layout.firstLayer * layout.lines;
  const shown = at >= 0 && at < layout.shownLayers * layout.lines;
  return [layout.left + column * layout.cell, shown ? layout.top + at * layout.cell : null];
}

/** The grid's names and marks over its picture. */
export function drawGrid(pen, { layout, order, kind, values, theme, selected, hovered, pinned, base, picture }) {
  pen.image(picture, 0, 0, layout.width, layout.height);
  const size = layout.cell - layout.gap;
  const label = { size: 11, fill: theme.muted };
  if (kind === "layer") {
    const step = labelStep(layout.cell, 16);
    for (let c = 0; c < layout.perLine; c += step) {
      pen.text(String(c + base), layout.left + c * layout.cell + size / 2, layout.top - 9, {
        ...label,
        align: "center",
      });
    }
    const down = labelStep(layout.cell * layout.lines, 12);
    for (let l = 0; l < layout.shownLayers; l += down) {
      pen.text(
        String(l + layout.firstLayer + base),
        layout.left - 6,
        layout.top + (l * layout.lines + 0.5) * layout.cell - layout.gap / 2,
        { ...label, align: "right" },
      );
    }
  }
  for (let slot = 0; slot < order.length; slot++) {
    const [x, y] = slotCorner(layout, kind, slot);
    if (y === null) continue;
    if (values && slot % layout.perLine === 0 && layout.cell >= 12) {
      pen.text(short(values[order[slot]]).replace(/^0\./, "."), layout.left - 5, y + size / 2, {
        ...label,
        align: "right",
      });
    }
    pen.rect(x, y, size, size, { stroke: theme.hair, width: 0.5 });
    const pin = pinned.indexOf(order[slot]);
    const corner = Math.max(4, Math.round(size / 5));
    if (pin >= 0) pen.rect(x + size - corner, y, corner, corner, { fill: theme.heads[pin] });
    if (order[slot] === hovered) pen.rect(x - 1, y - 1, size + 2, size + 2, { stroke: theme.text, width: 1.5 });
    if (order[slot] === selected) pen.rect(x - 1.5, y - 1.5, size + 3, size + 3, { stroke: theme.accent, width: 2.5 });
  }
}
