"""Words that a text has more than once, each with which of them it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def number_duplicates(names: Sequence[str]) -> list[str]:
    """The names in their order; one that comes again has its number behind it, counted from the left.

    >>> number_duplicates(["the", "key", "to", "the", "lock"])
    ['the (1)', 'key', 'to', 'the (2)', 'lock']
    """
    many, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if many[name] > 1 else name)
    return found
