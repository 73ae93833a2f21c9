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
    "relation": gettext_lazy("That find a relation"),
    "none": gettext_lazy("Without any role or relation"),
    **{role: gettext_lazy("That look at {what}", what=what) for role, what in WORDS.items()},
}


@dataclass(frozen=True)
class RolesOptions(PaginationOptions):
    """Options of the Roles page, in addition to the shared view state."""

    source: str = option(
        "text",
        label=gettext_lazy("Seen in"),
        help=gettext_lazy(
            "The text above, or the 60 and 40 sentences of the page Measure: more tokens, steadier shares"
        ),
        choices=SOURCES,
    )
    # Percent of a head's attention that a role needs.
    share: int = option(
        50,
        label=gettext_lazy("A role takes at least"),
        help=gettext_lazy("A head is named after a role when at least this share of its attention goes there."),
    )
    # Score the heads on annotated sentences too.
    relations: bool = option(
        True,
        label=gettext_lazy("Relations too"),
        help=gettext_lazy(
            "Also scores every head on 60 and 40 annotated sentences and names the relation that it finds more often "
            "than a rule without a model, on sentences that the name was not chosen on."
        ),
    )
    # The filter of the table.
    only: str = option(
        "",
        label=gettext_lazy("Show heads"),
        help=gettext_lazy("Which heads the table lists; the file holds all"),
        choices=FILTERS,
    )
    groups: int = option(
        6,
        label=gettext_lazy("Groups"),
        help=gettext_lazy("How many groups the heads are put into, the most alike together (Ward's method)"),
    )
    # The listed relation or role; "" for the head's own.
    relation: str = option(
        "",
        label=gettext_lazy("What is scored"),
        help=gettext_lazy(
            "What the head is scored for: where it looks, or a relation. At first what it is named after. A click on "
            "the map picks the head."
        ),
    )
