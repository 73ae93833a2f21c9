// The parts of the view and their arrangement.

import { h } from "../shared/elements.js";
import { createFigure } from "./figure.js";
import { createGrid } from "./grid.js";
import { createLinks } from "./links.js";
import { createStrip, createTruth } from "./sentence.js";

/** @import { App, Parts } from "./types.js" */

/** @param {App} app @param {HTMLElement} body parent element of the parts @returns {Parts} */
export function createParts(app, body) {
  const [strip, truth, grid, figure, links] = [
    createStrip(app),
    createTruth(app),
    createGrid(app),
    createFigure(app),
    createLinks(app),
  ];
  const left = h("div", { class: "left" }, grid.el);
  const main = h("div", { class: "main" }, left, figure.el);
  body.replaceChildren(strip.el, truth.el, main, links.el);

  /** Put the links under a low grid, at the figure's side; else under everything. */
  function placeLinks() {
    const beside = app.wide() && grid.el.offsetHeight + 300 < app.room();
    const parent = beside ? left : body;
    if (links.el.parentNode !== parent) parent.append(links.el);
    links.el.classList.toggle("beside", beside);
  }
  return {
    grid,
    main,
    draw() {
      grid.draw();
      placeLinks();
      figure.draw();
      links.draw();
      strip.draw();
      truth.draw();
    },
  };
}
