"""What the page Roles lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.roles import ROLES
from i18n import gettext_lazy
from ui.show.scored_links import PaginationOptions

SOURCES: dict[str, str] = {"text": gettext_lazy("The text above"), "sentences": gettext_lazy("100 sentences")}


@dataclass(frozen=True)
class RolesOptions(PaginationOptions):
    """What this page lets its reader choose beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "source": tuple(SOURCES),
        "only": ("", *ROLES, "relation", "none"),
    }

    source: str = "text"
    share: int = 50  # percent of its attention from which a head is named after a role
    relations: bool = True  # also what it finds in annotated sentences
    only: str = ""  # the table's filter
    groups: int = 6
    relation: str = ""  # or role, whose sentences are listed; "" is what the head is named after
