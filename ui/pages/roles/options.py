"""Options of the Roles page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.show.scored_links import PaginationOptions
from viz.options import option

SOURCES: dict[str, str] = {"text": gettext_lazy("The text above"), "sentences": gettext_lazy("100 sentences")}
WORDS: dict[str, str] = {
    "previous": gettext_lazy("the token before"),
    "next": gettext_lazy("the token after"),
    "same": gettext_lazy("itself"),
    "first": gettext_lazy("the first token"),
    "separator": gettext_lazy("marks that end or separate texts"),
    "repeat": gettext_lazy("the same piece elsewhere"),
    "broad": gettext_lazy("everything, about evenly"),
}
FILTERS: dict[str, str] = {
    "": gettext_lazy("All"),
    "relation": gettext_lazy("With a relation"),
    "none": gettext_lazy("Without a role"),
    **{role: gettext_lazy("Attending to {what}", what=what) for role, what in WORDS.items()},
}


@dataclass(frozen=True)
class RolesOptions(PaginationOptions):
    """Options of the Roles page, in addition to the shared view state."""

    source: str = option(
        "text",
        label=gettext_lazy("Texts"),
        help=gettext_lazy("The text above, or 100 annotated sentences for steadier shares."),
        choices=SOURCES,
    )
    # Percent of a head's attention that a role needs.
    share: int = option(
        50,
        label=gettext_lazy("Minimum share"),
        help=gettext_lazy("The share of its attention that gives a head a role."),
    )
    # Score the heads on annotated sentences too.
    relations: bool = option(
        True,
        label=gettext_lazy("Relations"),
        help=gettext_lazy("Also scores every head on annotated sentences and names significant relations."),
    )
    # The filter of the table.
    only: str = option(
        "",
        label=gettext_lazy("Show heads"),
        help=gettext_lazy("Heads in the table; the file contains all."),
        choices=FILTERS,
    )
    groups: int = option(
        6,
        label=gettext_lazy("Groups"),
        help=gettext_lazy("Number of clusters of similar heads (Ward's method)."),
    )
    # The listed relation or role; "" for the head's own.
    relation: str = option(
        "",
        label=gettext_lazy("Score"),
        help=gettext_lazy("The role or relation that the sentences below show."),
    )
