"""What an address may say about the microscope by name: said here once, for Python and for JavaScript.

The payload carries these names to the script, which knows what each of them means (contract.js); the first of each is
the usual one. A test fails when one side knows a name that the other does not.
"""

from __future__ import annotations

from attention.measures import MEASURES, measures_of
from attention.view import View

TABS = ("matrix", "lines")
ORDERS = ("layer", *(measure.name for measure in MEASURES), "focus")
SCALES = ("sqrt", "linear")
FILTERS = ("all", "aa", "ab", "ba", "bb")
STRENGTHS = ("excess", "weight")
FACINGS = ("out", "in")
TOPS = ("fit", "one")
CHOICES = {
    "tab": TABS,
    "facing": FACINGS,
    "order": ORDERS,
    "scale": SCALES,
    "upto": TOPS,
    "filter": FILTERS,
    "by": STRENGTHS,
}


def choices(view: View) -> dict[str, tuple[str, ...]]:
    """The names that there are for a text: numbers with signs have no measures, and nothing usual to be beyond.

    A picture has the measures that say something of patches.
    """
    if not view.is_signed:
        return {**CHOICES, "order": ("layer", *(measure.name for measure in measures_of(view)), "focus")}
    return {**CHOICES, "order": ("layer", "focus"), "by": ("weight",)}
