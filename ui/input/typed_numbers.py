"""Numbers as people type them: read as they are meant, or refused in words; never changed silently."""

from __future__ import annotations

import re

from i18n import gettext_lazy
from inference import UserError

LARGEST = 1e6  # size of a number
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,][0-9]{3}){2,}|[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def read_number(text: str) -> float:
    """The number that is meant. Raises Refusal for what is none, may be two, or is too large.

    >>> read_number("1e2"), read_number("1,5"), read_number("−2"), read_number("1/4"), read_number(" ")
    (100.0, 1.5, -2.0, 0.25, 0.0)
    """
    plain = text.strip().replace("−", "-")
    shown = f"“{text.strip()[:40]}”"
    if not plain:
        return 0.0
    if _GROUPED.fullmatch(plain):
        raise UserError(
            gettext_lazy(
                "{typed} may be thousands or a fraction; write it without the groups, such as 1500 or 1.5.", typed=shown
            )
        )
    fraction = _FRACTION.fullmatch(plain)
    if fraction and float(fraction[2]):
        value = float(fraction[1]) / float(fraction[2])
    elif _NUMBER.fullmatch(plain):
        value = float(plain.replace(",", "."))
    else:
        raise UserError(gettext_lazy("{typed} is no number; write one such as 0.5, 1e2 or 1/3.", typed=shown))
    if abs(value) > LARGEST:
        raise UserError(
            gettext_lazy(
                "{typed} is beyond what is taken here, -{most:,.0f} to {most:,.0f}.", typed=shown, most=LARGEST
            )
        )
    return value


def format_shortest(number: float) -> str:
    """The shortest text that is read as this number again.

    >>> format_shortest(2.0), format_shortest(0.1)
    ('2', '0.1')
    """
    return str(int(number)) if number.is_integer() else repr(number)
