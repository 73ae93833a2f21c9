"""What may be missing in general, and is there in the case that a test is about."""

from __future__ import annotations

from typing import TypeVar

Thing = TypeVar("Thing")


def present(thing: Thing | None) -> Thing:
    """The thing itself; the test fails where there is none.

    >>> present("a")
    'a'
    """
    assert thing is not None
    return thing
