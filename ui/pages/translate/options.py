"""Options of the view Translate, and its cross-attention head.

The cross-attention head is a selected head, the head that covers the source best, or the mean over all heads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention.alignment import covering_heads
from attention.edits import drop_token_edits
from attention.head_names import head_label
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _, gettext_lazy
from ui.input.controls import bound_widget
from ui.input.view_options import HELP
from ui.state.params import AnsweringOptions, drop_place, set_params
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Alignment"),
    "step": gettext_lazy("One step"),
    "beams": gettext_lazy("Beams"),
    "heads": gettext_lazy("All heads"),
    "without": gettext_lazy("Ablation"),
    "best": gettext_lazy("Head scores"),
}
PARTS = {
    "encoder": gettext_lazy("encoder"),
    "decoder": gettext_lazy("decoder"),
    "cross": gettext_lazy("cross"),
}  # names of a head's stack in a sentence
WAYS = {"greedy": gettext_lazy("Greedy"), "beam": gettext_lazy("Beam search"), "own": gettext_lazy("Your own")}
SIDES = {
    "encoder": gettext_lazy("Encoder"),
    "decoder": gettext_lazy("Decoder"),
    "cross": gettext_lazy("Cross-attention"),
}
CLICKS = {"head": gettext_lazy("Ablate heads"), "cut": gettext_lazy("Mask edges")}
SCOPES = {"head": gettext_lazy("This head"), "layer": gettext_lazy("This layer"), "all": gettext_lazy("All layers")}


@dataclass(frozen=True)
class TranslateOptions(AnsweringOptions):
    """Options of the page Translate."""

    show: str = option(
        "words",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    # "" selects the reader's own translation if there is a target text, else greedy decoding.
    way: str = option(
        "",
        label=gettext_lazy("Decoding"),
        help=gettext_lazy("Greedy: the likeliest token. “Your own”: the typed translation (teacher forcing)."),
        choices=WAYS,
    )
    # Beam width.
    width: int = option(4, label=gettext_lazy("Beam width"), help=gettext_lazy("Partial translations per step"))
    step: int | None = option(None, of_text=drop_place)  # index of the token that the chosen step writes
    # The cross head, such as "2-7", or "mean"; "" selects the head with the largest coverage.
    cross: str = option(
        "",
        label=gettext_lazy("Cross head"),
        help=gettext_lazy("The head with the highest coverage: the mean largest weight of the ordinary source tokens."),
    )
    # Read the matrix at each word's own position.
    late: bool = option(
        False,
        label=gettext_lazy("One step later"),
        help=gettext_lazy("Rows of the word's position, which predicts the next word."),
    )
    # The stack of the displayed or ablated heads.
    side: str = option(
        "cross",
        label=gettext_lazy("Attention"),
        help=HELP,
        choices=SIDES,
    )
    top: int = option(8, label=gettext_lazy("Candidates"))
    # Include dropped branches in the tree of beams.
    dropped: bool = option(
        False,
        label=gettext_lazy("Dropped beams"),
    )
    edits: str = option("", of_text=drop_token_edits)  # "" ablates the chosen cross head, "-" nothing
    clicking: str = option(
        "head",
        label=gettext_lazy("Click action"),
        help=gettext_lazy("Ablate: click a head. Mask: click a translated, then a source word."),
        choices=CLICKS,
    )
    scope: str = option(
        "head",
        label=gettext_lazy("Mask in"),
        choices=SCOPES,
    )


MEAN = "mean"
_PLACE = re.compile(r"(0|[1-9][0-9]{0,3})-(0|[1-9][0-9]{0,3})")


@dataclass(frozen=True, eq=False)
class CrossHead:
    """A cross-attention head, or with ``mean`` the mean over all of them."""

    layer: int
    head: int
    mean: bool
    covering: FloatArray  # (layer, head): the number that the rule compares (attention.alignment)

    @property
    def name(self) -> str:
        """Return the label of the head, for sentences about it."""
        return part_head("cross", self.layer, self.head)

    @property
    def description(self) -> str:
        """Return a phrase for the head, or for the mean over all heads, whose weights are displayed."""
        return _("the mean of all cross heads") if self.mean else self.name

    @property
    def best_head(self) -> tuple[int, int]:
        """Return the (layer, head) with the largest coverage."""
        layer, head = np.unravel_index(int(self.covering.argmax()), self.covering.shape)
        return int(layer), int(head)

    def weights(self, trace: Trace, step: int) -> FloatArray:
        """Return the weights of a step on the source, shape (source token,), float32; they sum to 1."""
        rows = trace.rows(step, "cross")
        weights: FloatArray = rows.mean((0, 1)) if self.mean else rows[self.layer, self.head]
        return weights


def part_head(part: str, layer: int, head: int) -> str:
    """Return the name of a head with its stack."""
    return _("{part} head {head}", part=PARTS[part], head=head_label(layer, head))


def cross_head(trace: Trace, options: TranslateOptions) -> CrossHead:
    """Return the selected head if the model has it, else the head with the largest coverage of the source.

    The coverage is defined in ``attention.alignment``.
    """
    values = covering_heads(trace)
    place = _PLACE.fullmatch(options.cross)
    layer, head = (int(place[1]), int(place[2])) if place else values.shape
    if layer >= values.shape[0] or head >= values.shape[1]:
        layer, head = (int(at) for at in np.unravel_index(int(values.argmax()), values.shape))
    return CrossHead(layer, head, options.cross == MEAN, values)


def pick_head(head: CrossHead, options: TranslateOptions) -> None:
    """Draw the widget that selects the cross-attention head."""
    names = {head_label(layer, at): head_label(layer, at) for layer, at in np.ndindex(head.covering.shape)}
    labels = {"": _("{head}, found", head=head_label(*head.best_head)), **names, MEAN: _("Mean")}
    bound_widget(
        TranslateOptions,
        "cross",
        st.selectbox,
        options=list(labels),
        shown=options.cross if options.cross in labels else "",
        format_func=labels.get,
        width=240,
    )


def keep_head(layer: int, head: int) -> None:
    """Select a cross-attention head and store it in the URL; for use as a callback."""
    set_params(TranslateOptions, cross=head_label(layer, head))
