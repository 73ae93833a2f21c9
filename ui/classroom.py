"""The bar of a class of students above every page: who follows whom, and the state of the class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from classroom.errors import NotInClass, no_room, too_long_view
from classroom.room_views import Student, StudentView, TeacherView
from i18n import _, ngettext
from ui.class_reply import draw_reply, question_text
from ui.routes.classes import ADDRESS as NEWS
from ui.run.classes import own_room_code, store, visitor_secret
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.text import format_comma_list, join_sentences
from ui.show.views import go_to_view, link_to_view
from ui.state import classroom
from ui.state.navigation import BY_VIEW, view_fields
from ui.state.session import current_view, own_query, page_query
from viz.components.page_scripts import follow_class

ROOM = "classroom"  # View for opening, joining and leading a class.
FOLLOWED, ALONE = "class_followed", "class_alone"  # Keys in st.session_state.
TEACHERS_ONLY = ("teacher", "write")  # Values of the field "show" on a teacher's own pages.
ATTENDED = "class_attended"  # Session key of the code of the class that this session attended last.
RESUMED = "class_resumed"  # Session key of a flag: the search for this visitor's class is done.
EVERY = 2.0  # Seconds between two updates of the class state on a teacher's page.


def follow(path: str) -> StudentView | NotInClass | None:
    """Open the view that the teacher presents, and return what this student may see of the class.

    Return NotInClass if the class does not accept this session, and None if the session attends no class or teaches it.
    The page changes only if the teacher has presented a new view and the student follows. A student who has left the
    teacher's page or step goes on alone (``attend``). ``path`` is the address of the current page.
    """
    _resume()
    code = classroom.code()
    if code is None or store().teaches(code, visitor_secret()):
        return None
    try:
        seen = store().student_view(code, visitor_secret())
    except NotInClass as refusal:
        return refusal
    st.session_state[ATTENDED] = code
    alone = st.session_state.get(ALONE, False)
    if seen.view is None:
        st.session_state.pop(FOLLOWED, None)
    elif not alone and st.session_state.get(FOLLOWED) != seen.view:
        st.session_state[FOLLOWED] = seen.view
        _open(seen.view, path)
    return seen


def attend(seen: StudentView | NotInClass | None) -> None:
    """Draw the bar of the class of students that this session is in, if any; ``seen`` is the result of ``follow``."""
    code = classroom.code()
    if code is None:
        return
    if isinstance(seen, StudentView):
        _bar(code, seen)
    elif seen is None:
        _lead(code)
    elif current_view() != ROOM:  # This page draws the message itself.
        classroom.leave()
        exists = bool(store().version(code))
        show_notice(seen.sentence if exists else describe_missing(code))
        if exists:  # This visitor has not joined the class.
            link_to_view(
                ROOM,
                _("Join"),
                icon=":material/groups:",
                query={classroom.ADDRESS: code},
                help=_("Follow the class here"),
            )


def describe_missing(code: str) -> str:
    """Return a sentence for the code of a class of students that does not exist.

    It states that the class has ended if this session attended it, else that there is no such class.
    """
    if st.session_state.get(ATTENDED) == code:
        return _("Class {code} has ended.", code=code)
    return no_room(code)


def shared_address(**fields: Any) -> str:
    """Return an address of the current view to share, without the visitor's own language and class.

    ``fields`` are added to its query.
    """
    return classroom.address_of(current_view(), {**page_query(), **fields})


def view_presenter() -> Callable[[dict[str, str]], bool] | None:
    """Return a function that opens a view of this page for all students of the teacher's class.

    The function takes the query of the view's address, and returns False if the class no longer accepts this teacher.
    Return None if this session teaches no class whose students follow it.
    """
    code = classroom.code()
    if code is None or not store().is_shared(code) or not store().teaches(code, visitor_secret()):
        return None
    who, view = visitor_secret(), current_view()

    def present(query: dict[str, str]) -> bool:
        try:
            _check_lesson(view, query)
            store().present(code, who, classroom.address_of(view, query))
        except NotInClass:
            return False  # The page shows the reason.
        return True

    return present


def class_summary(board: TeacherView) -> str:
    """Return sentences with the numbers of students in a class, of answers, and of students who are lost.

    Students report on their page that they are lost. The sentences contain no names, because a projector may show them
    to the class.
    """
    n = len(board.present)
    parts = [_("Students: {n}.", n=n)]
    if board.asked is not None and not board.revealed:
        parts.append(
            _(
                "Answers to question {number}: {n}; missing: {missing}.",
                number=board.asked,
                n=len(board.answers_to(board.asked)),
                missing=len(board.students_without_answer(board.asked)),
            )
        )
    if lost := _lost_students(board):
        parts.append(ngettext("{n} is lost.", "{n} are lost.", len(lost), n=len(lost)))
    return join_sentences(*parts)


def show_class(board: TeacherView, *before: str) -> None:
    """Show the state of a class in a notice, and collapsed names of the students without an answer and the lost.

    The notice begins with the sentences ``before``. Students report on their page that they are lost.
    """
    show_notice(join_sentences(*before, class_summary(board)), role="status")
    silent = () if board.asked is None or board.revealed else board.students_without_answer(board.asked)
    lost = _lost_students(board)
    # The container stays without names: a popover below it would otherwise close if a student is lost.
    with st.container(key="private_names"):
        if not (silent or lost):
            return
        # The names are folded, because the class may see the page; assets/app.css hides them in the projector view.
        with st.expander(_("Names")):
            if silent:
                show_notice(_("No answer: {named}.", named=_names(silent)), role="status")
            if lost:
                show_notice(_("Lost: {named}.", named=_names(lost)), role="status")


def _names(students: Sequence[Student]) -> str:
    return format_comma_list([student.label for student in students])


def _lost_students(board: TeacherView) -> list[Student]:
    return [student for student in board.students if student.lost]


def _resume() -> None:
    """Enter the class that this visitor teaches or has joined, once for each session.

    A new tab or window thus returns to the class.
    """
    if st.session_state.get(RESUMED):
        return
    st.session_state[RESUMED] = True
    if classroom.code() is None and (room := own_room_code()) is not None:
        classroom.enter(room)


def _lead(code: str) -> None:
    """Show the state of the class to the teacher, and present this page's view if the class follows."""
    if current_view() == ROOM:  # This page draws the state of the class itself.
        return
    # Followers keep their page while the teacher reads a key or writes a lesson.
    leads, problem = store().is_shared(code) and not _is_teachers_only(), ""
    if leads:
        try:
            _present_page(code)
        except NotInClass as refusal:
            leads, problem = False, refusal.sentence
    redraw_every(EVERY, _status, code, leads, problem)


