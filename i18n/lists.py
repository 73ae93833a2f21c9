"""Lists of names and sequences of sentences, joined by the rules of the reader's language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from i18n.lazy import gettext_lazy


def percentage_points(number: str) -> str:
    """Return a lazy message with a difference of two percentages; ``number`` is formatted and not "1".

    The message has only a plural form.

    >>> percentage_points("40")
    '40 percentage points'
    """
    return gettext_lazy("{number} percentage points", number=number)


def join_sentences(*said: str) -> str:
    """Return a lazy message that joins sentences; empty ones are skipped.

    >>> join_sentences(gettext_lazy("It ran."), "", gettext_lazy("It ended."))
    'It ran. It ended.'
    """
    whole = ""
    for then in said:
        whole = gettext_lazy("{first} {then}", first=whole, then=then) if whole and then else whole or then
    return whole


def format_or_list(names: Sequence[str]) -> str:
    """Return a lazy message that joins names with commas and a final "or".

    >>> format_or_list(["a", "b", "c"])
    'a, b or c'
    """
    return (
        gettext_lazy("{names} or {last}", names=format_comma_list(names[:-1]), last=names[-1])
        if names[1:]
        else names[0]
    )


def format_and_list(names: Sequence[str]) -> str:
    """Return a lazy message that joins names with commas and a final "and".

    >>> format_and_list(["a", "b", "c"]), format_and_list(["a"])
    ('a, b and c', 'a')
    """
    return (
        gettext_lazy("{names} and {last}", names=format_comma_list(names[:-1]), last=names[-1])
        if names[1:]
        else names[0]
    )


def format_comma_list(names: Sequence[str]) -> str:
    """Return a lazy message that joins names with commas.

    >>> format_comma_list(["a", "b", "c"]), format_comma_list([])
    ('a, b, c', '')
    """
    return reduce(lambda some, then: gettext_lazy("{names}, {then}", names=some, then=then), names) if names else ""


def format_semicolon_list(names: Sequence[str]) -> str:
    """Return a lazy message that joins items with semicolons, for items that contain commas.

    ``names`` must not be empty.

    >>> format_semicolon_list(["a, b", "c"])
    'a, b; c'
    """
    return reduce(lambda some, then: gettext_lazy("{names}; {then}", names=some, then=then), names)
