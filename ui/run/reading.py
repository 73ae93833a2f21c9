"""From a choice to a trace, with what the reader sees meanwhile."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from attention.trace import SIGNED, Trace
from inference import Refusal, TraceRequest
from inference.stops import Stopped
from inference.text.chinese_words import is_chinese
from ui.input.models import kind_of, saw
from ui.input.unknown_words import readable, say_unknown
from ui.run.downloading import offer_or_show
from ui.run.one_pass import offer_again, one_pass, was_stopped
from ui.run.refusals import say, say_notes, show
from ui.run.shelf import CHINESE, backend, shelf
from ui.state.choice import Choice
from wording import _

SHOWN = "something_is_shown"
READ = "read_already"  # id of the trace of a text that was read before its page is drawn


def request_of(choice: Choice) -> TraceRequest:
    """What the backend is asked for."""
    return TraceRequest(
        model=choice.model,
        revision=choice.revision or None,
        text=choice.text,
        pair=choice.pair if choice.pair and kind_of(choice) != "encoder-decoder" else None,
        target=choice.target or None,
        cut=choice.cut,
    )


def id_of(choice: Choice) -> str:
    """The id of the trace that a choice shows."""
    plain = choice.opened or request_of(choice).key
    return f"{CHINESE}{plain}" if by_chinese_words(choice) else plain


def by_chinese_words(choice: Choice) -> bool:
    """Whether pieces are shown together by the words of a Chinese text."""
    return choice.words and choice.jieba and is_chinese(choice.text + choice.pair + choice.target)


def read(choice: Choice, signed: bool = False) -> Trace | None:
    """The trace; None when it was refused, which is then said on the page.

    ``signed``: whether the page shows a file of numbers with signs, too; others need attention weights.
    """
    trace = _read(choice)
    if trace is not None and not signed and any(map(trace.signed, trace.parts)):
        say(SIGNED)
        return None
    return shelf().by_chinese_words(trace) if trace is not None and by_chinese_words(choice) else trace


def _read(choice: Choice) -> Trace | None:
    say_notes()
    if choice.opened:
        return _opened(choice.opened)
    asked = request_of(choice)
    if was_stopped(asked.key):
        offer_again(asked.key)
        return None
    doing = _doing(choice)
    waiting = st.empty()
    if not st.session_state.get(SHOWN):
        # Later on, what is on screen stays until the new picture is ready.
        waiting.html(f'<div class="headlight-skeleton" role="status">{doing}</div>')
    try:
        spinner = nullcontext() if st.session_state.pop(READ, "") == asked.key else st.spinner(doing, show_time=True)
        with spinner, one_pass(asked.key, doing):
            trace = readable(backend().trace(asked))
    except Refusal as refusal:
        waiting.empty()
        if isinstance(refusal, Stopped) and not refusal.late:
            offer_again(asked.key)
        else:
            offer_or_show(refusal, choice)
        return None
    waiting.empty()
    saw(choice.model, trace.model.kind)
    st.session_state[SHOWN] = True
    say_unknown(choice, trace)
    if choice.cut is not None:
        say(
            _("Only the first {tokens} tokens are read; the rest of the text is not shown.", tokens=len(trace.source)),
            role="status",
        )
    return trace


def _doing(choice: Choice) -> str:
    """What takes the time; without the model's name, which a link may have made up."""
    loaded = backend().status(choice.model, choice.revision or None) == "loaded"
    return _("Reading the text") if loaded else _("Loading the model, then reading the text")


def _opened(trace_id: str) -> Trace | None:
    try:
        trace = shelf().find(trace_id)
    except Refusal as refusal:
        say(refusal.message)
        return None
    if trace is None:
        say(_("The file that this link shows is no longer in memory; open it again in the sidebar."), role="status")
    elif trace.picture is not None:
        say(_("This file is of a picture, which the page Pictures shows; here texts are read."), role="status")
        return None
    return None if trace is None else _readable_file(trace)


def _readable_file(trace: Trace) -> Trace | None:
    """Return the trace of a file; None if its text is unreadable, which is said, with a model for the same text."""
    try:
        return readable(trace)
    except Refusal as refusal:
        texts = {"text": trace.text, "pair": trace.pair or ""}
        show(Refusal(refusal.message, way_out=refusal.way_out, details={**refusal.details, "texts": texts}))
        return None
