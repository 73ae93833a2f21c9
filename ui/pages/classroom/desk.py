"""The teacher's desk: how to get in, who is there, what is asked, what comes back."""

from __future__ import annotations

from urllib.parse import urlsplit

import segno
import streamlit as st

from classroom.errors import NotInClass
from classroom.seen import Board
from ui.attending.answers import answers
from ui.attending.bar import LEADS
from ui.pages.classroom.asking import asking
from ui.run.classes import myself, store
from ui.run.refusals import say
from ui.show.csv_table import csv_table
from ui.show.lists import commas, together
from ui.show.plain import plain
from ui.show.saving import save
from ui.state import attending
from viz.components.base_path import BASE
from wording import _, ngettext

EVERY = 1.0  # seconds between two looks at the class
TOGGLE = "classroom_leads"
LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]")


def desk(code: str) -> None:
    """Everything that a teacher has."""
    entrance, leading = st.columns([1, 2])
    with entrance:
        _entrance(code)
    with leading:
        _leading(code)
        st.fragment(_live, run_every=EVERY)(code)
        asking(code)
        _closing(code)


def join_link(code: str, here: str) -> str:
    """Where students go, on the address by which the teacher's browser reached the app.

    >>> join_link("ABC234", "http://192.168.1.7:8501/roles?layer=3")
    'http://192.168.1.7:8501/classroom?class=ABC234'
    """
    place = urlsplit(here)
    return f"{place.scheme or 'http'}://{place.netloc}{BASE}/classroom?{attending.ADDRESS}={code}"


def _entrance(code: str) -> None:
    st.metric(_("Code of the class"), code, help=_("Students type it on the page A class, or follow the link"))
    link = join_link(code, st.context.url or "")
    if urlsplit(link).hostname in LOCAL:
        say(
            _(
                "You opened the app by an address that only this machine knows. Open it by this machine’s address in "
                "the network, and the link and the QR code are right for students."
            ),
            role="status",
        )
    st.code(link, language=None, wrap_lines=True)
    picture = segno.make(link, micro=False)
    st.image(picture.svg_inline(scale=4, light="white", border=2), caption=_("The same link as a QR code"), width=220)


def _leading(code: str) -> None:
    st.session_state[TOGGLE] = st.session_state.get(LEADS, False)  # a control's state ends with its page
    st.toggle(
        _("Students see what I see"),
        key=TOGGLE,
        on_change=_lead_or_not,
        args=(code,),
        help=_("While it is on, every page that you open is opened for all who follow"),
    )


def _lead_or_not(code: str) -> None:
    st.session_state[LEADS] = st.session_state[TOGGLE]
    if not st.session_state[LEADS]:
        store().present(code, myself(), None)


def _live(code: str) -> None:
    """Who is there and what was answered, looked at every second."""
    try:
        board = store().board(code, myself())
    except NotInClass as refusal:
        say(refusal.sentence)
        return
    say(standing(board), role="status")
    if board.asked is None:
        return
    question = board.questions[board.asked - 1]
    st.subheader(_("Question {number}", number=board.asked))
    st.markdown(plain(question.prompt))
    if board.revealed:
        answers(question, board.said(board.asked), "desk_answers")
        return
    n = len(board.said(board.asked))
    say(_("{n} of {all} have answered.", n=n, all=len(board.students)), role="status")
    st.button(
        _("Show the answers to everybody"),
        key="classroom_reveal",
        on_click=_do,
        args=(store().reveal, code),
        help=_("To you and to the students, without names; nobody can answer any more"),
    )
    with st.expander(_("Look at them alone")):
        answers(question, board.said(board.asked), "desk_peek")


def standing(board: Board) -> str:
    """Who is there, and who is lost."""
    n = len(board.students)
    parts = [ngettext("{n} student is here.", "{n} students are here.", n, n=n)]
    lost = [student for student in board.students if student.lost]
    if lost:
        named = commas([student.name or f"#{student.number}" for student in lost])
        parts.append(ngettext("{n} is lost: {named}.", "{n} are lost: {named}.", len(lost), n=len(lost), named=named))
    return together(*parts)


def _closing(code: str) -> None:
    """The table of all answers, and the end."""
    with st.container(horizontal=True):
        names = (_("question"), _("prompt"), _("student"), _("answer"), _("truth"))
        rows = store().board(code, myself()).rows()
        save(
            _("Save the answers as CSV"),
            csv_table(names, rows),
            "headlight-class.csv",
            _("Every answer to every question, with the names that students gave"),
        )
        with st.popover(_("Close the room"), help=_("Ends the class")):
            st.markdown(_("Nothing of the class is kept on this machine. Save the answers first if you need them."))
            st.button(
                _("Close it now"), key="classroom_close", on_click=_close, args=(code,), help=_("This cannot be undone")
            )


def _close(code: str) -> None:
    _do(store().close, code)
    st.session_state[LEADS] = False
    attending.leave()


def _do(act: object, code: str) -> None:
    """What the teacher does; a room that is gone meanwhile is said on the page."""
    try:
        act(code, myself())  # type: ignore[operator]
    except NotInClass:
        attending.leave()
