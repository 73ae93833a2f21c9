// The options of an image for a paper, and the link that downloads it from the server.

import { h, setAttribute } from "./elements.js";
import { _ } from "./words.js";

const IMAGE_FORMATS = ["pdf", "svg", "png"];
const FONT_SIZES = [7, 8, 9, 10, 12]; // points
const USUAL_SIZE = "8";

/**
 * Return the address of an image: the server's address with the options of viz/paper/page.py.
 * @param {string} address with a query
 * @param {{format: string, width: string, size: string, frame: boolean, caption: boolean}} options
 */
export function imageAddress(address, { format, width, size, frame, caption }) {
  const query = new URLSearchParams({ format, width, size, frame: frame ? "1" : "0", caption: caption ? "1" : "0" });
  return `${address}&${query}`;
}

/** Create the form; `draw` sets the server's address. The link has the class "item", as entries of a menu. */
export function imageForm() {
  let address = "";
  /** @param {string} label @param {[string, string][]} choices value and text */
  const field = (label, choices) => {
    const control = h("select", { "aria-label": label, onchange: () => draw(address) });
    control.append(...choices.map(([value, text]) => h("option", { value }, text)));
    return { control, el: h("label", { class: "choice" }, h("span", {}, label), control) };
  };
  /** @param {string} label @param {boolean} checked */
  const box = (label, checked) => {
    const control = h("input", { type: "checkbox", checked, onchange: () => draw(address) });
    return { control, el: h("label", { class: "choice" }, h("span", {}, label), control) };
  };
  const format = field(_("Format"), IMAGE_FORMATS.map((name) => [name, name.toUpperCase()]));
  const width = field(_("Width"), [["column", _("Column, 3.3 in")], ["page", _("Page, 7 in")]]);
  const size = field(_("Font size"), FONT_SIZES.map((points) => [String(points), `${points} pt`]));
  size.control.value = USUAL_SIZE;
  const [frame, caption] = [box(_("Frame"), true), box(_("Caption"), true)];
  const link = h("a", { class: "item", download: true, href: "#", "data-format": "image" }, _("Download image"));
  const fields = [format, width, size, frame, caption].map(({ el }) => el);
  const el = h("div", { class: "image" }, ...fields, link);

  /** @param {string} to the server's address, with a query */
  function draw(to) {
    address = to;
    const options = {
      format: format.control.value,
      width: width.control.value,
      size: size.control.value,
      frame: frame.control.checked,
      caption: caption.control.checked,
    };
    setAttribute(link, "href", imageAddress(address, options));
  }
  return { el, draw, link };
}