def _is_teachers_only() -> bool:
    """Return True if the page shows the answer key of a lesson, or the editor."""
    return current_view() == classroom.LESSONS and own_query().get("show") in TEACHERS_ONLY


def _present_page(code: str) -> None:
    """Present this page's view, unless it is presented already; raise NotInClass if it is too long."""
    _check_lesson(current_view(), own_query())
    if store().board(code, visitor_secret()).view != (view := shared_address()):
        store().present(code, visitor_secret(), view)


def _check_lesson(view: str, query: Mapping[str, str]) -> None:
    """Raise NotInClass if an address of the teacher's own lesson lacks its text, which was too long."""
    if view == classroom.LESSONS and query.get("lesson") == "own" and not query.get("carried"):
        raise too_long_view()


def _status(code: str, is_same: bool, problem: str = "") -> None:
    """Draw the state of the class.

    ``is_same`` is True if followers see the teacher's page as it is; ``problem`` is the reason why they cannot.
    """
    try:
        board = store().board(code, visitor_secret())
    except NotInClass as refusal:
        show_notice(refusal.sentence)
        return
    if problem:
        show_notice(problem)
    led = _("Class {code}: followers see this page.", code=code)
    show_class(board, led if is_same else _("Class {code}.", code=code))


def _bar(code: str, seen: StudentView) -> None:
    """Draw a student's class bar: the state, the navigation, the “I am lost” switch and the question."""
    if seen.view is not None and classroom.place_at(seen.view) not in (
        None,
        classroom.place_of(current_view(), own_query()),
    ):
        st.session_state[ALONE] = True
    alone = st.session_state.get(ALONE, False)
    follow_class(NEWS.format(code=code), seen.version, moves=not alone and seen.view is not None,
                 says=question_text(seen))  # fmt: skip
    with st.container(border=True, key="class_bar"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_describe_state(code, seen.view, alone))
            if seen.view is not None:
                _draw_navigation(alone)
            st.toggle(
                _("I am lost"),
                value=seen.lost,
                key=f"class_lost_{code}",
                on_change=lambda: store().set_hand(code, visitor_secret(), st.session_state[f"class_lost_{code}"]),
                help=_("Your teacher sees how many students are lost, and their names."),
            )
        draw_reply(code, seen)


def _describe_state(code: str, view: str | None, alone: bool) -> str:
    if view is None:
        return _("**Class {code}**", code=code)
    if alone:
        return _("**Class {code}** · you go your own way", code=code)
    return _("**Class {code}** · you follow your teacher’s view", code=code)


def _draw_navigation(alone: bool) -> None:
    """Draw the button that leaves the teacher's view, or the button that returns to it."""
    if alone:
        st.button(
            _("Follow teacher"),
            key="class_back",
            on_click=follow_again,
            help=_("Opens your teacher's page, and follows"),
        )
    else:
        st.button(
            _("Stop following"),
            key="class_alone_button",
            on_click=lambda: st.session_state.update({ALONE: True}),
            help=_("The page stays, whatever your teacher opens"),
        )


def follow_again() -> None:
    """Follow the teacher from now on, whatever this session did in a class before."""
    st.session_state[ALONE] = False
    st.session_state.pop(FOLLOWED, None)


def _open(address: str, path: str) -> None:
    """Open the teacher's view from the page at ``path``; ignore an address that names no page of this app."""
    found = classroom.presented_view(address)
    if found is None:
        return
    view, query = found
    if BY_VIEW[view].path == path:  # The page reads the new address afterwards, as it does for a link.
        st.query_params.from_dict({**query, **view_fields(view)})
    else:
        go_to_view(view, query)
