"""What an address may say about the microscope by name: said here once, for Python and for JavaScript.

The payload carries these names to the script, which knows what each of them means (contract.js); the first of each is
the usual one. A test fails when one side knows a name that the other does not.
"""

from __future__ import annotations

from attention.measures import MEASURES

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
