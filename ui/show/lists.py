"""Several things one after the other, told as the reader's language puts them."""

from __future__ import annotations

from collections.abc import Sequence

from wording import joined, told


def commas(parts: Sequence[str]) -> str:
    """A comma between two.

    >>> commas(["a", "b", "c"]), commas([])
    ('a, b, c', '')
    """
    return told(joined.listed(parts))


def semicolons(parts: Sequence[str]) -> str:
    """One or more that have commas of their own.

    >>> semicolons(["a, b", "c"])
    'a, b; c'
    """
    return told(joined.apart(parts))


def listed(parts: Sequence[str]) -> str:
    """One or more, the last after an "and".

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return told(joined.all_of(parts))


def together(*said: str) -> str:
    """Whole sentences after one another; an empty one is none.

    >>> together("It rains.", "", "It is cold.")
    'It rains. It is cold.'
    """
    return told(joined.together(*said))
