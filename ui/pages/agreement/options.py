"""Address parameters of the page Agreement."""

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
    """Options of the page Agreement."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"explain": tuple(EXPLAINED)}

    explain: str = "vector"
    label: int | None = None  # index of the explained label; None is the likeliest label
    itself: bool = False  # include the focus word among the candidate words
