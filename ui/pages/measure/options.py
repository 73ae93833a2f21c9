"""Address parameters of the page Measure."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from probing import formats
from ui.show.scored_links import PaginationOptions
from viz.options import option

BRINGS: dict[str, str] = {
    "grammar": gettext_lazy("Grammar"),
    "pronouns": gettext_lazy("Pronouns"),
    "file": gettext_lazy("Your own"),
}


@dataclass(frozen=True)
class MeasureOptions(PaginationOptions):
    """Options of the page Measure, besides the shared view state."""

    data: str = option(
        "grammar",
        label=gettext_lazy("Annotated sentences"),
        help=gettext_lazy("Dependency relations, or pronouns and their antecedents."),
        choices=BRINGS,
    )
    # Format of the reader's file.
    format: str = option(
        "conllu",
        label=gettext_lazy("File format"),
        help=gettext_lazy("How the file marks its links."),
        choices=formats.NAMES,
    )
    # "" is the first relation of the table.
    relation: str = option(
        "",
        label=gettext_lazy("Relation"),
        help=gettext_lazy("The relation of the maps and sentences below."),
    )
    # Direction that the map shows.
    way: str = option(
        "best",
        label=gettext_lazy("Direction"),
        help=gettext_lazy("The end of the link from which a head attends."),
        choices=("best", "out", "in"),
    )
    # Fewest links of a relation that is shown.
    least: int = option(
        10,
        label=gettext_lazy("Minimum links"),
        help=gettext_lazy("Hides relations with fewer held-out links."),
    )
    # Also score random weights.
    control: bool = option(
        True,
        label=gettext_lazy("Random weights"),
        help=gettext_lazy("Also scores the same architecture without training; doubles the time."),
    )
