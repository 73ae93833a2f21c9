"""The code of the session's class; the address of every page contains it, so that a reload keeps the class."""

from __future__ import annotations

import streamlit as st

from classroom.store import LENGTH, LETTERS

CODE = "class_code"  # Key in st.session_state.
ADDRESS = "class"  # Name of the query field.


def code() -> str | None:
    """Return the class code, or None outside a class."""
    found: str | None = st.session_state.get(CODE)
    return found


def enter(room: str) -> None:
    """Store the class code for the session."""
    st.session_state[CODE] = room


def leave() -> None:
    """Remove the class code from the session and the address."""
    st.session_state.pop(CODE, None)
    st.query_params.pop(ADDRESS, None)


def is_code(text: str) -> bool:
    """Return True if a text has the form of a class code.

    >>> is_code("ABC234"), is_code("ABC10L"), is_code("")
    (True, False, False)
    """
    return len(text) == LENGTH and set(text) <= set(LETTERS)


def take_address(query: dict[str, str]) -> dict[str, str]:
    """Enter the class of the address, if any, and return the address without its code."""
    if is_code(room := query.get(ADDRESS, "").upper()):
        enter(room)
    return {name: raw for name, raw in query.items() if name != ADDRESS}


def address_fields() -> dict[str, str]:
    """Return the field of the address for the class; {} outside a class."""
    room = code()
    return {ADDRESS: room} if room else {}
