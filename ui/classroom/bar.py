"""The bar above every page of who is in a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from classroom.errors import NotInClass
from classroom.views import StudentView, TeacherView
from i18n import _, ngettext
from ui.classroom.reply import reply
from ui.routes.classes import ADDRESS as NEWS
from ui.run.classes import own_room_code, store, visitor_secret
from ui.run.notices import show_notice
from ui.show.format_list import format_comma_list, join_sentences
from ui.state import classroom
from ui.state.session import PAGE, page_query
from viz.components.follower import follower

ROOM = "classroom"  # the address of the page where a class is opened, joined and led
FOLLOWED, ALONE, LEADS = "class_followed", "class_alone", "class_leads"  # in the session's state
RESUMED = "class_resumed"  # whether this session has looked for a room that its visitor teaches
EVERY = 2.0  # seconds between two looks at the class on a teacher's page


def follow(page: StreamlitPage, pages: Mapping[str, StreamlitPage]) -> StudentView | NotInClass | None:
    """The student's room as it stands, or why they cannot look into it; None for who is in no class as a student.

    Goes to the view that the teacher presents before anything of another is drawn. ``pages`` are all, by address.
    """
    _resume()
    code = classroom.code()
    if code is None or store().teaches(code, visitor_secret()):
        return None
    try:
        seen = store().student_view(code, visitor_secret())
    except NotInClass as refusal:
        return refusal
    alone = st.session_state.get(ALONE, False)
    if seen.view is not None and not alone and st.session_state.get(FOLLOWED) != seen.view:
        st.session_state[FOLLOWED] = seen.view
        _open(seen.view, page, pages)
    return seen


def attend(page: StreamlitPage, seen: StudentView | NotInClass | None) -> None:
    """Lead, or answer, if this session is in a class; ``seen`` is what `follow` saw in this run."""
    code = classroom.code()
    if code is None:
        return
    if isinstance(seen, StudentView):
        _bar(code, seen)
    elif seen is None:
        _lead(code, page)
    elif page.url_path != ROOM:  # which says it itself
        classroom.leave()
        show_notice(seen.sentence)


def view_of(page: StreamlitPage) -> str:
    """The address of what this page shows, as others may open it: without language and class, which are one's own."""
    return _view(page.url_path, page_query())


def view_presenter() -> Callable[[dict[str, str]], bool] | None:
    """Where this session leads its class: shows it a view of this page by its address, and tells whether it could."""
    code = classroom.code()
    if code is None or not st.session_state.get(LEADS, False) or not store().teaches(code, visitor_secret()):
        return None
    who, page = visitor_secret(), st.session_state[PAGE]

    def present(query: dict[str, str]) -> bool:
        try:
            store().present(code, who, _view(page, query))
        except NotInClass:
            return False  # the page says why
        return True

    return present


def _view(path: str, query: dict[str, str]) -> str:
    written = urlencode(query)
    return f"/{path}?{written}" if written else f"/{path}"


def class_summary(board: TeacherView) -> str:
    """Return who is there, how many have answered the open question, and who is lost."""
    n = len(board.students)
    parts = [ngettext("{n} student is here.", "{n} students are here.", n, n=n)]
    if board.asked is not None and not board.revealed:
        parts.append(
            _(
                "Question {number}: {n} of {all} have answered.",
                number=board.asked,
                n=len(board.answers_to(board.asked)),
                all=n,
            )
        )
    lost = [student for student in board.students if student.lost]
    if lost:
        named = format_comma_list([student.name or f"#{student.number}" for student in lost])
        parts.append(ngettext("{n} is lost: {named}.", "{n} are lost: {named}.", len(lost), n=len(lost), named=named))
    return join_sentences(*parts)


def _resume() -> None:
    """Take a teacher's new tab, or window, back into the class that they teach."""
    if st.session_state.get(RESUMED):
        return
    st.session_state[RESUMED] = True
    if classroom.code() is None and (room := own_room_code()) is not None:
        classroom.enter(room)


def _lead(code: str, page: StreamlitPage) -> None:
    """Show the teacher how the class stands, and present this page's view if the class follows."""
    if page.url_path == ROOM:  # which shows it itself
        return
    leads = st.session_state.get(LEADS, False)
    if leads and store().board(code, visitor_secret()).view != (view := view_of(page)):
        store().present(code, visitor_secret(), view)
    st.fragment(_status, run_every=EVERY)(code, leads)


def _status(code: str, leads: bool) -> None:
    try:
        board = store().board(code, visitor_secret())
    except NotInClass as refusal:
        show_notice(refusal.sentence)
        return
    led = _("Class {code}: everybody who follows sees this page as you see it.", code=code)
    show_notice(join_sentences(led if leads else _("Class {code}.", code=code), class_summary(board)), role="status")


def _bar(code: str, seen: StudentView) -> None:
    """How a student stands, the ways off and back, a hand, and the question."""
    alone = st.session_state.get(ALONE, False)
    follower.mount(NEWS.format(code=code), seen.version)
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
                help=_("Your teacher sees how many are, and who of those that gave a name"),
            )
        reply(code, seen)


def _describe_state(code: str, view: str | None, alone: bool) -> str:
    if view is None:
        return _("**Class {code}**", code=code)
    if alone:
        return _("**Class {code}** · you go your own way", code=code)
    return _("**Class {code}** · you follow your teacher’s view", code=code)


def _draw_navigation(alone: bool) -> None:
    """Off on one's own, and back to where the class is."""
    if alone:
        st.button(
            _("Back to the class"),
            key="class_back",
            on_click=_rejoin_class,
            help=_("Opens what your teacher shows, and follows"),
        )
    else:
        st.button(
            _("Go my own way"),
            key="class_alone_button",
            on_click=lambda: st.session_state.update({ALONE: True}),
            help=_("The page stays as it is, whatever your teacher opens"),
        )


def _rejoin_class() -> None:
    st.session_state[ALONE] = False
    st.session_state.pop(FOLLOWED, None)


def _open(view: str, page: StreamlitPage, pages: Mapping[str, StreamlitPage]) -> None:
    """Go to the teacher's view; an address that names no page of this app is passed over."""
    path, _sep, query = view.removeprefix("/").partition("?")
    wanted = dict(parse_qsl(query, keep_blank_values=True))
    if path == page.url_path:  # the page reads its address next, as if a link had been followed
        st.query_params.from_dict(wanted)
    elif path in pages:
        st.switch_page(pages[path], query_params=wanted)
