"""What a run of BERT's pre-training is: one TOML file, read once, checked once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from inference.errors import UserError
from training import config_tables
from training.batches import SHORTEST
from training.config_tables import (
    Amount,
    Count,
    Division,
    Loop,
    Range,
    Share,
    SomeShare,
    TextSource,
    check_value,
    table,
    toml,
)

Length = Annotated[int, Range(f"above {SHORTEST}", lambda number: number > SHORTEST)]


@dataclass(frozen=True)
class PretrainingData:
    """What is read, and how it is cut."""

    held_out: Division = 0.015  # share of documents never trained on
    length: Length = 128  # pieces of a pair, special tokens included
    short: Share = 0.1  # share of pairs cut shorter, so that short texts are known too


@dataclass(frozen=True)
class Masking:
    """Which pieces are to be guessed. Published: 15 % of single pieces; the rate runs from first to last."""

    rate: tuple[SomeShare, SomeShare] = (0.15, 0.15)
    whole_words: bool = False


@dataclass(frozen=True)
class BertOptimizer(config_tables.OptimizerTable):
    """BERT's: layers may learn at rates of their own."""

    layer_decay: SomeShare = 1.0  # each layer further down learns at this share of the rate above it
    batch: Count = 32  # pairs of texts in a step


@dataclass(frozen=True)
class Distillation:
    """How strongly the attention maps are held to the first weights' own; 0 is not at all."""

    weight: Amount = 0.0
    rows: Count = 4  # pairs of each step that are held; a few are enough, and the first encoder must read them too


@dataclass(frozen=True)
class BertCard(config_tables.CardTable):
    """The card of a BERT."""

    title: str = "A BERT with both heads"
    language: str = "en"
    start: str = "random numbers"


@dataclass(frozen=True)
class PretrainingConfig:
    """One run: its folder, its texts, where its weights start."""

    run: Path  # everything the run writes
    start: str  # "embedded", a folder with an encoder's weights, or a folder with config.json only: from scratch
    sources: tuple[TextSource, ...]
    data: PretrainingData
    masking: Masking
    optimiser: BertOptimizer
    hold: Distillation
    loop: Loop
    card: BertCard


_TABLES = {
    "data": PretrainingData,
    "masking": Masking,
    "optimiser": BertOptimizer,
    "hold": Distillation,
    "loop": Loop,
    "card": BertCard,
}


def read(file: Path) -> PretrainingConfig:
    """The configuration in a TOML file; its paths are relative to the file. Raises Refusal on what it does not know."""
    raw = toml(file, required=("run", "start", "source"), tables=tuple(_TABLES))
    here = file.resolve().parent
    others: dict[str, Any] = {name: table(kind, raw.get(name, {}), name) for name, kind in _TABLES.items()}
    start = check_value("start", raw["start"], str)
    return PretrainingConfig(
        run=here / check_value("run", raw["run"], str),
        start=start if start == "embedded" else str(here / start),
        sources=_sources(raw["source"], here),
        **others,
    )


def _sources(rows: Any, here: Path) -> tuple[TextSource, ...]:
    """Every [[source]], at least one; their names tell them apart."""
    if not isinstance(rows, list) or not rows:
        raise UserError("There is no list of sources: write [[source]] in double brackets, once for each.")
    sources = [table(TextSource, row, "source") for row in rows]
    if len({source.name for source in sources}) < len(sources):
        raise UserError("Two sources have one name; give each [[source]] its own.")
    return tuple(replace(source, path=here / source.path) for source in sources)
