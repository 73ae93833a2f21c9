"""One long forward pass: how far it is, layer by layer, and a way to stop it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inference import Refusal, stops
from inference.stops import GONE, Stopped
from ui.run import stoppable, visitors
from ui.run.refusals import say
from ui.run.shelf import backend
from wording import _


class Followed:
    """What is told of a pass: nothing at first, then a bar with a button, whose press ends the pass."""

    def __init__(self, place: DeltaGenerator, mark: str, doing: str) -> None:
        self.place, self.mark, self.doing = place, mark, doing
        self.begun = monotonic()
        self.bar: DeltaGenerator | None = None

    def __call__(self, done: int, of: int) -> None:
        """So many layers are done; of 0 where that is not known."""
        if self.bar is not None or monotonic() - self.begun > stoppable.PATIENCE:
            stops.in_asking_thread(lambda: self._tell(done, of))

    def _tell(self, done: int, of: int) -> None:
        if visitors.pressed(_key(self.mark)):
            raise Stopped(GONE)
        self.bar = self.bar or self._drawn()
        told = _("{doing}: {at} of {total}", doing=self.doing, at=done, total=of) if of else self.doing
        self.bar.progress(done / of if of else 0.0, text=told)

    def _drawn(self) -> DeltaGenerator:
        with self.place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0)
            help = _("What was computed of it is lost")
            st.button(_("Stop"), key=_key(self.mark), on_click=stoppable.stop, args=(self.mark,), help=help)
        return bar


@contextmanager
def one_pass(mark: str, doing: str) -> Iterator[None]:
    """What is asked of the backend inside the block is followed on the page. Raises Stopped where its reader says so.

    ``mark`` tells one piece of work from another, as for ui.run.stoppable.
    """
    place = st.empty()
    st.session_state.setdefault(stoppable.STOPPED, {})
    try:
        with stops.asked(backend().settings.answer_seconds, Followed(place, mark, doing)):
            yield
    except Refusal:
        place.empty()
        raise
    place.empty()


def was_stopped(mark: str) -> bool:
    """Whether its reader has stopped it, and not said since that it may go on."""
    return mark in st.session_state.get(stoppable.STOPPED, {})


def offer_again(mark: str) -> None:
    """Says that it was stopped, and how to begin again."""
    st.session_state.setdefault(stoppable.STOPPED, {})
    say(_("Reading this text was stopped."), role="status")
    help = _("Begins at the first layer")
    st.button(_("Read it now"), key=f"again_{mark}", on_click=stoppable.go_on, args=(mark,), help=help)


def _key(mark: str) -> str:
    return f"stop_{mark}"
