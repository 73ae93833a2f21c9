"""What the page Block lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

FOLDS = {
    "parameters": "Where are the parameters?",
    "kinds": "Encoder, decoder, or both?",
    "activation": "Which activation?",
    "cost": "What does n² cost?",
}


@dataclass(frozen=True)
class Options:
    """What this page lets its reader choose: the part that is explained, "" for the attention; what is unfolded."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"fold": ("", *FOLDS)}

    piece: str = ""
    fold: str = ""
