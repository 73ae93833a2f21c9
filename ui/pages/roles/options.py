"""Options of the Roles page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.roles import ROLES
from i18n import gettext_lazy
from ui.show.scored_links import PaginationOptions

SOURCES: dict[str, str] = {"text": gettext_lazy("The text above"), "sentences": gettext_lazy("100 sentences")}


@dataclass(frozen=True)
class RolesOptions(PaginationOptions):
    """Options of the Roles page, in addition to the shared view state."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "source": tuple(SOURCES),
        "only": ("", *ROLES, "relation", "none"),
    }

    source: str = "text"
    share: int = 50  # Percent of a head's attention that a role needs.
    relations: bool = True  # Score the heads on annotated sentences too.
    only: str = ""  # The filter of the table.
    groups: int = 6
    relation: str = ""  # The listed relation or role; "" for the head's own.
