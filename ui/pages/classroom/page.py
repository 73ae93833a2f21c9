"""The view Class: a teacher opens a class, and students join by its code, follow and answer."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from classroom.errors import NotInClass
from classroom.store import LENGTH, LONGEST_NAME
from i18n import _
from ui.classroom import describe_missing, follow_again
from ui.pages.classroom.teacher_view import CLOSED, desk, show_storage_time, this_machine_only
from ui.run.classes import forget_joined_class, join_class, rejoin_class, store, visitor_secret
from ui.run.lesson_answers import forget_class_answers
from ui.run.network import is_open
from ui.run.notices import show_notice
from ui.show.sections import reading_help
from ui.state import classroom
from ui.state.session import change_class

PROBLEM, TYPED, NAME = "classroom_problem", "classroom_code", "classroom_name"


def door(code: str | None) -> None:
    """Draw the form to join a class, and the button to open a class.

    ``code`` is the code of a class that no longer exists, if the visitor followed a link to it; otherwise None.
    """
    if code is not None:
        show_notice(describe_missing(code))
    if problem := st.session_state.pop(PROBLEM, None):
        show_notice(problem)
    if (closed := st.session_state.pop(CLOSED, None)) is not None:
        show_notice(_("Class {code} has ended.", code=closed), role="status")
    student, teacher = st.columns(2)
    with student:
        st.header(_("I have a code"))
        with st.form("join", border=False):
            st.text_input(_("Class code"), key=TYPED, max_chars=LENGTH + 4)
            _name()
            st.form_submit_button(_("Join"), on_click=_join, type="primary", help=_("Follow the class here"))
        show_storage_time()
    with teacher:
        st.header(_("I teach"))
        st.markdown(_("Students join by a code, see your page, and answer questions."))
        if not is_open():
            this_machine_only()
        st.button(_("Open a class"), key="classroom_open", on_click=_open, help=_("This browser is its teacher's"))


def draw_waiting_room(code: str) -> None:
    """Draw the form to join the class ``code``, or for a student who has joined, the buttons to leave it."""
    try:
        seen = store().student_view(code, visitor_secret())
    except NotInClass:
        # The next student may share this browser, so nobody enters as the former student without a click.
        if (former := store().former_label(code, visitor_secret())) is not None:
            label = _("Rejoin class")
            st.button(f"{label} ({former})", key="classroom_rejoin", on_click=_rejoin, args=(code,))
        with st.form("join", border=False):
            st.markdown(_("**Class {code}**", code=code))
            _name()
            st.form_submit_button(
                _("Join"), on_click=_join, args=(code,), type="primary", help=_("Follow the class here")
            )
        show_storage_time()
        return
    show_notice(
        _("You are in the class (name: {name}). Questions appear above.", name=seen.label),
        role="status",
    )
    with st.container(horizontal=True):
        st.button(
            _("Leave the class"),
            key="classroom_leave",
            on_click=_leave,
            args=(code,),
            help=_("Your answers stay; the code brings you back"),
        )
        with st.popover(_("Delete my data")):
            st.markdown(_("Deletes your name and answers, also in lessons; you leave."))
            st.button(
                _("Confirm"),
                key="classroom_withdraw",
                on_click=_withdraw,
                args=(code,),
                help=_("This cannot be undone"),
            )
    show_storage_time()


def _withdraw(code: str) -> None:
    with suppress(NotInClass):  # a closed class has already deleted its data
        store().withdraw(code, visitor_secret())
    forget_class_answers(code)
    _leave(code)


def _leave(code: str) -> None:
    with suppress(NotInClass):  # the class is closed, or the student has withdrawn
        store().leave(code, visitor_secret())
    forget_joined_class()
    follow_again()
    classroom.leave()


def _name() -> None:
    st.text_input(
        _("Name (optional)"),
        key=NAME,
        max_chars=LONGEST_NAME,
        help=_("Only your teacher sees it."),
    )


def _join(code: str | None = None) -> None:
    typed = "".join((code or st.session_state[TYPED]).split()).upper()
    if not typed:
        st.session_state[PROBLEM] = _("Type the code from your teacher.")
        return
    if (
        code is None
        and not st.session_state[NAME].strip()
        and store().former_label(typed, visitor_secret()) is not None
    ):
        change_class(typed)  # This page asks who joins.
        return
    try:
        join_class(typed, st.session_state[NAME])
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
    else:
        follow_again()
        change_class(typed)


def _rejoin(code: str) -> None:
    try:
        rejoin_class(code)
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence
    else:
        follow_again()


def _open() -> None:
    try:
        change_class(store().open(visitor_secret()))
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence


def draw_view() -> None:
    """Draw the view Class in the page."""
    code = classroom.code()
    if code is not None and store().teaches(code, visitor_secret()):
        desk(code)
    elif code is not None and store().version(code):
        draw_waiting_room(code)
    else:
        door(code)
    with reading_help():
        st.markdown(
            _(
                "- Teachers show all answers without names.\n"
                "- A closed class leaves saved files, and answers in lessons: “Forget my answers” deletes them."
            )
        )
