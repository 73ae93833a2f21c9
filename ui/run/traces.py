"""The trace of the text and model that a visitor has selected, with progress on the page."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.trace import SIGNED, Trace
from attention.view import View
from i18n import _
from inference import TraceRequest, UserError
from inference.cancellation import Cancelled
from inference.files.embedded import OWN
from inference.text.words import is_chinese
from ui.input.unknown_words import require_readable, show_unknown_words
from ui.run.downloading import offer_or_show
from ui.run.notices import show_error, show_notes, show_notice
from ui.run.page_model import kind_of, remember_kind
from ui.run.progress import offer_again, show_pass_progress, was_stopped
from ui.run.services import CHINESE, get_backend, get_trace_store
from ui.state.selection import carry_over, get_last_view
from ui.state.view_state import ViewState
from viz.paper.notebook import Computation

SHOWN = "something_is_shown"
READ = "read_already"  # Session key of the id of a trace that was computed before the page is drawn.


def request_of(choice: ViewState) -> TraceRequest:
    """Return the trace request for the texts and the model in ``choice``."""
    return TraceRequest(
        model=choice.model,
        revision=choice.revision or None,
        text=choice.text,
        pair=choice.pair if choice.pair and kind_of(choice) != "encoder-decoder" else None,
        target=choice.target or None,
        cut=choice.cut,
    )


def input_of(choice: ViewState, trace: Trace) -> dict[str, Any]:
    """Return the model and the texts of a displayed trace, as fields of a model request.

    For a trace from a file, they are the model and the texts of the file. A truncated text stays truncated.
    """
    opened = bool(choice.opened)
    return {
        "model": trace.model.name if opened else choice.model,
        "revision": trace.model.revision if opened else choice.revision or None,
        "text": trace.text,
        "pair": trace.pair,
        "target": () if trace.target is None else trace.target.ids,
        "cut": len(trace.source),
    }


def displayed_request(choice: ViewState, trace: Trace) -> TraceRequest | None:
    """Return the request that computes the displayed trace.

    Return None for a trace that ``choice`` does not request, such as an opened file or a trace by Chinese words.
    """
    asked = request_of(choice)
    return asked if asked.key == trace.id else None


def view_computation(choice: ViewState, view: View, code: str, **names: Any) -> Computation | None:
    """Return notebook code that runs ``code`` on ``view``, a view of the displayed trace.

    ``names`` are the names that the code uses, besides ``view``. Return None if ``displayed_request`` does.
    """
    request = displayed_request(choice, view.trace)
    look = (view.part, view.words, view.special, view.renormalise)
    begun = Computation("view = View(backend.trace(request), *look)", View=View, request=request, look=look)
    return None if request is None else begun.then(code, **names)


def id_of(choice: ViewState) -> str:
    """Return the id of the trace for the texts and the model in ``choice``."""
    plain = choice.opened or request_of(choice).key
    return f"{CHINESE}{plain}" if by_chinese_words(choice) else plain


def by_chinese_words(choice: ViewState) -> bool:
    """Return True if tokens are grouped by the words of a Chinese text."""
    return choice.words and choice.jieba and is_chinese(choice.text + choice.pair + choice.target)


def read_trace(choice: ViewState, signed: bool = False) -> Trace | None:
    """Return the trace for ``choice``; if that fails, show the error on the page and return None.

    ``signed`` is True if the page also supports files with signed values instead of attention weights.
    """
    trace = _read(choice)
    if trace is not None and not signed and any(map(trace.is_signed, trace.parts)):
        show_notice(SIGNED)
        return None
    return get_trace_store().by_chinese_words(trace) if trace is not None and by_chinese_words(choice) else trace


def _read(choice: ViewState) -> Trace | None:
    show_notes()
    if choice.opened:
        return _opened_trace(choice.opened)
    asked = request_of(choice)
    if was_stopped(asked.key):
        offer_again(asked.key)
        return None
    doing = _describe_work(choice)
    waiting = st.empty()
    if not st.session_state.get(SHOWN):
        # Later runs keep the old content on screen until the new figure is ready.
        waiting.html(f'<div class="headlight-skeleton" role="status">{doing}</div>')
    try:
        spinner = nullcontext() if st.session_state.pop(READ, "") == asked.key else st.spinner(doing, show_time=True)
        with spinner, show_pass_progress(asked.key, doing):
            trace = require_readable(get_backend().trace(asked))
    except UserError as refusal:
        waiting.empty()
        if isinstance(refusal, Cancelled) and not refusal.timed_out:
            offer_again(asked.key)
        else:
            offer_or_show(refusal, choice)
        return None
    waiting.empty()
    remember_kind(choice.model, trace.model.kind)
    st.session_state[SHOWN] = True
    show_unknown_words(choice, trace)
    if choice.cut is not None:
        show_notice(
            _("Only the first {tokens} tokens were read.", tokens=len(trace.source)),
            role="status",
        )
    return trace


def _describe_work(choice: ViewState) -> str:
    """Return a phrase for the progress bar, without the model's name, which a link may have made up."""
    loaded = get_backend().status(choice.model, choice.revision or None) == "loaded"
    return _("Reading the text") if loaded else _("Loading the model")


def _opened_trace(trace_id: str) -> Trace | None:
    try:
        trace = get_trace_store().find(trace_id)
    except UserError as refusal:
        show_notice(refusal.message)
        return None
    if trace is None:
        show_notice(_("It left the memory; load it again."), role="status")
    elif trace.picture is not None:
        show_notice(_("This file is of a picture. Open it in Image attention."), role="status")
        return None
    return None if trace is None else _readable_file(trace)


def _readable_file(trace: Trace) -> Trace | None:
    """Return the trace of a file, or show an error and return None if its model cannot read it."""
    try:
        return require_readable(trace)
    except UserError as refusal:
        texts = {"text": trace.text, "pair": trace.pair or ""}
        show_error(UserError(refusal.message, way_out=refusal.way_out, details={**refusal.details, "texts": texts}))
        return None


LONG = 5_000  # Characters that the embedded model traces in less than a second.


def what_stays(before: ViewState, after: ViewState) -> tuple[dict[str, Any], list[str]]:
    """Return the part of the selection that survives an edit of the text, and notes on the rest.

    The selection consists of fields of the view state. The notes are sentences about words that are gone. For a new
    text, return ({}, []). The edited text is traced here, and the page later finds the trace in the cache. For a text
    of more than LONG characters nothing survives, because the page traces it with a progress bar and a stop button.
    """
    if len(after.text) + len(after.pair) + len(after.target) > LONG:
        return {}, []
    old = get_trace_store().find(id_of(before))
    # The app's own models load in a second, and may answer from the stored answers without being loaded.
    ready = after.model in OWN or get_backend().status(after.model, after.revision or None) == "loaded"
    if before.opened or old is None or not ready:
        return {}, []
    try:
        new = get_backend().trace(request_of(after))
    except UserError:
        return {}, []
    st.session_state[READ] = new.id
    return carry_over(replace(before, **get_last_view(old.id)), old, new) or ({}, [])
