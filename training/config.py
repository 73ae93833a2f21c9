"""Configurations of runs: TOML tables that are read and validated as dataclasses."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from inference.errors import UserError, format_os_error
from training.batches import SHORTEST


class Range(NamedTuple):
    """The allowed range of a setting: a description, and a predicate that is true for valid numbers."""

    words: str
    holds: Callable[[float], bool]


Count = Annotated[int, Range("at least 1", lambda number: number >= 1)]
Whole = Annotated[int, Range("at least 0", lambda number: number >= 0)]
Amount = Annotated[float, Range("finite and at least 0", lambda number: 0 <= number < math.inf)]
Positive = Annotated[float, Range("finite and above 0", lambda number: 0 < number < math.inf)]
Share = Annotated[float, Range("from 0 to 1", lambda number: 0 <= number <= 1)]
SomeShare = Annotated[float, Range("above 0 and at most 1", lambda number: 0 < number <= 1)]
PartShare = Annotated[float, Range("at least 0 and below 1", lambda number: 0 <= number < 1)]
Division = Annotated[
    float, Range("above 0 and below 1", lambda number: 0 < number < 1)
]  # both parts of a division need some rows

# For each field type: its description in error messages, and the types that tomllib returns for it.
_TAKES: dict[type, tuple[str, tuple[type, ...]]] = {
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    bool: ("true or false", (bool,)),
    str: ("a text", (str,)),
    Path: ("a text", (str,)),
}


@dataclass(frozen=True)
class TextSource:
    """A collection of texts with the attribution that its licence requires."""

    name: str
    path: Path
    licence: str
    attribution: str


@dataclass(frozen=True)
class OptimizerTable:
    """The settings of AdamW, with its peak learning rate and warm-up steps.

    Each recipe has a subclass that adds the batch size.
    """

    steps: Count = 10_000  # the step at which the learning rate reaches 0, unless the run has a time limit
    warm_up: Whole = 500  # steps
    rate: Positive = 1e-3
    weight_decay: Amount = 0.01
    betas: tuple[PartShare, PartShare] = (0.9, 0.98)
    clip: Positive = 1.0  # gradients are clipped to this total norm


@dataclass(frozen=True)
class Loop:
    """The settings of the training loop: precision, threads, and intervals of logs and evaluations."""

    seed: Whole = 0
    threads: Count = 2
    precision: str = "auto"  # "bf16", "fp32", or "auto": bf16 if the hardware multiplies it
    checkpoint_minutes: Amount = 5.0
    evaluate_steps: Count = 500
    evaluate_pairs: Count = 256  # for each held-out source; sentences in a translation run
    log_steps: Count = 20


@dataclass(frozen=True)
class CardTable:
    """The hand-written texts of a model card; each recipe has a subclass with a title."""

    summary: str = "Trained with Headlight's recipe."
    licence: str = "other"
    notes: str = ""  # information that the settings do not contain, such as changes during the run


def toml(file: Path, *, required: tuple[str, ...], tables: tuple[str, ...]) -> dict[str, Any]:
    """Return the content of a TOML file; raise UserError if it cannot be read or its top-level keys are wrong.

    ``required`` are the keys that must be present; ``tables`` are the optional keys. No other keys are allowed.
    """
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(format_os_error(error)) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file.name} is not UTF-8 text. Give the TOML file of a run.") from error
    except ValueError as error:
        raise UserError(f"{file.name} cannot be read as TOML: {error}") from error
    known = [*required, *tables]
    if unknown := sorted(set(raw) - set(known)):
        raise UserError(f"{file.name}: {', '.join(unknown)} is no setting. There are {', '.join(known)}.")
    if missing := sorted(set(required) - set(raw)):
        raise UserError(f"{file.name} does not say {', '.join(missing)}.")
    return raw


def table(kind: type, values: Any, name: str) -> Any:
    """Return an instance of the dataclass ``kind`` from the values of a TOML table, called ``name`` in errors.

    Values are validated against the annotations of the fields. Raise UserError if a setting is unknown, missing, of the
    wrong type or out of range.
    """
    known = [field.name for field in fields(kind)]
    if not isinstance(values, dict):
        raise UserError(f"{name} is not a table: write [{name}], then a line for each of {', '.join(known)}.")
    if unknown := sorted(set(values) - set(known)):
        raise UserError(f"[{name}] has no setting {', '.join(unknown)}. It has {', '.join(known)}.")
    if {field.name for field in fields(kind) if field.default is MISSING} - set(values):
        raise UserError(f"[{name}] lacks a setting: it needs {', '.join(known)}.")
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{key: check_value(f"[{name}] {key}", value, hints[key]) for key, value in values.items()})


def check_value(name: str, value: Any, wanted: Any) -> Any:
    """Convert a value to the annotated type of a setting; raise UserError if its type or range is wrong.

    >>> check_value("[masking] rate", [0.25, 0.15], tuple[SomeShare, SomeShare])
    (0.25, 0.15)
    >>> check_value("[loop] threads", 0, Count)
    Traceback (most recent call last):
    inference.errors.UserError: [loop] threads = 0 will not do: it takes a whole number, at least 1.
    """
    if get_origin(wanted) is tuple:
        parts = get_args(wanted)
        if not isinstance(value, list) or len(value) != len(parts):
            raise _invalid_value_error(name, value, f"a list of {len(parts)} values")
        return tuple(check_value(name, one, part) for one, part in zip(value, parts, strict=True))
    kind, *ranges = get_args(wanted) or (wanted,)
    words, types = _TAKES[kind]
    if type(value) not in types or not all(one.holds(value) for one in ranges):
        raise _invalid_value_error(name, value, ", ".join([words, *(one.words for one in ranges)]))
    return kind(value)


def _invalid_value_error(name: str, value: Any, words: str) -> UserError:
    given = json.dumps(value, ensure_ascii=False, default=str)
    return UserError(f"{name} = {given} will not do: it takes {words}.")


Length = Annotated[int, Range(f"above {SHORTEST}", lambda number: number > SHORTEST)]


@dataclass(frozen=True)
class PretrainingData:
    """The held-out share of the documents, and the length of the sentence pairs."""

    held_out: Division = 0.015  # share of documents never trained on
    length: Length = 128  # tokens of a pair, including special tokens
    short: Share = 0.1  # probability that a batch has shorter pairs, so that the model also learns short texts


@dataclass(frozen=True)
class Masking:
    """The rate at which tokens are masked, and the unit of masking (tokens or whole words).

    ``rate`` has the rates at the first and the last step; between them, the rate changes linearly. The default is
    BERT's rate: 15 % of the tokens, each selected on its own.
    """

    rate: tuple[SomeShare, SomeShare] = (0.15, 0.15)
    whole_words: bool = False


@dataclass(frozen=True)
class BertOptimizer(OptimizerTable):
    """The settings of BERT's AdamW optimiser, with an optional decay of the learning rate by layer."""

    layer_decay: SomeShare = 1.0  # ratio of a layer's learning rate to that of the layer above it
    batch: Count = 32  # pairs of texts in a step


