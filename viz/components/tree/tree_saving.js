// Saves a tree of tokens as SVG or PNG, on white, with its title.

import { printTheme } from "../shared/colours.js";
import { h, save_as } from "../shared/elements.js";
import { s } from "../shared/svg.js";
import { fileName } from "../shared/texts.js";
import { picture } from "./tree_picture.js";

/** @typedef {import("./tree_picture.js").TreeData} TreeData */

const LARGEST = 16000; // px on a side of a saved PNG at most

/** Return the tree as SVG text on white, with its title. */
function savedPicture(data) {
  const { svg, width, height } = picture(data, printTheme());
  svg.prepend(
    s("title", {}, data.title),
    s("rect", { width: "100%", height: "100%", fill: "#ffffff" }),
  );
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}

export function saveSvg(data) {
  save_as(fileName(data.title, "tree", "svg"), new Blob([savedPicture(data).text], { type: "image/svg+xml" }));
}

export async function savePicture(data) {
  const { text, width, height } = savedPicture(data);
  const scale = Math.min(2, LARGEST / Math.max(width, height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => {
    if (blob) save_as(fileName(data.title, "tree", "png"), blob);
  });
}
