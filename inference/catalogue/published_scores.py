"""The scores of the embedded models on held-out texts, measured at their export."""

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
    """The translation scores BLEU and chrF, 0 to 100, as sacrebleu computes them (arXiv:1804.08771)."""

    sentences: int
    bleu: float
    chrf: float


@dataclass(frozen=True)
class TranslationFigures:
    """Translation scores of a model on held-out sentences.

    ``greedy`` and ``beams`` are the scores with greedy decoding and with beam search. ``copied`` is a baseline: the
    score of the unchanged source sentences. ``short`` and ``long`` are the scores of greedy decoding for sentences of
    at most 7 and of at least 12 words.
    """

    greedy: PublishedBleu
    beams: PublishedBleu
    copied: PublishedBleu
    short: PublishedBleu
    long: PublishedBleu


@dataclass(frozen=True)
class PronounHead:
    """The head with the largest attention weight from "it" to "animal" in the test sentence.

    Layer and head count from 0.
    """

    layer: int
    head: int
    weight: float  # 0 to 1


@dataclass(frozen=True)
class WeakRelation:
    """The word relation in which the embedded BERT's best head is furthest behind that of the embedded encoder.

    ``points`` is the difference of the two heads' accuracies in percentage points; it is at most 0 if BERT is never
    behind.
    """

    relation: str
    points: float


@dataclass(frozen=True)
class EncoderComparison:
    """The best heads of the embedded BERT compared with those of the embedded encoder.

    ``relations`` is the number of relations of Universal Dependencies for which the heads' accuracies are compared.
    ``behind`` has the differences in percentage points for relations in which BERT is less accurate, ascending;
    differences below CLEARLY_BEHIND are left out. ``gap`` has the accuracies of BERT and of the encoder on GAP
    pronouns, in percent.
    """

    behind: tuple[float, ...]
    relations: int
    gap: tuple[float, float]


@dataclass(frozen=True)
class MaskedAccuracy:
    """The top-1 and top-5 accuracy on held-out masked tokens, from 0 to 1.

    ``common_first`` and ``common_five`` are the accuracies of a baseline that always predicts the most frequent tokens.
    ``follows`` is the accuracy of next-sentence prediction, on pairs of which half belong together. ``tired`` (the best
    pronoun head) and ``behind`` (the weakest relation) are None if the file lacks them.
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
    """Return the scores stored with the embedded BERT, over all its held-out texts; None for other models.

    Return None also if the file is missing or invalid.
    """
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
_BEST = re.compile(r"[0-9]+-[0-9]+:? +([0-9]+(?:\.[0-9]+)?)")  # layer, head and the accuracy in percent


def _parse_pronoun_head(slide: dict[str, Any]) -> PronounHead:
    return PronounHead(int(slide["layer"]), int(slide["head"]), _require_finite(slide["weight"]))


def _weakest_relation(further: dict[str, Any]) -> WeakRelation | None:
    """Return the relation with the largest deficit, over rows with a best head of both models, or None."""
    return max(_deficits(further), key=lambda one: one.points, default=None)


def _deficits(further: dict[str, Any]) -> list[WeakRelation]:
    """Return the deficit of every relation with a best head of both models."""
    rows = [
        (str(relation), row)
        for table in further.values()
        for relation, row in table.items()
        if isinstance(row, dict) and BERT in row and EMBEDDED in row and relation != "all"
    ]
    return [WeakRelation(relation, _accuracy(row[EMBEDDED]) - _accuracy(row[BERT])) for relation, row in rows]


CLEARLY_BEHIND = 3.0  # percentage points


def compare_encoders(assets: Path = ASSETS) -> EncoderComparison | None:
    """Return the comparison stored with the embedded BERT, or None if the file lacks it or is invalid."""
    try:
        further: dict[str, Any] = json.loads((assets / BERT / SCORES).read_text(encoding="utf-8"))["further"]
        found = _deficits(further)
        gap = next(table for name, table in further.items() if name.startswith("GAP"))
        behind = tuple(sorted(one.points for one in found if round(one.points, 1) >= CLEARLY_BEHIND))
        return EncoderComparison(behind, len(found), (_accuracy(gap[BERT]), _accuracy(gap[EMBEDDED])))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        return None


def _accuracy(best: str) -> float:
    """Parse the accuracy, in percent, of a best head; raise ValueError if the format is wrong.

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
    """Return the scores stored with an embedded translator; None for other models or without a valid file."""
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
