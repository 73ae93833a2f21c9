"""The strength with which each head links a source word to two candidates, in a text and its variants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.head_search import (
    counterparts,
    expected_links,
    favorite_counts,
    follows,
    links,
    preference,
    weight_above_expected,
)
from attention.mask import FloatArray
from attention.measures import summarize_heads
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference import TraceRequest
from probing.reference_priors import load_priors
from ui.run.services import THUMBNAIL
from ui.state.selection import load_baselines
from ui.state.view_state import ViewState
from viz.paper.notebook import Computation

STRENGTHS: dict[str, str] = {"excess": gettext_lazy("weight above baseline"), "weight": gettext_lazy("weight")}


@dataclass(frozen=True)
class Words:
    """A source word and two candidates, as indices of words in a view."""

    source: int
    first: int
    second: int
    guessed: tuple[int, ...] = ()  # candidates that were chosen automatically


@dataclass(frozen=True)
class HeadAnswers:
    """The strength with which every head links a source word to two candidates in a text.

    If ``inward``, the links lead from the candidates (queries) to the source (key); otherwise from the source to the
    candidates.
    """

    view: View
    words: Words
    found: FloatArray  # attention weights, (candidate, layer, head)
    usual: FloatArray  # mean weights from other words, (candidate, layer, head); NaN without any
    placed: FloatArray | None  # positional priors, (candidate, layer, head)
    strengths: FloatArray  # weights, or the weights above the larger baseline, (candidate, layer, head)
    inward: bool

    @property
    def preference(self) -> FloatArray:
        """Return each head's strength for the first candidate minus that for the second, shape (layer, head).

        A head with a positive value prefers the first candidate. Layers without attention are NaN.
        """
        margins = preference(self.strengths)
        attending = np.isin(np.arange(self.view.layers), self.view.attending)
        known: FloatArray = np.where(attending[:, None], margins, np.float32(np.nan))
        return known

    @property
    def is_adjusted(self) -> bool:
        """Return True if strengths are weights above baseline (attention.excess), False if they are weights."""
        return self.strengths is not self.found

    @property
    def measure(self) -> str:
        """Return the translated name of the measure of strength, "weight" or "weight above baseline"."""
        return translate(STRENGTHS["excess" if self.is_adjusted else "weight"])

    def baseline(self, layer: int, head: int) -> tuple[float, str]:
        """Return the baseline of the link between source word and first candidate, and the baseline's name.

        The baseline is a weight: the larger of the column mean and the positional prior of the head.
        """
        usual = float(np.nan_to_num(self.usual[0, layer, head]))
        placed = 0.0 if self.placed is None else float(self.placed[0, layer, head])
        return max((usual, _("column mean")), (placed, _("positional prior")), key=lambda found: found[0])

    def name(self, cell: int) -> str:
        """Return a word of the view in quotation marks."""
        return f"“{self.view.keys[cell].text}”"

    def key_counts(self, layer: int, head: int) -> tuple[str, int, int]:
        """Return the key of the link with the first candidate, and how many words attend most to it.

        The key is the first candidate, or the source word if ``inward``. The result is (key, number of other words that
        attend most to it, number of all other words).
        """
        pair = self.words.first, self.words.source
        key, other = pair[::-1] if self.inward else pair
        times, others = favorite_counts(self.view, self.view.weights(layer, head), key, other)
        return self.name(key), times, others


def ask_heads(view: View, words: Words, inward: bool, choice: ViewState) -> HeadAnswers:
    """Return the strength of the links between ``words`` in every head.

    The links lead from the source word to its candidates, or from the candidates to the source word if ``inward``.
    ``choice.by`` selects the measure of strength: "weight", or "excess" for the weight above baseline.
    """
    survey, habits = load_baselines(choice, view)
    candidates = [words.first, words.second]
    found = links(view, words.source, candidates, inward=inward)
    usual, placed = expected_links(view, survey, habits, words.source, candidates, inward=inward)
    strengths = found if choice.by == "weight" else weight_above_expected(found, usual, placed)
    return HeadAnswers(view, words, found, usual, placed, strengths, inward)


def ask_again(asked: HeadAnswers, view: View, choice: ViewState) -> HeadAnswers | None:
    """Return the strength of the links between the same words in another text, or None if a word is missing there."""
    before, after = ([cell.text for cell in one.keys] for one in (asked.view, view))
    places = counterparts((asked.words.source, asked.words.first, asked.words.second), before, after)
    if places is None:
        return None
    source, first, second = places
    return ask_heads(view, Words(source, first, second), asked.inward, choice)


# Code of notebooks.
STRENGTHS_CODE = """\
def strengths(request, words):
    view = View(backend.trace(request), *look)
    found = links(view, *words, inward=inward)
{adjust}    found[:, [layer for layer in range(view.layers) if layer not in view.attending]] = np.nan
    return found

found = strengths(request, words)
"""
ADJUST = """\
    usual, placed = expected_links(view, summarize_heads(view, size), {prior}, *words, inward=inward)
    found = weight_above_expected(found, usual, placed)
"""
PRIOR = "load_priors(backend, request.model, request.revision, view.trace.model.kind)[view.part or view.trace.part]"
AGAIN = "before, after = preference(found), preference(strengths(changed, their_words))\n"
FLIPS = "np.where(np.isnan(before), np.nan, 1.0 * follows(before, after) - follows(-before, -after))"
USED = (expected_links, follows, links, load_priors, preference, summarize_heads, weight_above_expected, View)


def strengths_computation(
    numbers: str, asked: HeadAnswers, request: TraceRequest | None, again: HeadAnswers | None = None
) -> Computation | None:
    """Return notebook code that computes ``numbers``, a Python expression with the name ``found``.

    In the notebook, ``found`` (candidate, layer, head) are the strengths of ``asked``, from the trace of ``request``.
    If ``again``, the strengths in a changed text, is given, the expression may also use ``before`` and ``after``: the
    preferences of each head in the first and in the changed text. Return None if ``request`` is None.
    """
    if request is None:
        return None
    view = asked.view
    adjust = ADJUST.format(prior="None" if asked.placed is None else PRIOR) if asked.is_adjusted else ""
    known: dict[str, Any] = {one.__name__: one for one in USED} | {
        "request": request,
        "look": (view.part, view.words, view.special, view.renormalise),
        "words": _cells(asked),
        "inward": asked.inward,
        "size": THUMBNAIL,
    }
    if again is not None:
        changed = replace(request, text=again.view.trace.text, pair=None, cut=None)
        known |= {"changed": changed, "their_words": _cells(again)}
    lines = AGAIN if again is not None else ""
    return Computation(f"{STRENGTHS_CODE.format(adjust=adjust)}{lines}numbers = {numbers}", **known)


def _cells(asked: HeadAnswers) -> tuple[int, list[int]]:
    return asked.words.source, [asked.words.first, asked.words.second]
