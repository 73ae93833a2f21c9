"""The code of the class of students that a session attends; every address contains it, so a reload keeps it."""

from __future__ import annotations

import streamlit as st

from classroom.store import LENGTH, LETTERS

CODE = "class_code"  # Key in st.session_state.
ADDRESS = "class"  # Name of the query field.


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
