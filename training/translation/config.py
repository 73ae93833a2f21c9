"""What a translator's run is: one TOML file, with the tables that every recipe shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from inference.errors import UserError
from training import config
from training.config import (
    Count,
    Division,
    Loop,
    PartShare,
    Positive,
    Range,
    TextSource,
    check_value,
    table,
    toml,
)
from training.translation.data import SMALLEST

FEWEST_POSITIONS = 64  # the sentences that a run looks at while it learns (alignment.py) fit in, spelled in bytes

Vocabulary = Annotated[int, Range(f"at least {SMALLEST}", lambda number: number >= SMALLEST)]


@dataclass(frozen=True)
class Languages:
    """Codes (ISO 639-1) of the two sides of the pairs, first column and second."""

    source: str = "en"
    target: str = "fr"


@dataclass(frozen=True)
class TranslationData:
    """Which pairs are trained on, and how their texts are cut into pieces."""

    held_out: Division = 0.02  # share of source sentences never trained on
    longest: Count = 60  # pieces of a text; a training pair with a longer one is left out
    vocabulary: Vocabulary = 8_000  # pieces, of both languages together


@dataclass(frozen=True)
class MarianShape:
    """The model, a Marian: its size, and how it starts."""

    width: Count = 256
    layers: Count = 3  # of the encoder, and of the decoder
    heads: Count = 8  # together as wide as the model
    inner: Count = 1_024  # width of the feed-forward part
    dropout: PartShare = 0.0
    spread: Positive = 0.05  # standard deviation of the first weights
    positions: Count = 128  # longest text, in pieces
    smoothing: PartShare = 0.1  # label smoothing: the share of the target that is spread over the vocabulary


@dataclass(frozen=True)
class TranslationOptimizer(config.OptimizerTable):
    """A translator's."""

    batch: Count = 3_072  # pieces of source and target in a step, padding included


@dataclass(frozen=True)
class TranslationCard(config.CardTable):
    """The card of a translator; its languages are those of the run."""

    title: str = "A small translator"


@dataclass(frozen=True)
class TranslationConfig:
    """One run: its folder, its pairs, its model."""

    run: Path  # everything the run writes
    pairs: TextSource
    languages: Languages
    data: TranslationData
    shape: MarianShape
    optimiser: TranslationOptimizer
    loop: Loop
    card: TranslationCard


_TABLES = {
    "languages": Languages,
    "data": TranslationData,
    "shape": MarianShape,
    "optimiser": TranslationOptimizer,
    "loop": Loop,
    "card": TranslationCard,
}


def read(file: Path) -> TranslationConfig:
    """The configuration in a TOML file; its paths are relative to the file. Raises Refusal on what it does not know."""
    raw = toml(file, required=("run", "pairs"), tables=tuple(_TABLES))
    here = file.resolve().parent
    pairs = table(TextSource, raw["pairs"], "pairs")
    others: dict[str, Any] = {name: table(kind, raw.get(name, {}), name) for name, kind in _TABLES.items()}
    shape, longest = others["shape"], others["data"].longest
    if shape.positions < max(FEWEST_POSITIONS, longest):
        raise UserError(
            f"[shape] positions = {shape.positions} is too few: the recipe's own sentences need {FEWEST_POSITIONS}, the"
            f" pairs {longest} ([data] longest)."
        )
    if shape.width % shape.heads:
        raise UserError(
            f"[shape] width = {shape.width} is not a multiple of heads = {shape.heads}, so they cannot share it evenly."
        )
    return TranslationConfig(
        run=here / check_value("run", raw["run"], str), pairs=replace(pairs, path=here / pairs.path), **others
    )
