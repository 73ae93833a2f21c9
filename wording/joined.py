"""Sentences and names one after another, put together as each language does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from wording.sentences import sentence


def together(*said: str) -> str:
    """Sentences one after another, without those that are empty.

    >>> together(sentence("It ran."), "", sentence("It ended."))
    'It ran. It ended.'
    """
    whole = ""
    for then in said:
        whole = sentence("{first} {then}", first=whole, then=then) if whole and then else whole or then
    return whole


def any_of(names: Sequence[str]) -> str:
    """Names of which one will do.

    >>> any_of(["a", "b", "c"])
    'a, b or c'
    """
    return sentence("{names} or {last}", names=listed(names[:-1]), last=names[-1]) if names[1:] else names[0]


def all_of(names: Sequence[str]) -> str:
    """Names of which each is meant.

    >>> all_of(["a", "b", "c"]), all_of(["a"])
    ('a, b and c', 'a')
    """
    return sentence("{names} and {last}", names=listed(names[:-1]), last=names[-1]) if names[1:] else names[0]


def listed(names: Sequence[str]) -> str:
    """Names, one after the other.

    >>> listed(["a", "b", "c"]), listed([])
    ('a, b, c', '')
    """
    return reduce(lambda some, then: sentence("{names}, {then}", names=some, then=then), names) if names else ""


def apart(names: Sequence[str]) -> str:
    """One or more that have commas of their own.

    >>> apart(["a, b", "c"])
    'a, b; c'
    """
    return reduce(lambda some, then: sentence("{names}; {then}", names=some, then=then), names)
