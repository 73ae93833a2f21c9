"""What the page Agreement lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy

EXPLAINED = {
    "vector": gettext_lazy("A word's vector"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}


@dataclass(frozen=True)
class AgreementOptions:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"explain": tuple(EXPLAINED)}

    explain: str = "vector"
    label: int | None = None  # number of the label that is explained; None is the likeliest
    itself: bool = False  # the focus word counts among the words that matter
