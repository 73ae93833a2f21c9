"""How well our own embedded models do on texts they never saw, as measured when they were exported."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.embedded import ASSETS, BERT, TRANSLATOR

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


@dataclass(frozen=True)
class Guessed:
    """Shares, 0 to 1, of held-out masked pieces that the first guess, or one of the first five, gets right.

    ``common_first`` and ``common_five`` are what the commonest pieces would get; ``follows`` is the share of pairs of
    texts judged rightly, of which half belong together.
    """

    masked: int
    first: float
    five: float
    common_first: float
    common_five: float
    pairs: int
    follows: float


def guessed(model: str, assets: Path = ASSETS) -> Guessed | None:
    """The figures beside the embedded BERT's weights, over all its held-out texts; None as with ``published``."""
    if model != BERT:
        return None
    try:
        sources = list(json.loads((assets / model / SCORES).read_text(encoding="utf-8"))["sources"].values())
        masked, pairs = (sum(int(source[name]) for source in sources) for name in ("masked", "pairs"))
        shares = [sum(source[name] * source["masked"] for source in sources) / masked for name in _SHARES]
        follows = sum(source["next_sentence"] * source["pairs"] for source in sources) / pairs
        first, five, common_first, common_five = shares
        found = Guessed(masked, first, five, common_first, common_five, pairs, follows)
        return found if all(math.isfinite(share) for share in (*shares, follows)) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


_SHARES = ("top1", "top5", "baseline_top1", "baseline_top5")


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
