"""The bar above every page of who is in a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from classroom.errors import NotInClass
from classroom.seen import Seen
from ui.attending.reply import reply
from ui.routes.classes import ADDRESS as NEWS
from ui.run.classes import myself, store
from ui.run.refusals import say
from ui.state import attending
from ui.state.session import PAGE, addressed
from viz.components.follower import follower
from wording import _

ROOM = "classroom"  # the address of the page where a class is opened, joined and led
FOLLOWED, ALONE, LEADS = "class_followed", "class_alone", "class_leads"  # in the session's state


def follow(page: StreamlitPage, pages: Mapping[str, StreamlitPage]) -> Seen | NotInClass | None:
    """The student's room as it stands, or why they cannot look into it; None for who is in no class as a student.

    Goes to the view that the teacher presents before anything of another is drawn. ``pages`` are all, by address.
    """
    code = attending.code()
    if code is None or store().teaches(code, myself()):
        return None
    try:
        seen = store().seen(code, myself())
    except NotInClass as refusal:
        return refusal
    alone = st.session_state.get(ALONE, False)
    if seen.view is not None and not alone and st.session_state.get(FOLLOWED) != seen.view:
        st.session_state[FOLLOWED] = seen.view
        _open(seen.view, page, pages)
    return seen


def attend(page: StreamlitPage, seen: Seen | NotInClass | None) -> None:
    """Lead, or answer, if this session is in a class; ``seen`` is what `follow` saw in this run."""
    code = attending.code()
    if code is None:
        return
    if isinstance(seen, Seen):
        _bar(code, seen)
    elif seen is None:
        _lead(code, page)
    elif page.url_path != ROOM:  # which says it itself
        attending.leave()
        say(seen.sentence)


def view_of(page: StreamlitPage) -> str:
    """The address of what this page shows, as others may open it: without language and class, which are one's own."""
    return _view(page.url_path, addressed())


def presenting() -> Callable[[dict[str, str]], bool] | None:
    """Where this session leads its class: shows it a view of this page by its address, and tells whether it could."""
    code = attending.code()
    if code is None or not st.session_state.get(LEADS, False) or not store().teaches(code, myself()):
        return None
    who, page = myself(), st.session_state[PAGE]

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


def _lead(code: str, page: StreamlitPage) -> None:
    """Present this page's view, where the teacher leads."""
    if page.url_path == ROOM or not st.session_state.get(LEADS, False):
        return
    view = view_of(page)
    if store().board(code, myself()).view != view:
        store().present(code, myself(), view)
    say(_("Class {code}: everybody who follows sees this page as you see it.", code=code), role="status")


def _bar(code: str, seen: Seen) -> None:
    """How a student stands, the ways off and back, a hand, and the question."""
    alone = st.session_state.get(ALONE, False)
    follower.mount(NEWS.format(code=code), seen.version)
    with st.container(border=True, key="class_bar"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_standing(code, seen.view, alone))
            if seen.view is not None:
                _ways(alone)
            st.toggle(
                _("I am lost"),
                value=seen.lost,
                key=f"class_lost_{code}",
                on_change=lambda: store().lost(code, myself(), st.session_state[f"class_lost_{code}"]),
                help=_("Your teacher sees how many are, and who of those that gave a name"),
            )
        reply(code, seen)


def _standing(code: str, view: str | None, alone: bool) -> str:
    if view is None:
        return _("**Class {code}**", code=code)
    if alone:
        return _("**Class {code}** · you go your own way", code=code)
    return _("**Class {code}** · you follow your teacher’s view", code=code)


def _ways(alone: bool) -> None:
    """Off on one's own, and back to where the class is."""
    if alone:
        st.button(
            _("Back to the class"),
            key="class_back",
            on_click=_back,
            help=_("Opens what your teacher shows, and follows"),
        )
    else:
        st.button(
            _("Go my own way"),
            key="class_alone_button",
            on_click=lambda: st.session_state.update({ALONE: True}),
            help=_("The page stays as it is, whatever your teacher opens"),
        )


def _back() -> None:
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
