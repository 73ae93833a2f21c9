// A button for each token without a patch, such as CLS and registers, with its weight.

import { h, setAttribute, setText } from "../shared/elements.js";
import { visible } from "../shared/texts.js";
import { _ } from "../shared/words.js";
import { inTwoDigits } from "./picture_words.js";

/** @import { Weights } from "./picture_looks.js" */
/** @typedef {{at: number, name: string}[]} Others */

/** @param {(at: number) => void} keep @param {(at: number|null) => void} hover */
export function createChips(keep, hover) {
  const chips = h("div", { class: "chips", role: "group" });
  /** @param {{at: number, name: string}} other */
  const chip = ({ at, name }) =>
    h("button", {
      type: "button",
      class: "plain chip",
      onclick: () => keep(at),
      onpointerenter: () => hover(at),
      onpointerleave: () => hover(null),
    }, visible(name));
  return {
    chips,
    /** @param {Others} others */
    name(others) {
      chips.replaceChildren(...others.map(chip));
      setAttribute(chips, "aria-label", _("Special tokens"));
    },
    /** @param {Others} others @param {Weights} weights of all tokens @param {number} kept */
    tell(others, weights, kept) {
      const places = /** @type {HTMLElement[]} */ ([...chips.children]);
      others.forEach(({ at, name }, i) => {
        setText(places[i], `${visible(name)} ${inTwoDigits(weights[at])}`);
        setAttribute(places[i], "aria-pressed", at === kept);
      });
    },
  };
}
