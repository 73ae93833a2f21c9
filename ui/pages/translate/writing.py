"""The translation comes token by token: greedily, by beam search, or as the reader gives it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from inference import Refusal, TraceRequest
from inference.questions.decoding import NextBeams, NextTarget
from inference.text.accepted import check_text
from ui.pages.translate.translation import Search, Translation, trace_of
from ui.run.answering import Answerer, ask
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.run.stoppable import stoppable
from ui.state.choice import Choice
from wording import _, sentence

MOST_WRITTEN = 200  # tokens


def translate(choice: Choice, asked: NextTarget, who: Answerer, way: str, width: int) -> Translation | None:
    """The translation and its trace; None where the reader's own is missing, which is said. Raises Refusal."""
    if way == "own":
        if not choice.target.strip():
            say(_("Type your own translation in the box “Translation” above, then press Enter."), "status")
            return None
        trace = _read(given(asked, choice.target))
        row = trace.target
        tokens = () if row is None else row.ids[1:]
        return Translation(who, asked, tokens, way, trace)
    search = beams(asked, width) if way == "beam" else None
    tokens = greedy(asked) if search is None else search.best.tokens
    return Translation(who, asked, tokens, way, _read(trace_of(asked, tokens)), search)


def given(asked: NextTarget, target: str) -> TraceRequest:
    """What is asked for a translation that the reader gives; raises Refusal for one that no model can read."""
    return TraceRequest(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        target=check_text(target, sentence("target text")),
        cut=asked.cut,
        edits=asked.edits,
    )


def greedy(asked: NextTarget) -> tuple[int, ...]:
    """The tokens of the greedy translation, shown as they come. Raises Refusal."""
    step = ask(asked, _("Reading the source"))
    source = len(step.source) if step.source is not None else 0
    most = max(1, min(step.room, MOST_WRITTEN, 2 * source + 20))
    place, tokens, text = st.empty(), list[int](), ""
    for at in stoppable(f"{asked.key}:greedy", most, _("Translating, at most {most} tokens", most=most)):
        if step.ended or step.room == 0:
            continue  # the count runs out, so that its bar goes
        if at:
            with place.container():
                say(f"{text} …", "none")
        tokens.append(step.greedy.token)
        step = backend().predict(replace(asked, written=tuple(tokens)))
        text = step.text
    place.empty()
    return tuple(tokens)


def beams(asked: NextTarget, width: int) -> Search:
    """Beam search from its first step on, its best way shown as it grows. Raises Refusal."""
    question = NextBeams(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, edits=asked.edits, width=width
    )
    first = ask(question, _("Reading the source"))
    steps, place = [first], st.empty()
    for _at in stoppable(f"{question.key}:beams", MOST_WRITTEN, _("Searching, at most so many steps")):
        last = steps[-1]
        if last.done or not last.beams:
            continue
        with place.container():
            say(f"{last.beams[0].text} …", "none")
        steps.append(backend().predict(replace(question, beams=last.beams, finished=last.finished)))
    place.empty()
    if not (steps[-1].finished or steps[-1].beams):
        raise Refusal(sentence("Beam search found no way to write here. Choose greedy decoding."))
    return Search(tuple(steps))


def _read(request: TraceRequest) -> Trace:
    with st.spinner(_("Reading what every head looked at"), show_time=True):
        return backend().trace(request)