@dataclass(frozen=True)
class Distillation:
    """The settings of attention distillation: attention maps stay close to those of the initial model.

    ``weight`` multiplies its loss; 0 turns distillation off.
    """

    weight: Amount = 0.0
    rows: Count = (
        4  # pairs of each batch that are distilled; few are enough, and each costs a forward pass of the teacher
    )


@dataclass(frozen=True)
class BertCard(CardTable):
    """The hand-written texts of the model card of a BERT."""

    title: str = "A BERT with both heads"
    language: str = "en"
    start: str = "random numbers"


@dataclass(frozen=True)
class PretrainingConfig:
    """The configuration of a pre-training run: its folder, its texts, its initial weights and all settings."""

    run: Path  # the folder that the run writes to
    start: str  # "embedded", a folder with weights, or a folder with only config.json to train from scratch
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
    """Read a pre-training configuration from a TOML file; raise UserError if it is invalid.

    Paths in the file are relative to the folder of the file.
    """
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
    """Return the text sources; raise UserError if there are none or if two have the same name."""
    if not isinstance(rows, list) or not rows:
        raise UserError("There is no list of sources: write [[source]] in double brackets, once for each.")
    sources = [table(TextSource, row, "source") for row in rows]
    if len({source.name for source in sources}) < len(sources):
        raise UserError("Two sources have one name; give each [[source]] its own.")
    return tuple(replace(source, path=here / source.path) for source in sources)
