"""A loaded model as a value: what every answer is computed with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention.trace import ModelId
from inference.pictures.families import TEXT
from inference.pictures.processing import Eye
from inference.text.tokenise import Reader


@dataclass(frozen=True)
class Loaded:
    """A model ready to be traced. ``records`` is False where only finished maps can be had."""

    model: Any
    reader: Reader
    id: ModelId
    limit: int  # tokens of one text
    nbytes: int
    records: bool
    writes: bool  # can generate a target text
    reads: str = TEXT  # or pictures, or both (inference.pictures.families)
    eye: Eye | None = None  # what makes a picture ready, where it reads any
