"""What the page Tutorials lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy

THEMES: dict[str, str] = {
    "attention": gettext_lazy("Attention"),
    "bert": gettext_lazy("BERT and its pre-training"),
    "finetuning": gettext_lazy("Fine-tuning"),
    "families": gettext_lazy("From embeddings to families"),
    "translation": gettext_lazy("Encoder and decoder"),
}
MOST_DROPPED = 50  # percent


@dataclass(frozen=True)
class TutorialsOptions:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"theme": tuple(THEMES)}

    theme: str = "attention"
    seed: int = 1  # of what is hidden from the pair
    dropped: int = 10  # percent of the numbers, where dropout is shown
