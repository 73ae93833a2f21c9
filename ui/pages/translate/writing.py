"""Decoding of a translation: greedily, by beam search, or forced to the reader's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.decoding import NextBeams, NextTarget
from inference.text.encoding import check_text
from ui.pages.translate.translation import BeamSearch, Translation, trace_of
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.state.view_state import ViewState

MOST_WRITTEN = 200  # longest translation in tokens


def run_translation(choice: ViewState, asked: NextTarget, who: PageModel, way: str, width: int) -> Translation | None:
    """Return the translation with its trace; None, with a notice, if the reader's own is missing.

    Raise UserError if the model refuses the text.
    """
    if way == "own":
        if not choice.target.strip():
            show_notice(_("Type your own translation above."), "status")
            return None
        trace = _read(forced_request(asked, choice.target))
        row = trace.target
        tokens = () if row is None else row.ids[1:]
        return Translation(who, asked, tokens, way, trace)
    search = beam_tokens(asked, width) if way == "beam" else None
    tokens = greedy_tokens(asked) if search is None else search.best.tokens
    return Translation(who, asked, tokens, way, _read(trace_of(asked, tokens)), search)


def forced_request(asked: NextTarget, target: str) -> TraceRequest:
    """Return the trace request for a given translation; raise UserError for an invalid target text."""
    return TraceRequest(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        target=check_text(target, gettext_lazy("target text")),
        cut=asked.cut,
        edits=asked.edits,
    )


def greedy_tokens(asked: NextTarget) -> tuple[int, ...]:
    """Return the tokens of the greedy translation and show its text as it grows; may raise UserError."""
    step = ask_model(asked, _("Asking the model"))
    source = len(step.source) if step.source is not None else 0
    most = max(1, min(step.room, MOST_WRITTEN, 2 * source + 20))
    place, tokens, text = st.empty(), list[int](), ""
    for at in stoppable_steps(f"{asked.key}:greedy", most, _("Translating, at most {most} tokens", most=most)):
        if step.ended or step.room == 0:
            continue  # run through the remaining steps, so that the progress bar disappears
        if at:
            with place.container():
                show_notice(f"{text} …", "none")
        tokens.append(step.greedy.token)
        step = get_backend().predict(replace(asked, written=tuple(tokens)))
        text = step.text
    place.empty()
    return tuple(tokens)


def beam_tokens(asked: NextTarget, width: int) -> BeamSearch:
    """Run beam search and show the best beam as it grows; raise UserError if it finds no translation."""
    question = NextBeams(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, edits=asked.edits, width=width
    )
    first = ask_model(question, _("Asking the model"))
    steps, place = [first], st.empty()
    doing = _("Translating, at most {most} tokens", most=MOST_WRITTEN)
    for _at in stoppable_steps(f"{question.key}:beams", MOST_WRITTEN, doing):
        last = steps[-1]
        if last.done or not last.beams:
            continue
        with place.container():
            show_notice(f"{last.beams[0].text} …", "none")
        steps.append(get_backend().predict(replace(question, beams=last.beams, finished=last.finished)))
    place.empty()
    if not (steps[-1].finished or steps[-1].beams):
        raise UserError(gettext_lazy("Beam search found no translation. Choose greedy decoding."))
    return BeamSearch(tuple(steps))


def _read(request: TraceRequest) -> Trace:
    with st.spinner(_("Asking the model"), show_time=True):
        return get_backend().trace(request)
