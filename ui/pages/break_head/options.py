"""Address parameters of the view Break the head."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from viz.options import option

ROLES = {
    "source": gettext_lazy("Pronoun"),
    "right": gettext_lazy("Right noun"),
    "other": gettext_lazy("Other noun"),
}


@dataclass(frozen=True)
class BreakHeadOptions:
    """Options of the view Break the head; the words are words of the text, "" is guessed."""

    source: str = ""
    right: str = ""
    other: str = ""
    clicking: str = option(
        "source",
        label=gettext_lazy("A click sets"),
        help=gettext_lazy("Choose what to set, then click a word of the sentence."),
        choices=ROLES,
    )
    rewordings: str = option(
        "",
        label=gettext_lazy("Rewordings"),
        help=gettext_lazy("One per line, with the same meaning. Empty: made by rules."),
    )
