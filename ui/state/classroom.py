"""The class of students that a session attends: its code, which every address contains, and its teacher's views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from classroom.store import LENGTH, LETTERS
from ui.state.navigation import BY_VIEW, view_fields, view_of_link
from ui.state.view_state import ViewState, shared_fields

CODE = "class_code"  # Key in st.session_state.
ADDRESS = "class"  # Name of the query field.
LESSONS = "lessons"  # View of lessons; its options are in ui/run/current_lesson.py.


def code() -> str | None:
    """Return the code of the class of students that the session attends, or None."""
    found: str | None = st.session_state.get(CODE)
    return found


def enter(room: str) -> None:
    """Store the code of the class of students that this session joins."""
    st.session_state[CODE] = room


def leave() -> None:
    """Remove the class code from the session and the address."""
    st.session_state.pop(CODE, None)
    st.query_params.pop(ADDRESS, None)


def is_code(text: str) -> bool:
    """Return True if a text has the form of a code of a class of students.

    >>> is_code("ABC234"), is_code("ABC10L"), is_code("")
    (True, False, False)
    """
    return len(text) == LENGTH and set(text) <= set(LETTERS)


def take_address(query: dict[str, str]) -> dict[str, str]:
    """Join the class of students whose code is in an address, if any; return the query without the code."""
    if is_code(room := query.get(ADDRESS, "").upper()):
        enter(room)
    return {name: raw for name, raw in query.items() if name != ADDRESS}


def address_fields() -> dict[str, str]:
    """Return the query field with the code of the class of students; {} outside a class."""
    room = code()
    return {ADDRESS: room} if room else {}


def address_of(view: str, query: Mapping[str, Any]) -> str:
    """Return the address of a view; it names model and text, so that it does not depend on the defaults.

    A query without these fields has their defaults.
    """
    written = urlencode({**shared_fields(ViewState()), **query, **view_fields(view)})
    return f"/{BY_VIEW[view].path}?{written}"


def place_at(address: str) -> tuple[str, ...] | None:
    """Return the place of the teacher's view, or None if its address names no page of this app."""
    found = presented_view(address)
    return None if found is None else place_of(*found)


def place_of(view: str, query: Mapping[str, str]) -> tuple[str, ...]:
    """Return the view, and the lesson and its step on Lessons: a student who leaves it stops following."""
    return (view, query.get("lesson", ""), query.get("step", "") or "0") if view == LESSONS else (view,)


def presented_view(address: str) -> tuple[str, dict[str, str]] | None:
    """Return the view and the query of the teacher's address, or None if it names no page of this app."""
    there, _sep, written = address.removeprefix("/").partition("?")
    return view_of_link(there, dict(parse_qsl(written, keep_blank_values=True)))
