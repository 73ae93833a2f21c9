"""The steps of one or two tokenizers on a text, drawn by tokenizer_steps.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from viz.components.script import script, stylesheet, words_field

Mark = Literal["", "special", "unknown", "whole"]


@dataclass(frozen=True)
class TokenizerPart:
    """A word, subword or token in the output of a tokenizer's step."""

    text: str
    place: tuple[int, int, int] | None = None  # (text, start, end): the characters of the part, end exclusive
    word: tuple[int, int] | None = None  # (text, word): the word that a click selects
    mark: Mark = ""
    joined: bool = False  # the part touches the previous part, since both are subwords of a word
    under: tuple[str, ...] = ()  # small lines below the part
    title: str = ""  # for hover, focus and screen readers


@dataclass(frozen=True)
class TokenizerStep:
    """A step of a tokenizer with its name, an explanation (``note``), and its output.

    The output is ``text`` if the step changes the text as a whole, else the parts ``rungs``.
    """

    name: str
    note: str = ""
    text: str | None = None
    rungs: tuple[TokenizerPart, ...] = ()


@dataclass(frozen=True)
class TokenizerSteps:
    """All steps of a tokenizer on the texts, with its name and description."""

    name: str
    about: str
    rows: tuple[TokenizerStep, ...]


def payload(
    texts: Sequence[str], ways: Sequence[TokenizerSteps], picked: tuple[int, int, int] | None, title: str
) -> dict[str, Any]:
    """Return the data for tokenizer_steps.js, with the fields of its typedef LadderData.

    ``ways`` are the tokenizers to compare. ``picked`` has the indices (tokenizer, text, word) of the selected word.
    """
    return {
        "title": title,
        "texts": list(texts),
        "picked": None if picked is None else list(picked),
        "ways": [{"name": way.name, "about": way.about, "rows": [_row(row) for row in way.rows]} for way in ways],
        **words_field("tokenizer_steps/tokenizer_steps"),
    }


def mount(  # noqa: PLR0913  (the drawing and its keyword options)
    texts: Sequence[str],
    ways: Sequence[TokenizerSteps],
    key: str,
    *,
    title: str,
    chosen: tuple[int, int, int] | None = None,
    on_pick: Callable[[], None],
) -> None:
    """Draw the steps of the tokenizers side by side; call ``on_pick`` if the visitor picks a part.

    Inside ``on_pick``, ``picked_part(key)`` returns the part.
    """
    _COMPONENT(data=payload(texts, ways, chosen, title), key=key, on_picked_change=on_pick)


def picked_part(key: str) -> tuple[int, int, int] | None:
    """Return the indices (tokenizer, text, word) of the picked part, or None; call it inside ``on_pick``."""
    place = st.session_state.get(key, {}).get("picked")
    if not isinstance(place, list) or [type(number) for number in place] != [int] * 3 or min(place) < 0:
        return None
    way, text, word = place
    return way, text, word


def _row(row: TokenizerStep) -> dict[str, Any]:
    return {"name": row.name, "note": row.note, "text": row.text, "rungs": [_part_payload(rung) for rung in row.rungs]}


def _part_payload(rung: TokenizerPart) -> dict[str, Any]:
    """Return the text and the non-default fields of a part, since a long text has hundreds of parts."""
    values: dict[str, object] = {
        "mark": rung.mark,
        "joined": rung.joined,
        "under": list(rung.under),
        "title": rung.title,
    }
    values |= {"place": rung.place and list(rung.place), "word": rung.word and list(rung.word)}
    return {"text": rung.text, **{name: value for name, value in values.items() if value}}


_COMPONENT = st.components.v2.component(
    "headlight_ladder",
    html='<div id="ladder"></div>',
    js=script("tokenizer_steps/tokenizer_steps"),
    css=stylesheet("shared/look", "token_strip/token_strip", "tokenizer_steps/tokenizer_steps"),
)
