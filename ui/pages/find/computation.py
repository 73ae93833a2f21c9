"""The computations of the figures of the view Find, for notebooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attention.head_search import expected_links, follows, links, preference, weight_above_expected
from attention.measures import summarize_heads
from attention.view import View
from inference import TraceRequest
from probing.reference_priors import load_priors
from ui.run.head_answers import HeadAnswers
from ui.run.services import THUMBNAIL
from viz.paper.notebook import Computation

STRENGTHS = """\
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
    """Return the computation of ``numbers`` from ``found``, the strengths (candidate, layer, head).

    ``request`` gives the trace of ``asked``; without it, return None. ``again`` are the strengths in a changed text.
    With it, ``numbers`` may contain ``before`` and ``after``, the preferences in both texts.
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
    return Computation(f"{STRENGTHS.format(adjust=adjust)}{lines}numbers = {numbers}", **known)


def _cells(asked: HeadAnswers) -> tuple[int, list[int]]:
    return asked.words.source, [asked.words.first, asked.words.second]
