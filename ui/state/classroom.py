"""The class that a session is in: its code stands in the address of every page, so that a reload finds it again."""

from __future__ import annotations

import streamlit as st

from classroom.store import LENGTH, LETTERS

CODE = "class_code"  # in the session's state
ADDRESS = "class"  # in the address


def code() -> str | None:
    """The room's code; None outside a class."""
    found: str | None = st.session_state.get(CODE)
    return found


def enter(room: str) -> None:
    """From now on in this room."""
    st.session_state[CODE] = room


def leave() -> None:
    """In no room any more, nor by the address."""
    st.session_state.pop(CODE, None)
    st.query_params.pop(ADDRESS, None)


def is_code(text: str) -> bool:
    """Whether a text can be the code of a room.

    >>> is_code("ABC234"), is_code("ABC10L"), is_code("")
    (True, False, False)
    """
    return len(text) == LENGTH and set(text) <= set(LETTERS)


def take_address(query: dict[str, str]) -> dict[str, str]:
    """The address without the room's code, which is kept for the session."""
    if is_code(room := query.get(ADDRESS, "").upper()):
        enter(room)
    return {name: raw for name, raw in query.items() if name != ADDRESS}


def address_fields() -> dict[str, str]:
    """What of the class goes into the address."""
    room = code()
    return {ADDRESS: room} if room else {}
