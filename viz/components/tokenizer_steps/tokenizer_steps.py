"""A text on its way through one or two tokenizers, row by row: payload and mount. It is drawn by ladder.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from viz.components.script import script, stylesheet, words_field

Mark = Literal["", "special", "unknown", "whole"]


@dataclass(frozen=True)
class TokenizerPart:
    """One word, piece or token as shown."""

    text: str
    place: tuple[int, int, int] | None = None  # which text, first and last + 1 of its characters there
    word: tuple[int, int] | None = None  # which text, which of its words: what picking it asks about
    mark: Mark = ""
    joined: bool = False  # touches the one before: pieces of one word
    under: tuple[str, ...] = ()  # small lines below it
    title: str = ""  # told on hover, on focus and to screen readers


@dataclass(frozen=True)
class TokenizerStep:
    """One step: what it is called, what it did, and its outcome as a text or as parts."""

    name: str
    note: str = ""
    text: str | None = None
    rungs: tuple[TokenizerPart, ...] = ()


@dataclass(frozen=True)
class TokenizerSteps:
    """One tokenizer."""

    name: str
    about: str
    rows: tuple[TokenizerStep, ...]


def payload(
    texts: Sequence[str], ways: Sequence[TokenizerSteps], picked: tuple[int, int, int] | None, title: str
) -> dict[str, Any]:
    """What ladder.js draws; its typedef LadderData has the same fields. ``picked_part`` is (way, text, word)."""
    return {
        "title": title,
        "texts": list(texts),
        "picked": None if picked is None else list(picked),
        "ways": [{"name": way.name, "about": way.about, "rows": [_row(row) for row in way.rows]} for way in ways],
        **words_field("tokenizer_steps/tokenizer_steps"),
    }


def mount(  # noqa: PLR0913  (what is drawn, and what a page may add by name)
    texts: Sequence[str],
    ways: Sequence[TokenizerSteps],
    key: str,
    *,
    title: str,
    chosen: tuple[int, int, int] | None = None,
    on_pick: Callable[[], None],
) -> None:
    """Draw the ways beside each other; ``on_pick`` runs when a part is picked, and ``picked_part(key)`` then says
    which."""
    _COMPONENT(data=payload(texts, ways, chosen, title), key=key, on_picked_change=on_pick)


def picked_part(key: str) -> tuple[int, int, int] | None:
    """Inside ``on_pick``: (way, text, word) of the part that was picked."""
    place = st.session_state.get(key, {}).get("picked")
    if not isinstance(place, list) or [type(number) for number in place] != [int] * 3 or min(place) < 0:
        return None
    way, text, word = place
    return way, text, word


def _row(row: TokenizerStep) -> dict[str, Any]:
    return {"name": row.name, "note": row.note, "text": row.text, "rungs": [_part_payload(rung) for rung in row.rungs]}


def _part_payload(rung: TokenizerPart) -> dict[str, Any]:
    """Only what differs from a plain one: a long text has hundreds."""
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
