"""One long forward pass: how far it is, layer by layer, and a way to stop it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError, cancellation
from inference.cancellation import GONE, Cancelled
from ui.run import progress, visitors
from ui.run.notices import show_notice
from ui.run.services import get_backend


class PassProgress:
    """What is told of a pass: nothing at first, then a bar with a button, whose press ends the pass."""

    def __init__(self, place: DeltaGenerator, mark: str, doing: str) -> None:
        self.place, self.mark, self.doing = place, mark, doing
        self.begun = monotonic()
        self.bar: DeltaGenerator | None = None

    def __call__(self, done: int, of: int) -> None:
        """So many layers are done; of 0 where that is not known."""
        if self.bar is not None or monotonic() - self.begun > progress.PATIENCE:
            cancellation.run_in_calling_thread(lambda: self._update(done, of))

    def _update(self, done: int, of: int) -> None:
        if visitors.is_pressed(_key(self.mark)):
            raise Cancelled(GONE)
        self.bar = self.bar or self._draw_bar()
        told = _("{doing}: {at} of {total}", doing=self.doing, at=done, total=of) if of else self.doing
        self.bar.progress(done / of if of else 0.0, text=told)

    def _draw_bar(self) -> DeltaGenerator:
        with self.place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0)
            help = _("What was computed of it is lost")
            st.button(_("Stop"), key=_key(self.mark), on_click=progress.stop, args=(self.mark,), help=help)
        return bar


@contextmanager
def show_pass_progress(mark: str, doing: str) -> Iterator[None]:
    """What is asked of the backend inside the block is followed on the page. Raises Stopped where its reader says so.

    ``mark`` tells one piece of work from another, as for ui.run.progress.
    """
    place = st.empty()
    st.session_state.setdefault(progress.STOPPED, {})
    try:
        with cancellation.limit_request(get_backend().settings.answer_seconds, PassProgress(place, mark, doing)):
            yield
    except UserError:
        place.empty()
        raise
    place.empty()


def was_stopped(mark: str) -> bool:
    """Whether its reader has stopped it, and not said since that it may go on."""
    return mark in st.session_state.get(progress.STOPPED, {})


def offer_again(mark: str) -> None:
    """Says that it was stopped, and how to begin again."""
    st.session_state.setdefault(progress.STOPPED, {})
    show_notice(_("Reading this text was stopped."), role="status")
    help = _("Begins at the first layer")
    st.button(_("Read it now"), key=f"again_{mark}", on_click=progress.go_on, args=(mark,), help=help)


def _key(mark: str) -> str:
    return f"stop_{mark}"
