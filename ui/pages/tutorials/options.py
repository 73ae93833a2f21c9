"""Options of the page Tutorials."""

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
    """Options of the page Tutorials."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"theme": tuple(THEMES)}

    theme: str = "attention"
    seed: int = 1  # seed of the tokens that are masked in the pair
    dropped: int = 10  # dropout rate in percent, at the station on dropout
