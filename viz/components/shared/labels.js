// Labels at cells: text width, and the selection of labels that have room.

/** @type {CanvasRenderingContext2D|null} measures text without a visible canvas */
let ruler = null;

/** @param {string} text @param {string} font */
export function textWidth(text, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * 7;
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** @param {string} text @param {number} room @param {string} font */
export function elide(text, room, font) {
  if (textWidth(text, font) <= room) return text;
  const letters = [...text];
  let [fits, over] = [1, letters.length]; // the longest prefix that fits (or 1), and the shortest that does not
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, font) > room) over = middle;
    else fits = middle;
  }
  return `${letters.slice(0, fits).join("")}…`;
}

/** Return the number of cells from a label to the next, so that labels have room. */
export const labelStep = (scale, room = 13) => Math.max(1, Math.ceil(room / scale - 1e-9));

/** Return the cells with a label: every step-th cell and all in `must`, without labels that would touch those. */
export function labelled(from, to, scale, must, room = 13) {
  const step = labelStep(scale, room);
  const forced = [...new Set(must)].filter((i) => i >= from && i < to);
  const plain = [];
  for (let i = from; i < to; i++) {
    if (i % step === 0 && !forced.some((other) => other === i || Math.abs(other - i) * scale < room - 1)) plain.push(i);
  }
  return { plain, forced };
}
