"""Quotation of labels from data files in sentences."""

from __future__ import annotations

from viz.figures.theme import truncate

LONGEST = 60  # The maximum number of characters of a quoted label.


def quote_label(label: str) -> str:
    """Return the label in quotation marks, truncated and in Unicode isolates.

    The isolates keep a right-to-left label from reordering the text around it.

    >>> quote_label("a")
    '“\\u2068a\\u2069”'
    """
    return f"“\u2068{truncate(label, LONGEST)}\u2069”"
