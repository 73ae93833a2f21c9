"""What a translator's run is: one TOML file, with the tables that every recipe shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.errors import Refusal
from training.config import Card, Loop, Optimiser, Source, table, toml

FEWEST_POSITIONS = 64  # the sentences that a run looks at while it learns (alignment.py) fit in, spelled in bytes


@dataclass(frozen=True)
class Languages:
    """Codes (ISO 639-1) of the two sides of the pairs, first column and second."""

    source: str = "en"
    target: str = "fr"


@dataclass(frozen=True)
class Data:
    """Which pairs are trained on, and how their texts are cut into pieces."""

    held_out: float = 0.02  # share of source sentences never trained on
    longest: int = 60  # pieces of a text; a training pair with a longer one is left out
    vocabulary: int = 8_000  # pieces, of both languages together


@dataclass(frozen=True)
class Shape:
    """The model, a Marian: its size, and how it starts."""

    width: int = 256
    layers: int = 3  # of the encoder, and of the decoder
    heads: int = 8
    inner: int = 1_024  # width of the feed-forward part
    dropout: float = 0.0
    spread: float = 0.05  # standard deviation of the first weights
    positions: int = 128  # longest text, in pieces
    smoothing: float = 0.1  # label smoothing: the share of the target that is spread over the vocabulary


@dataclass(frozen=True)
class Config:
    """One run: its folder, its pairs, its model."""

    run: Path  # everything the run writes
    pairs: Source
    languages: Languages
    data: Data
    shape: Shape
    optimiser: Optimiser
    loop: Loop
    card: Card


_TABLES = {
    "languages": Languages,
    "data": Data,
    "shape": Shape,
    "optimiser": Optimiser,
    "loop": Loop,
    "card": Card,
}


def read(file: Path) -> Config:
    """The configuration in a TOML file; its paths are relative to the file. Raises Refusal on what it does not know."""
    raw = toml(file, required=("run", "pairs"), tables=tuple(_TABLES))
    here = file.resolve().parent
    pairs = table(Source, {**raw["pairs"], "path": here / raw["pairs"].get("path", "")}, "pairs")
    tables: dict[str, Any] = {name: table(kind, raw.get(name, {}), name) for name, kind in _TABLES.items()}
    shape, longest = tables["shape"], tables["data"].longest
    if shape.positions < max(FEWEST_POSITIONS, longest):
        raise Refusal(
            f"[shape] positions = {shape.positions} is too few: the recipe's own sentences need {FEWEST_POSITIONS}, the"
            f" pairs {longest} ([data] longest)."
        )
    return Config(run=here / raw["run"], pairs=pairs, **tables)
