"""The panel "Why this head?" on Explore: the score of the selected link, next to that of the text's variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from attention.view import View
from inference import UserError
from inference.tasks.score_decomposition import ScoreRequest
from ui.pages.explore.variants import other_text, variants_of
from ui.run.services import get_backend
from ui.run.traces import input_of, request_of
from ui.show.why_head import Explained, ExplainedLink, Variant, draw_why
from ui.state.session import set_view_state
from ui.state.view_state import ViewState


def draw_text_why(choice: ViewState, view: View, selection: Mapping[str, Any]) -> None:
    """Draw the panel for the selected link of a text."""
    asked = Explained(
        partial(question, choice, view),
        partial(set_view_state, facing="out"),
        partial(variant_answer, choice, view),
    )
    draw_why(view, selection, asked)


def question(choice: ViewState, view: View, link: ExplainedLink) -> ScoreRequest:
    """Return the request for the link; the text is that of the trace, also for an opened file."""
    return ScoreRequest(
        **input_of(choice, view.trace),
        part=view.part or view.trace.part,
        layer=link.layer,
        head=link.head,
        query_token=link.query,
        key_token=link.key,
    )


def variant_answer(choice: ViewState, view: View, link: ExplainedLink) -> Variant:
    """Return the decomposition of the same link in the text's variant, and the words that differ.

    The answer is None if the library has no variant, or if it has other tokens at these places.
    """
    variants = variants_of(choice)
    if variants is None:
        return None, ("",)
    text = other_text(choice, variants)
    words = variants.words if choice.text == variants.texts[0] else variants.words[::-1]
    try:
        trace = get_backend().trace(replace(request_of(choice), text=text, pair=None, cut=None))
        places, own = (link.query, link.key), view.trace
        if any(at >= len(trace.source) or trace.source.ids[at] != own.source.ids[at] for at in places):
            return None, ("",)
        return get_backend().inspect(replace(question(choice, view, link), text=text, cut=None, checks=0)), words
    except UserError:  # The panel explains the text that is shown; the variant is an addition.
        return None, ("",)
