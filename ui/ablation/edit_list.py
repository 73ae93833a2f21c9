"""Edits as a list and as typed text, for every page that removes something, and what of them could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.ablation import EditSet
from attention.edits import pack
from i18n import _, translate
from ui.ablation.edits import NOTHING
from ui.run.notices import show_notice
from ui.state.params import set_params


def keep_edits(kind: type[Any], edits: EditSet) -> None:
    """In a callback: these edits become those of the page whose options are ``kind``, in the link too."""
    set_params(kind, edits=pack(edits) or NOTHING)


def draw_edit_fields(kind: type[Any], edits: EditSet, names: Sequence[str], form: str) -> None:
    """Edits by their ``names`` as a list, and as typed (``form`` says how), for the page whose options ``kind`` have
    a field ``edits``."""
    listed, typed = f"{kind.__name__.lower()}_removed", f"{kind.__name__.lower()}_typed"

    def keep() -> None:
        keep_edits(kind, tuple(edits[at] for at in sorted(st.session_state[listed])))

    st.session_state[listed] = list(range(len(edits)))
    st.multiselect(
        _("Removed"),
        range(len(edits)),
        key=listed,
        format_func=lambda at: translate(names[at]) if at < len(names) else "",
        on_change=keep,
        placeholder=_("Nothing picked"),
        help=_("Take one out of the list to put it back."),
    )
    st.session_state[typed] = pack(edits)
    st.text_input(
        _("As typed"),
        key=typed,
        on_change=lambda: set_params(kind, edits=st.session_state[typed].strip() or NOTHING),
        help=translate(form),
    )


def typing_notes(notes: Sequence[str]) -> None:
    """What could not be read, each in its sentence."""
    for note in notes:
        show_notice(note, role="status")
