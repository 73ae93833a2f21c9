"""A label, which is text from a file, inside a sentence."""

from __future__ import annotations

from viz.figures.theme import truncate

LONGEST = 60  # characters


def quote_label(label: str) -> str:
    """A label in quotation marks, cut, and unable to turn the text around it.

    >>> quote_label("a")
    '“\\u2068a\\u2069”'
    """
    return f"“\u2068{truncate(label, LONGEST)}\u2069”"
