"""What a run is: one TOML file, read once, checked once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from inference.errors import Refusal


@dataclass(frozen=True)
class Source:
    """One collection of texts, with what its licence asks us to say."""

    name: str
    path: Path
    licence: str
    attribution: str


@dataclass(frozen=True)
class Data:
    """What is read, and how it is cut."""

    held_out: float = 0.015  # share of documents never trained on
    length: int = 128  # pieces of a pair, special tokens included
    short: float = 0.1  # share of pairs cut shorter, so that short texts are known too


@dataclass(frozen=True)
class Masking:
    """Which pieces are to be guessed. Published: 15 % of single pieces; the rate runs from first to last."""

    rate: tuple[float, float] = (0.15, 0.15)
    whole_words: bool = False


@dataclass(frozen=True)
class Optimiser:
    """AdamW's settings, with the learning rate's highest point and its warm-up."""

    steps: int = 10_000  # where the rate reaches 0, unless the run plans by the clock
    warm_up: int = 500  # steps
    rate: float = 1e-3
    layer_decay: float = 1.0  # each layer further down learns at this share of the rate above it
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0  # largest norm of all gradients together
    batch: int = 32  # a step: pairs of texts; for translation, pieces of source and target


@dataclass(frozen=True)
class Hold:
    """How strongly the attention maps are held to the first weights' own; 0 is not at all."""

    weight: float = 0.0
    rows: int = 4  # pairs of each step that are held; a few are enough, and the first encoder must read them too


@dataclass(frozen=True)
class Loop:
    """How a run goes on: what it writes, how often, in which precision."""

    seed: int = 0
    threads: int = 2
    precision: str = "auto"  # "bf16", "fp32", or "auto": bf16 where the processor multiplies it
    checkpoint_minutes: float = 5.0
    evaluate_steps: int = 500
    evaluate_pairs: int = 256  # of each held-out source; for translation, sentences
    log_steps: int = 20


@dataclass(frozen=True)
class Card:
    """What the model card says beyond what was measured."""

    title: str = "A BERT with both heads"
    summary: str = "Pre-trained with Headlight's recipe."
    licence: str = "other"
    language: str = "en"
    start: str = "random numbers"
    notes: str = ""  # what the settings below do not say, such as what was changed on the way


@dataclass(frozen=True)
class Config:
    """One run: its folder, its texts, where its weights start."""

    run: Path  # everything the run writes
    start: str  # "embedded", a folder with an encoder's weights, or a folder with config.json only: from scratch
    sources: tuple[Source, ...]
    data: Data
    masking: Masking
    optimiser: Optimiser
    hold: Hold
    loop: Loop
    card: Card


_TABLES = {"data": Data, "masking": Masking, "optimiser": Optimiser, "hold": Hold, "loop": Loop, "card": Card}


def read(file: Path) -> Config:
    """The configuration in a TOML file; its paths are relative to the file. Raises Refusal on what it does not know."""
    raw = toml(file, required=("run", "start", "source"), tables=tuple(_TABLES))
    here = file.resolve().parent
    sources = tuple(table(Source, {**row, "path": here / row.get("path", "")}, "source") for row in raw["source"])
    tables: dict[str, Any] = {name: table(kind, raw.get(name, {}), name) for name, kind in _TABLES.items()}
    start = raw["start"] if raw["start"] == "embedded" else str(here / raw["start"])
    return Config(run=here / raw["run"], start=start, sources=sources, **tables)


def toml(file: Path, *, required: tuple[str, ...], tables: tuple[str, ...]) -> dict[str, Any]:
    """What a TOML file says. Raises Refusal where it cannot be read, lacks something, or says something unknown."""
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"{file.name} cannot be read as TOML: {error}") from error
    known = [*required, *tables]
    if unknown := sorted(set(raw) - set(known)):
        raise Refusal(f"{file.name}: {', '.join(unknown)} is no setting. There are {', '.join(known)}.")
    if missing := sorted(set(required) - set(raw)):
        raise Refusal(f"{file.name} does not say {', '.join(missing)}.")
    return raw


def table(kind: type, values: dict[str, Any], name: str) -> Any:
    """One table as its dataclass; lists become tuples."""
    known = [field.name for field in fields(kind)]
    if unknown := sorted(set(values) - set(known)):
        raise Refusal(f"[{name}] has no setting {', '.join(unknown)}. It has {', '.join(known)}.")
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    try:
        return kind(**frozen)
    except TypeError as error:
        raise Refusal(f"[{name}] lacks a setting: it needs {', '.join(known)}.") from error
