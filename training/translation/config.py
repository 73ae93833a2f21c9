"""The configuration of a translation run: a TOML file, with tables shared by all recipes."""

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

FEWEST_POSITIONS = 64  # enough for the alignment sentences (evaluate.py), even if they are split into bytes

Vocabulary = Annotated[int, Range(f"at least {SMALLEST}", lambda number: number >= SMALLEST)]


@dataclass(frozen=True)
class Languages:
    """The ISO 639-1 codes of the languages in the first and second column of the sentence pairs."""

    source: str = "en"
    target: str = "fr"


@dataclass(frozen=True)
class TranslationData:
    """The held-out share of the source sentences, the limit of text length, and the vocabulary size."""

    held_out: Division = 0.02  # share of source sentences never trained on
    longest: Count = 60  # tokens of a text; training pairs with a longer text are left out
    vocabulary: Vocabulary = 8_000  # tokens of the shared vocabulary


@dataclass(frozen=True)
class MarianShape:
    """The size of the Marian model, its initialisation, and its regularisation."""

    width: Count = 256
    layers: Count = 3  # layers of the encoder and of the decoder each
    heads: Count = 8  # must divide ``width``
    inner: Count = 1_024  # width of the feed-forward part
    dropout: PartShare = 0.0
    spread: Positive = 0.05  # standard deviation of the initial weights
    positions: Count = 128  # longest text in tokens
    smoothing: PartShare = 0.1  # label smoothing: the probability that is spread over the vocabulary


@dataclass(frozen=True)
class TranslationOptimizer(config.OptimizerTable):
    """The settings of a translation run's optimiser."""

    batch: Count = 3_072  # tokens of source and target in a batch, including padding


@dataclass(frozen=True)
class TranslationCard(config.CardTable):
    """The hand-written texts of the model card of a translation model."""

    title: str = "A small translator"


@dataclass(frozen=True)
class TranslationConfig:
    """The configuration of a translation run: its folder, its sentence pairs and all settings."""

    run: Path  # the folder that the run writes to
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
    """Read a translation configuration from a TOML file; raise UserError if it is invalid.

    Paths in the file are relative to the folder of the file.
    """
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
