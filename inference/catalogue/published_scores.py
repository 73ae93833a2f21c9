"""How well our own embedded models do on texts they never saw, as measured when they were exported."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.files.embedded import ASSETS, BERT, TRANSLATOR
from inference.request import EMBEDDED

SCORES = "evaluation.json"


@dataclass(frozen=True)
class PublishedBleu:
    """BLEU and chrF, 0 to 100, as sacrebleu counts them (arXiv:1804.08771)."""

    sentences: int
    bleu: float
    chrf: float


@dataclass(frozen=True)
class TranslationFigures:
    """Figures on held-out sentences; ``copied`` is what handing back the source would get.

    ``short`` and ``long`` are the greedy ones of sentences of at most 7 and at least 12 words.
    """

    greedy: PublishedBleu
    beams: PublishedBleu
    copied: PublishedBleu
    short: PublishedBleu
    long: PublishedBleu


@dataclass(frozen=True)
class PronounHead:
    """The head, counted from 0, that gives most of the attention of "it" to "animal" in the tired sentence."""

    layer: int
    head: int
    weight: float  # 0 to 1


@dataclass(frozen=True)
class WeakRelation:
    """The relation between words whose best head falls furthest behind the best one of the embedded encoder.

    ``points`` are percentage points of accuracy; 0 or less where no relation falls behind.
    """

    relation: str
    points: float


@dataclass(frozen=True)
class MaskedAccuracy:
    """Shares, 0 to 1, of held-out masked pieces that the first guess, or one of the first five, gets right.

    ``common_first`` and ``common_five`` are what the commonest pieces would get; ``follows`` is the share of pairs of
    texts judged rightly, of which half belong together. ``tired`` and ``behind`` are None where the file has no such
    figures.
    """

    masked: int
    first: float
    five: float
    common_first: float
    common_five: float
    pairs: int
    follows: float
    tired: PronounHead | None = None
    behind: WeakRelation | None = None


def masked_accuracy(model: str, assets: Path = ASSETS) -> MaskedAccuracy | None:
    """The figures beside the embedded BERT's weights, over all its held-out texts; None as with
    ``translation_scores``."""
    if model != BERT:
        return None
    try:
        scores: dict[str, Any] = json.loads((assets / model / SCORES).read_text(encoding="utf-8"))
        sources = list(scores["sources"].values())
        masked, pairs = (sum(int(source[name]) for source in sources) for name in ("masked", "pairs"))
        shares = [sum(source[name] * source["masked"] for source in sources) / masked for name in _SHARES]
        follows = sum(source["next_sentence"] * source["pairs"] for source in sources) / pairs
        first, five, common_first, common_five = (_require_finite(share) for share in shares)
        tired = _parse_pronoun_head(scores["slide"]) if "slide" in scores else None
        behind = _weakest_relation(scores.get("further", {}))
        return MaskedAccuracy(
            masked, first, five, common_first, common_five, pairs, _require_finite(follows), tired, behind
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


_SHARES = ("top1", "top5", "baseline_top1", "baseline_top5")
_BEST = re.compile(r"[0-9]+-[0-9]+:? +([0-9]+(?:\.[0-9]+)?)")  # layer and head, and the accuracy in percent


def _parse_pronoun_head(slide: dict[str, Any]) -> PronounHead:
    return PronounHead(int(slide["layer"]), int(slide["head"]), _require_finite(slide["weight"]))


def _weakest_relation(further: dict[str, Any]) -> WeakRelation | None:
    """Over all tables that have a row for each relation and in it the best head of both models; None without any."""
    rows = [
        (str(relation), row)
        for table in further.values()
        for relation, row in table.items()
        if isinstance(row, dict) and BERT in row and EMBEDDED in row and relation != "all"
    ]
    found = [WeakRelation(relation, _accuracy(row[EMBEDDED]) - _accuracy(row[BERT])) for relation, row in rows]
    return max(found, key=lambda one: one.points, default=None)


def _accuracy(best: str) -> float:
    """The accuracy of a best head.

    >>> _accuracy("2-1 45.6"), _accuracy("2-1: 45.6")
    (45.6, 45.6)
    """
    found = _BEST.fullmatch(best)
    if found is None:
        raise ValueError(f"A head with its accuracy should read like 2-1: 45.6; {best[:40]!r} came.")
    return _require_finite(float(found[1]))


def _require_finite(figure: float) -> float:
    if not math.isfinite(figure):
        raise ValueError("A figure that is no number came.")
    return float(figure)


def translation_scores(model: str, assets: Path = ASSETS) -> TranslationFigures | None:
    """The figures beside an embedded translator's weights; None for other models, and where there is no such file."""
    if model != TRANSLATOR:
        return None
    try:
        scores: dict[str, Any] = json.loads((assets / model / SCORES).read_text(encoding="utf-8"))["scores"]
        return TranslationFigures(*(_parse_scores(scores[group][way]) for group, way in _WHICH))
    except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


_WHICH = (("all", "greedy"), ("all", "beams"), ("all", "copy"), ("short", "greedy"), ("long", "greedy"))


def _parse_scores(score: dict[str, Any]) -> PublishedBleu:
    return PublishedBleu(
        int(score["sentences"]), _require_finite(float(score["bleu"])), _require_finite(float(score["chrf"]))
    )
