"""From what is chosen to a trace of a picture, which this session holds and nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attention.cause import Set
from attention.picture import Picture
from attention.trace import Trace
from inference import Refusal, TraceRequest
from ui.pages.pictures.models import NO_MODEL, at_hand, say_installing
from ui.pages.pictures.options import Pictures
from ui.run.counters import REFUSALS
from ui.run.downloading import offer_or_show
from ui.run.network import failed
from ui.run.refusals import say
from ui.run.shelf import backend, shelf
from ui.state.session import current
from wording import _

HELD = "picture_traces"  # in the session: those shown last, by id
MOST = 4


def hold(trace: Trace) -> Trace:
    """Keeps it while this session shows it."""
    held: dict[str, Trace] = st.session_state.setdefault(HELD, {})
    held[trace.id] = trace
    while len(held) > MOST:
        del held[next(iter(held))]
    return shelf().hold(trace)


def forget_traces() -> None:
    """Nothing is shown any longer."""
    st.session_state.pop(HELD, None)


def of_picture(options: Pictures, picture: Picture, model: str) -> dict[str, Any]:
    """The fields of a request or a question about a picture."""
    revision, side = options.revision or None, options.side or None
    return {"model": model, "revision": revision, "picture": picture, "side": side}


def read_picture(options: Pictures, picture: Picture, model: str, edits: Set = ()) -> Trace | None:
    """The picture as the model looks at it, under edits; None where it is refused, which is then said on the page."""
    request = TraceRequest(text="", edits=edits, **of_picture(options, picture, model))
    held: dict[str, Trace] = st.session_state.get(HELD, {})
    if request.key in held:
        return hold(held[request.key])
    try:
        with st.spinner(_("Loading the model, then looking at the picture"), show_time=True):
            return hold(backend().trace(request))
    except Refusal as refusal:
        if refusal.way_out == "retry":
            failed()
            _say_unreached(options, refusal)
        elif refusal.way_out == "embedded":  # that model reads texts
            say(refusal.message)
        else:
            offer_or_show(refusal, replace(current(), model=model, revision=options.revision))
        return None


def _say_unreached(options: Pictures, refusal: Refusal) -> None:
    """Say that the hub did not deliver a model, and which model of pictures helps."""
    REFUSALS.labels(refusal.way_out or "none").inc()
    say(refusal.message)
    if options.vision and not at_hand():
        say_installing(NO_MODEL)
    st.button(_("Try again"), help=_("Ask once more"))
