"""An assertion that an optional value is present."""

from __future__ import annotations

from typing import TypeVar

Thing = TypeVar("Thing")


def present(thing: Thing | None) -> Thing:
    """Return ``thing``; fail if it is None.

    >>> present("a")
    'a'
    """
    assert thing is not None
    return thing
