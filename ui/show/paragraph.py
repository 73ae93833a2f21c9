"""Sentences one after the other."""

from __future__ import annotations

from collections.abc import Iterable

WIDE = "。！？；，：）"  # marks that bring their own space


def paragraph(sentences: Iterable[str]) -> str:
    """The sentences as one text, with a space between them where the language sets one; "" is left out.

    >>> paragraph(["It looks.", "", "It says."]), paragraph(["它看。", "它说。"])
    ('It looks. It says.', '它看。它说。')
    """
    text = ""
    for sentence in filter(None, sentences):
        text += ("" if not text or text.endswith(tuple(WIDE)) else " ") + sentence
    return text
