"""Several things one after the other, as each language puts them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from wording import _


def commas(parts: Sequence[str]) -> str:
    """One or more, a comma between two.

    >>> commas(["a", "b", "c"]), commas(["a"])
    ('a, b, c', 'a')
    """
    return reduce(lambda some, more: _("{some}, {more}", some=some, more=more), parts)


def semicolons(parts: Sequence[str]) -> str:
    """One or more that have commas of their own.

    >>> semicolons(["a, b", "c"])
    'a, b; c'
    """
    return reduce(lambda some, more: _("{some}; {more}", some=some, more=more), parts)


def listed(parts: Sequence[str]) -> str:
    """One or more, the last after an "and".

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else _("{some} and {last}", some=commas(parts[:-1]), last=parts[-1])


def together(*said: str) -> str:
    """Whole sentences after one another; an empty one is none.

    >>> together("It rains.", "", "It is cold.")
    'It rains. It is cold.'
    """
    return reduce(lambda some, more: _("{some} {more}", some=some, more=more) if more else some, said)
