"""Typed numbers with several readings, which depend on the writer's language."""

from __future__ import annotations

import re

from i18n.lazy import LazyMessage, gettext_lazy

GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,][0-9]{3}){2,}|[+-]?[1-9][0-9]{0,2},[0-9]{3}")
LONGEST = 40  # characters of a number that a message quotes


def describe_ambiguous_number(typed: str) -> LazyMessage | None:
    """Return a message if one of the typed numbers may have separators of thousands or a decimal comma, else None.

    A fraction has two numbers. A number that begins with 0, or with a single point, has one reading.

    >>> describe_ambiguous_number("1,500")
    '“1,500” may be thousands or a fraction; type 1500 or 1.5.'
    >>> describe_ambiguous_number("0,160"), describe_ambiguous_number("1.500")
    (None, None)
    """
    if not any(GROUPED.fullmatch(part.strip()) for part in typed.split("/")):
        return None
    return gettext_lazy(
        "{typed} may be thousands or a fraction; type 1500 or 1.5.", typed=f"“{typed.strip()[:LONGEST]}”"
    )
