"""The page's cross head: a chosen head, the best head by coverage, or the mean over all heads."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention.alignment import covering_heads
from attention.head_names import head_label
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _
from ui.input.controls import bound_widget
from ui.pages.translate.options import TranslateOptions
from ui.state.params import set_params

MEAN = "mean"
_PLACE = re.compile(r"(0|[1-9][0-9]{0,3})-(0|[1-9][0-9]{0,3})")


@dataclass(frozen=True, eq=False)
class CrossHead:
    """A cross head, or with ``mean`` the mean over all cross heads."""

    layer: int
    head: int
    mean: bool
    covering: FloatArray  # (layer, head): the number that the rule compares (attention.alignment)

    @property
    def name(self) -> str:
        """Return the name of the head, for sentences about the head."""
        return _("cross head {head}", head=head_label(self.layer, self.head))

    @property
    def description(self) -> str:
        """Return the name of the head or of the mean, for sentences about the weights on screen."""
        return _("the mean of all cross heads") if self.mean else self.name

    @property
    def best_head(self) -> tuple[int, int]:
        """Return the (layer, head) with the largest coverage."""
        layer, head = np.unravel_index(int(self.covering.argmax()), self.covering.shape)
        return int(layer), int(head)

    def weights(self, trace: Trace, step: int) -> FloatArray:
        """Return the weights of a step on the source, shape (source token,), float32, which sum to 1."""
        rows = trace.rows(step, "cross")
        weights: FloatArray = rows.mean((0, 1)) if self.mean else rows[self.layer, self.head]
        return weights


def cross_head(trace: Trace, options: TranslateOptions) -> CrossHead:
    """Return the chosen head if the model has it, else the head with the largest coverage."""
    values = covering_heads(trace)
    place = _PLACE.fullmatch(options.cross)
    layer, head = (int(place[1]), int(place[2])) if place else values.shape
    if layer >= values.shape[0] or head >= values.shape[1]:
        layer, head = (int(at) for at in np.unravel_index(int(values.argmax()), values.shape))
    return CrossHead(layer, head, options.cross == MEAN, values)


def pick_head(head: CrossHead, options: TranslateOptions) -> None:
    """Draw the control for the cross head."""
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
    """Choose a cross head and store it in the URL; for callbacks."""
    set_params(TranslateOptions, cross=head_label(layer, head))
