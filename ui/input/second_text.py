"""The second of two texts that a view compares, and the widgets to choose or type it.

Such a view declares an option ``other`` for the second text. If it is "", the second text comes from a ready pair: two
texts for comparison that the app provides.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.comparison import by_words
from i18n import _, gettext_lazy, translate
from ui.input.controls import control_row
from ui.input.probes import LIBRARY
from ui.state.params import set_params
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState

PAIR, OTHER = "second_text_pair", "second_text"
MINE = -1  # index for the reader's own texts
ALIGNED = gettext_lazy("Words are aligned in order, a changed word with its replacement.")


PAIRS = tuple(probe for probe in LIBRARY if probe.other)  # the ready pairs: a probe's text and its changed text


def other_of(text: str) -> str:
    """Return the text that the app pairs with this text for a comparison, or "" if there is no such text.

    >>> tired = PAIRS[0].text
    >>> other_of(tired) == tired.replace("tired", "wide"), other_of(PAIRS[0].other) == tired, other_of("no such text")
    (True, True, '')
    """
    there = {pair.text: pair.other for pair in PAIRS}
    back = {pair.other: pair.text for pair in PAIRS}
    return {**back, **there}.get(text, "")


def has_common_words(text: str, other: str) -> bool:
    """Return True if two texts share, in order, at least half of the longer text's words.

    >>> (
    ...     has_common_words("it was too tired", "it is too wide"),
    ...     has_common_words("it was too tired", "the keys are missing"),
    ... )
    (True, False)
    """
    one, two = text.casefold().split(), other.casefold().split()
    same = sum(one[at] == two[there] for at, there in by_words(one, two))
    return 2 * same >= max(len(one), len(two), 1)


def settle_second_text(kind: type[Any], choice: ViewState, other: str) -> str:
    """Return the second text: ``other`` if it is not "", else the text paired with the first text.

    Return "" if there is neither. A small edit of the first text may break a ready pair; the second text then stays and
    is stored in the page's options ``kind``.
    """
    shown: str = st.session_state.get(OTHER, "")
    if not other and not other_of(choice.text) and shown and has_common_words(choice.text, shown):
        set_params(kind, other=shown)
        return shown
    return other or other_of(choice.text)


def pick_second_text(
    kind: type[Any],
    choice: ViewState,
    other: str,
    place: DeltaGenerator | None = None,
    about: str = ALIGNED,
    **fixed: str,
) -> str:
    """Draw the widgets for the second text and return it; "" if there is none yet.

    ``other`` is the present second text. A new text is stored in the page's options ``kind``. If the visitor types it,
    the options ``fixed`` are stored with it; if the visitor selects a ready pair, these options are set to "".
    ``place`` is the row of widgets, by default a new row, and ``about`` the help text of the field.
    """
    pairs = {(pair.text, pair.other): at for at, pair in enumerate(PAIRS)}
    st.session_state[OTHER] = other
    st.session_state[PAIR] = pairs.get((choice.text, other), MINE)
    row = place or control_row("second_text")
    row.selectbox(
        _("Ready pairs"),
        range(MINE, len(PAIRS)),
        key=PAIR,
        format_func=lambda at: _("Two texts of your own") if at == MINE else PAIRS[at].title(),
        on_change=lambda: _keep_pair(kind, dict.fromkeys(fixed, "")),
        help=_("Pairs that differ in one thing."),
        width=300,
    )
    typed: str = row.text_input(
        _("Second text"),
        key=OTHER,
        on_change=lambda: set_params(kind, other=st.session_state[OTHER], **fixed),
        help=translate(about),
    )
    return typed.strip()


def _keep_pair(kind: type[Any], cleared: dict[str, str]) -> None:
    """Store the ready pair that the reader picked."""
    at = st.session_state[PAIR]
    if at != MINE:
        text, other = PAIRS[at].text, PAIRS[at].other
        set_view_state(**FRESH, text=text, pair="")
        set_params(kind, other="" if other_of(text) == other else other, **cleared)
