"""Address parameters of the page Measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from probing import formats
from ui.show.scored_links import PaginationOptions

BRINGS: dict[str, str] = {
    "grammar": gettext_lazy("Grammar"),
    "pronouns": gettext_lazy("Pronouns"),
    "file": gettext_lazy("Your own"),
}


@dataclass(frozen=True)
class MeasureOptions(PaginationOptions):
    """Options of the page Measure, besides the shared view state."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "data": tuple(BRINGS),
        "format": tuple(formats.FORMATS),
        "way": ("best", "out", "in"),
    }

    data: str = "grammar"
    format: str = "conllu"  # format of the reader's file
    relation: str = ""  # "" is the first relation of the table
    way: str = "best"  # direction that the map shows
    least: int = 10  # fewest links of a relation that is shown
    control: bool = True  # also score random weights
