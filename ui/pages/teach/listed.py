"""Several things in a sentence, as the language that is spoken puts them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from wording import _


def listed(parts: Iterable[str]) -> str:
    """One after the other; of nothing it is nothing.

    >>> listed(["2 right", "1 missed"]), listed([])
    ('2 right, 1 missed', '')
    """
    every = list(parts)
    return reduce(lambda before, part: _("{before}, {part}", before=before, part=part), every) if every else ""
