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
        help=gettext_lazy("What was marked by hand: which word depends on which, or what a pronoun means"),
        choices=BRINGS,
    )
    # Format of the reader's file.
    format: str = option(
        "conllu",
        label=gettext_lazy("The file's form"),
        help=gettext_lazy("How the file marks its links"),
        choices=formats.NAMES,
    )
    # "" is the first relation of the table.
    relation: str = option(
        "",
        label=gettext_lazy("Relation"),
        help=gettext_lazy("What the sentences and the maps speak of. A click on a line of the table picks it too."),
    )
    # Direction that the map shows.
    way: str = option(
        "best",
        label=gettext_lazy("Direction"),
        help=gettext_lazy("Whether a head may find a link by looking from one end or from the other"),
        choices=("best", "out", "in"),
    )
    # Fewest links of a relation that is shown.
    least: int = option(
        10,
        label=gettext_lazy("Fewest links"),
        help=gettext_lazy(
            "Relations with fewer links in the part that is reported are left out: their figures say little."
        ),
    )
    # Also score random weights.
    control: bool = option(
        True,
        label=gettext_lazy("Random weights beside it"),
        help=gettext_lazy(
            "Also scores the same architecture with weights that were never trained. Takes as long again."
        ),
    )
