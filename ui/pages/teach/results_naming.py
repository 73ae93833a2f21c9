"""A label, which is text from a file, inside a sentence."""

from __future__ import annotations

from viz.figures.labels import cut

LONGEST = 60  # characters


def quoted(label: str) -> str:
    """A label in quotation marks, cut, and unable to turn the text around it.

    >>> quoted("a")
    '“\\u2068a\\u2069”'
    """
    return f"“\u2068{cut(label, LONGEST)}\u2069”"
