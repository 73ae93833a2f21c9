"""How well the translator that comes with the app does on sentences it never saw, as measured when it was exported."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.embedded import ASSETS, TRANSLATOR

SCORES = "evaluation.json"


@dataclass(frozen=True)
class Measured:
    """BLEU and chrF, 0 to 100, as sacrebleu counts them (arXiv:1804.08771)."""

    sentences: int
    bleu: float
    chrf: float


@dataclass(frozen=True)
class Published:
    """Figures on held-out sentences; ``copied`` is what handing back the source would get.

    ``short`` and ``long`` are the greedy ones of sentences of at most 7 and at least 12 words.
    """

    greedy: Measured
    beams: Measured
    copied: Measured
    short: Measured
    long: Measured


def published(model: str, assets: Path = ASSETS) -> Published | None:
    """The figures beside an embedded translator's weights; None for other models, and where there is no such file."""
    if model != TRANSLATOR:
        return None
    try:
        scores: dict[str, Any] = json.loads((assets / model / SCORES).read_text(encoding="utf-8"))["scores"]
        return Published(*(_measured(scores[group][way]) for group, way in _WHICH))
    except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


_WHICH = (("all", "greedy"), ("all", "beams"), ("all", "copy"), ("short", "greedy"), ("long", "greedy"))


def _measured(score: dict[str, Any]) -> Measured:
    found = Measured(int(score["sentences"]), float(score["bleu"]), float(score["chrf"]))
    if not (math.isfinite(found.bleu) and math.isfinite(found.chrf)):
        raise ValueError("A score that is no number came.")
    return found
