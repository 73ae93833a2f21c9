"""Traces of pictures, which are held in the session only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attention.edits import EditSet
from attention.pictures import Picture
from attention.trace import Trace
from i18n import _
from inference import TraceRequest, UserError
from ui.pages.pictures.models import NO_MODEL, at_hand, say_installing
from ui.pages.pictures.options import PicturesOptions
from ui.run.counters import REFUSALS
from ui.run.downloading import offer_or_show
from ui.run.network import note_hub_failure
from ui.run.notices import show_notice
from ui.run.services import get_backend, get_trace_store
from ui.state.session import get_view_state

HELD = "picture_traces"  # Session key: the latest traces, by id.
MOST = 4


def hold_trace(trace: Trace) -> Trace:
    """Keep a trace in the session, at most MOST of them, and register it with the trace store."""
    held: dict[str, Trace] = st.session_state.setdefault(HELD, {})
    held[trace.id] = trace
    while len(held) > MOST:
        del held[next(iter(held))]
    return get_trace_store().add_picture_trace(trace)


def forget_traces() -> None:
    """Drop all traces of pictures from the session."""
    st.session_state.pop(HELD, None)


def of_picture(options: PicturesOptions, picture: Picture, model: str) -> dict[str, Any]:
    """Return the fields of a request about a picture."""
    revision, side = options.revision or None, options.side or None
    return {"model": model, "revision": revision, "picture": picture, "side": side}


def read_picture(options: PicturesOptions, picture: Picture, model: str, edits: EditSet = ()) -> Trace | None:
    """Return the trace of the picture under ``edits``; show a notice and return None if refused."""
    request = TraceRequest(text="", edits=edits, **of_picture(options, picture, model))
    held: dict[str, Trace] = st.session_state.get(HELD, {})
    if request.key in held:
        return hold_trace(held[request.key])
    try:
        with st.spinner(_("Loading the model"), show_time=True):
            return hold_trace(get_backend().trace(request))
    except UserError as refusal:
        if refusal.way_out == "retry":
            note_hub_failure()
            _say_unreached(options, refusal)
        elif refusal.way_out == "embedded":  # The model reads texts, not pictures.
            show_notice(refusal.message)
        else:
            offer_or_show(refusal, replace(get_view_state(), model=model, revision=options.revision))
        return None


def _say_unreached(options: PicturesOptions, refusal: UserError) -> None:
    """Show that the hub delivered no model, and how to install a vision model if none is available."""
    REFUSALS.labels(refusal.way_out or "none").inc()
    show_notice(refusal.message)
    if options.vision and not at_hand():
        say_installing(NO_MODEL)
    st.button(_("Try again"), help=_("Ask once more"))
