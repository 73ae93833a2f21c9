// Export of figures as PNG or SVG, always in the light theme, with a caption.

import { printTheme } from "../shared/colours.js";
import { elide, textWidth } from "../shared/labels.js";
import { breakable, cut } from "../shared/texts.js";
import { LEGENDS } from "./legend.js";
import { savePaper } from "../shared/prints.js";
import { textOf } from "./selection.js";
import { headName } from "./truth.js";
import { WORDS } from "./words.js";

/** @import { App, Payload, Pen, PictureFormat, Print, Selection } from "./types.js" */

/**
 * Break a caption into lines of at most `room` pixels.
 * @param {string} text @param {number} room @param {string} font
 */
function wrap(text, room, font) {
  const lines = [""];
  for (const part of breakable(text)) {
    const next = lines[lines.length - 1] + part;
    if (textWidth(next.trimEnd(), font) > room && lines[lines.length - 1]) lines.push(part);
    else lines[lines.length - 1] = next;
  }
  return lines.map((line) => elide(line.trimEnd(), room, font));
}

/** Return the caption lines of an exported figure. @param {Payload} data @param {Selection} selection */
export function caption(data, selection, say = WORDS) {
  const { model } = data;
  const which = model.revision ? cut(model.revision, 12) : model.weights && `sha256:${cut(model.weights, 12)}`;
  const text = data.pair ? `${data.text} | ${data.pair}` : data.text;
  return [
    [
      headName(say, selection.layer, selection.head),
      say[LEGENDS[selection.scale]],
      selection.filter === "all" ? "" : textOf(data, "filter", selection.filter),
      say.captionBase,
    ].filter(Boolean).join(" · "),
    `${model.name}${which ? ` @ ${which}` : ""} · “${cut(text.replace(/\s+/g, " "), 240)}”${
      data.truncated ? ` · ${data.truncated}` : ""
    }`,
  ];
}

/** Return a figure with its caption, for any pen. @param {App} app @param {Print} figure */
function paperOf(app, figure) {
  const theme = printTheme();
  const font = `400 11px ${theme.family}`;
  const lines = caption(app.data, app.store.state.kept, app.say).flatMap((line) => wrap(line, figure.width - 16, font));
  const height = Math.ceil(figure.height + 14 + lines.length * 15);
  const draw = (/** @type {Pen} */ pen) => {
    figure.draw(pen);
    lines.forEach((line, i) => pen.text(line, 8, figure.height + 12 + i * 15, { size: 11, fill: theme.muted }));
  };
  return { width: Math.ceil(figure.width), height, draw, family: theme.family };
}

/** @param {App} app @param {Print|null} figure @param {PictureFormat} format */
export function saveFigure(app, figure, format) {
  if (!figure) return;
  const paper = paperOf(app, figure);
  const { layer, head } = app.store.state.kept;
  savePaper(paper, `headlight-${figure.name}-${layer}-${head}`, format, 4);
}
