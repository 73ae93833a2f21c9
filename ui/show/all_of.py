"""Names, clauses and sentences in a row, as the language that is spoken sets them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

from babel import Locale
from babel.lists import format_list

from wording import ENGLISH, _, language, told


def all_of(names: Sequence[str]) -> str:
    """The names, each told, with "and" before the last.

    >>> all_of(["Roles"]), all_of(["Explore", "Roles", "Cause"])
    ('Roles', 'Explore, Roles and Cause')
    """
    return format_list([told(name) for name in names], locale=_locale())


def in_a_row(names: Sequence[str]) -> str:
    """The names, each told, with commas only.

    >>> in_a_row(["1-2", "3-4", "5-6"]), in_a_row([])
    ('1-2, 3-4, 5-6', '')
    """
    comma = str(Locale.parse(_locale()).list_patterns["standard"]["middle"])
    return reduce(comma.format, [told(name) for name in names]) if names else ""


def clauses(some: Sequence[str]) -> str:
    """Clauses of one sentence.

    >>> clauses(["two look back", "one looks ahead"])
    'two look back; one looks ahead'
    """
    return reduce(lambda first, second: _("{first}; {second}", first=first, second=second), some)


def paragraph(*some: str) -> str:
    """Sentences one after the other; a full-width stop brings its own space.

    >>> paragraph("One.", "", "Two."), paragraph("一。", "二。")
    ('One. Two.', '一。二。')
    """
    return re.sub("(?<=[。！？]) ", "", " ".join(filter(None, some)))


def _locale() -> str:
    """What Babel calls it; British English sets no comma before "and"."""
    spoken = language()
    return "en_GB" if spoken == ENGLISH else spoken
