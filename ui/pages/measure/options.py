"""What the page Measure lets its reader choose."""

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
    """What this page lets its reader choose beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "data": tuple(BRINGS),
        "format": tuple(formats.FORMATS),
        "way": ("best", "out", "in"),
    }

    data: str = "grammar"
    format: str = "conllu"  # of a file of one's own
    relation: str = ""  # "" is the first of the table
    way: str = "best"  # which direction the map shows
    least: int = 10  # links that a relation needs to be shown
    control: bool = True  # random weights beside it
