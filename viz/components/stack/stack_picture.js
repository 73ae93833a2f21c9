// Saves the stack: as a picture on white, a line for each row of parts, or as a table.

import { colourAt, css, printTheme } from "../shared/colours.js";
import { elide } from "../shared/labels.js";
import { tableOf } from "../shared/tables.js";

/** @typedef {import("./stack.js").StackData} StackData */

const EDGE = 12;
const NAMES = 120; // px for the names of rows
const BOX = { w: 132, h: 46, gap: 8, strip: 14 };
const SMALL = 10;

/**
 * Return the picture with title, note and caption.
 * @param {StackData} data @returns {import("../shared/prints.js").Paper}
 */
export function paperOf(data) {
  const theme = printTheme();
  const { family } = theme;
  const most = Math.max(1, ...data.rows.map((row) => row.parts.length));
  const width = 2 * EDGE + NAMES + most * (BOX.w + BOX.gap);
  const height = 44 + data.rows.length * (BOX.h + BOX.gap) + 48;
  const said = data.about.map(([name, value]) => `${name}: ${value}`).join(" · ");
  return {
    width,
    height,
    family,
    draw(pen) {
      pen.text(data.title, EDGE, 18, { size: 14, weight: 600, fill: theme.text });
      data.rows.forEach((row, i) => {
        const top = 40 + i * (BOX.h + BOX.gap);
        pen.text(elide(row.name, NAMES, `600 12px ${family}`), EDGE, top + BOX.h / 2, {
          weight: 600,
          fill: theme.text,
        });
        row.parts.forEach((part, j) => box(pen, part, EDGE + NAMES + j * (BOX.w + BOX.gap), top));
      });
      const line = (text, at) =>
        pen.text(elide(text, width - 2 * EDGE, `${SMALL}px ${family}`), EDGE, at, { size: SMALL, fill: theme.muted });
      line(data.note, height - 34);
      line(said, height - 16);
    },
  };

  function box(pen, part, left, top) {
    const here = part.pick === data.chosen;
    pen.rect(left, top, BOX.w, BOX.h, { stroke: here ? theme.accent : theme.hair, width: here ? 2 : 1 });
    pen.text(elide(part.name, BOX.w - 12, `12px ${family}`), left + 6, top + 14, { fill: theme.text });
    const wide = (BOX.w - 12) / part.levels.length;
    part.levels.forEach((level, i) =>
      pen.rect(left + 6 + i * wide, top + BOX.h - BOX.strip - 5, wide, BOX.strip, {
        fill: css(colourAt(theme.ramp, level)),
      })
    );
  }
}

/** Return a line for each cell: its row, its part, its position in the strip, and its share. @param {StackData} data */
export const table = (data) =>
  tableOf(
    ["row", "part", "position", "share"],
    data.rows.flatMap((row) =>
      row.parts.flatMap((part) =>
        part.levels.map((level, at) => [row.name, part.name, at, Number((level / 255).toFixed(3))])
      )
    ),
  );
