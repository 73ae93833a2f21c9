"""What the page Tutorials lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wording import sentence

THEMES: dict[str, str] = {
    "attention": sentence("Attention"),
    "bert": sentence("BERT and its pre-training"),
    "finetuning": sentence("Fine-tuning"),
    "families": sentence("From embeddings to families"),
    "translation": sentence("Encoder and decoder"),
}
MOST_DROPPED = 50  # percent


@dataclass(frozen=True)
class Tutorials:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"theme": tuple(THEMES)}

    theme: str = "attention"
    seed: int = 1  # of what is hidden from the pair
    dropped: int = 10  # percent of the numbers, where dropout is shown
