"""The teacher's page of a class of students: invitations, students, questions and answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import segno
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.head_names import head_label
from classroom.cards import PostedCard
from classroom.errors import NotInClass
from classroom.question import format_answer, format_prompt
from classroom.room_views import TeacherView
from classroom.store import KEPT
from i18n import _, translate
from ui.class_reply import draw_answers, draw_reveal_button, open_question_number
from ui.classroom import show_class
from ui.pages.classroom.question_form import draw_question_form, forget_draft
from ui.run.classes import store, visitor_secret
from ui.run.network import shared_origins
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.tables import csv_table, download_button
from ui.show.text import escape_except_emphasis, remove_emphasis
from ui.state import classroom
from ui.state.navigation import title_of
from viz.components.base_path import BASE


def this_machine_only() -> None:
    """Show that students cannot reach the app on this machine, and the command that makes it reachable."""
    show_notice(
        _("Students cannot reach this app. Restart it with “make run FOR=class” or “headlight serve”."),
        role="status",
    )


def show_storage_time() -> None:
    """Show how long names and answers are stored, and who deletes them."""
    st.caption(
        _(
            "Names and answers stay on this app's machine, until the class closes or {hours} hours after its "
            "last change.",
            hours=int(KEPT // 3600),
        )
    )


EVERY = 1.0  # seconds between updates of the answers
TOGGLE = "classroom_leads"
CLOSED = "classroom_closed"  # Session key: code of the class that this teacher has closed, until a page shows a notice.


def desk(code: str) -> None:
    """Draw the teacher's page for the class of students with this code."""
    entrance, leading = st.columns([1, 2])
    with leading:
        links = st.container()
    with entrance:
        _entrance(code, links)
    with leading:
        _draw_lead_toggle(code)
        number = open_question_number(code)
        redraw_every(EVERY, _draw_live_answers, code, number)
        draw_question_form(code, number)
        _closing(code)


def join_link(code: str, here: str) -> str:
    """Return the link for students, with the host name by which the teacher's browser reached the app.

    >>> join_link("ABC234", "http://192.168.1.7:8501/roles?layer=3")
    'http://192.168.1.7:8501/classroom?class=ABC234'
    """
    place = urlsplit(here)
    return f"{place.scheme or 'http'}://{place.netloc}{BASE}/classroom?{classroom.ADDRESS}={code}"


def invitations(code: str, here: str) -> list[str]:
    """Return the links by which students join, or none if no other machine can reach the app."""
    return [join_link(code, origin) for origin in shared_origins(here)]


def _entrance(code: str, place: DeltaGenerator) -> None:
    """Draw the code and the QR code, and in ``place``, the wider column, the link, which a narrow one breaks."""
    st.metric(_("Class code"), code, help=_("Students type it on Class, or open the link."))
    links = invitations(code, st.context.url or "")
    if not links:
        this_machine_only()
        return
    link = links[0]
    with place:
        if len(links) > 1:
            link = st.selectbox(
                _("Link for students"), links, key="classroom_link", help=_("This machine has several addresses")
            )
        st.code(link, language=None, wrap_lines=True)
    picture = segno.make(link, micro=False)
    st.image(picture.svg_inline(scale=4, light="white", border=2), caption=_("The same link as a QR code"), width=220)


def _draw_lead_toggle(code: str) -> None:
    st.session_state[TOGGLE] = store().is_shared(code)
    st.toggle(
        _("Share my view"),
        key=TOGGLE,
        on_change=lambda: _perform(store().share, code, st.session_state[TOGGLE]),
        help=_("Followers see every page that you open, except answer keys and the editor."),
    )


