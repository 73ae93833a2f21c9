"""Several things one after the other, told as the reader's language puts them."""

from __future__ import annotations

from collections.abc import Sequence

from i18n import lists, translate


def format_comma_list(parts: Sequence[str]) -> str:
    """A comma between two.

    >>> format_comma_list(["a", "b", "c"]), format_comma_list([])
    ('a, b, c', '')
    """
    return translate(lists.format_comma_list(parts))


def format_semicolon_list(parts: Sequence[str]) -> str:
    """One or more that have commas of their own.

    >>> format_semicolon_list(["a, b", "c"])
    'a, b; c'
    """
    return translate(lists.format_semicolon_list(parts))


def format_and_list(parts: Sequence[str]) -> str:
    """One or more, the last after an "and".

    >>> format_and_list(["a"]), format_and_list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return translate(lists.format_and_list(parts))


def join_sentences(*said: str) -> str:
    """Whole sentences after one another; an empty one is none.

    >>> join_sentences("It rains.", "", "It is cold.")
    'It rains. It is cold.'
    """
    return translate(lists.join_sentences(*said))
