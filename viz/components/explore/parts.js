// The parts of the view and where they stand.

import { h } from "../shared/elements.js";
import { createFigure } from "./figure.js";
import { createGrid } from "./grid.js";
import { createLinks } from "./links.js";
import { createStrip, createTruth } from "./sentence.js";

/** @import { App, Parts } from "./types.js" */

/** @param {App} app @param {HTMLElement} body that they are put into @returns {Parts} */
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

  /** The links stand under a low grid, beside the figure; under everything otherwise. */
  function placeLinks() {
    const beside = app.wide() && grid.el.offsetHeight + 300 < app.room();
    const parent = beside ? left : body;
    if (links.el.parentNode !== parent) parent.append(links.el);
    links.el.classList.toggle("beside", beside);
    links.el.hidden = Boolean(app.data.quiet);
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