def _draw_live_answers(code: str, drawn: int | None) -> None:
    """Draw the class, its answers and their file; a fragment runs this again every second.

    One fragment draws all of them: the file then contains exactly the answers that the page shows. The whole page runs
    again if the open question is not ``drawn``, that of the rest of the page.
    """
    try:
        board = store().board(code, visitor_secret())
        cards = store().cards(code, visitor_secret())
    except NotInClass as refusal:
        show_notice(refusal.sentence)
        return
    if board.open_question != drawn:
        st.rerun()
    show_class(board)
    if board.asked is not None:
        _draw_latest(code, board, board.asked)
        _draw_privately(code, board)
    names = (_("Question"), _("Prompt"), _("Student"), _("Answer"), _("Correct answer"), _("Correct"))
    rows: list[tuple[object, ...]] = [(at, remove_emphasis(prompt), *rest) for at, prompt, *rest in board.rows()]
    rows += card_rows(cards, board)
    file = csv_table(names, rows)
    download_button(_("Save answers"), file, "headlight-class.csv", _("All answers with names."), key="class_save")


def card_rows(cards: Sequence[PostedCard], board: TeacherView) -> list[tuple[object, ...]]:
    """Return a row of the file of answers for each card on the board of "Break the head"; a card has no question."""
    names = {student.number: student.label for student in board.students}
    title = translate(title_of("break_head"))
    return [
        (
            "",
            f"{title} · {card.model} · {head_label(card.layer, card.head)}",
            names.get(posted.student, ""),
            f"{card.text} ({card.source}: {card.other} {card.other_weight:.3f}, {card.right} {card.right_weight:.3f})",
            "",
            "",
        )
        for posted in cards
        for card in [posted.card]
    ]


def _draw_latest(code: str, board: TeacherView, number: int) -> None:
    """Draw the question that the class sees, and its answers or the button that shows them to the class."""
    question = board.questions[number - 1]
    st.header(_("Question {number}", number=number))
    st.markdown(escape_except_emphasis(format_prompt(question)))
    if question.options:
        st.markdown(
            "\n".join(f"- {escape_except_emphasis(format_answer(question, option))}" for option in question.options)
        )
    if board.revealed:
        draw_answers(question, board.answers_to(number), "desk_answers")
        return
    draw_reveal_button(code, board, number)


def _draw_privately(code: str, board: TeacherView) -> None:
    """Draw the answers to the latest question, or to another that the teacher picks; students do not see it.

    While no question is open, the teacher may show the answers to another question than the one that the class sees.
    """
    with st.container(key="private_answers"), st.expander(_("View privately")):
        numbers = range(len(board.questions), 0, -1)
        number = st.selectbox(_("Question"), numbers, key=f"desk_question_{board.asked}", width=120)
        question = board.questions[number - 1]
        st.markdown(escape_except_emphasis(format_prompt(question)))
        draw_answers(question, board.answers_to(number), "desk_peek")
        if board.revealed and number != board.asked:
            draw_reveal_button(code, board, number)


def _closing(code: str) -> None:
    """Draw the buttons that delete data or close the class."""
    with st.container(horizontal=True):
        with st.popover(_("Delete student data"), help=_("The class and its questions stay")):
            st.markdown(_("Names and answers are deleted. Save them first."))
            st.button(
                _("Confirm"),
                key="classroom_erase",
                on_click=_perform,
                args=(store().erase, code),
                help=_("This cannot be undone"),
            )
        with st.popover(_("Close the class"), help=_("This cannot be undone")):
            st.markdown(_("Names and answers are deleted. Save them first."))
            st.button(
                _("Confirm"), key="classroom_close", on_click=_close, args=(code,), help=_("This cannot be undone")
            )
    show_storage_time()


def _close(code: str) -> None:
    _perform(store().close, code)
    st.session_state[CLOSED] = code
    forget_draft()
    classroom.leave()


def _perform(act: Callable[..., None], code: str, *given: object) -> None:
    """Call ``act`` as the teacher; leave the class if the class no longer exists."""
    try:
        act(code, visitor_secret(), *given)
    except NotInClass:
        classroom.leave()
