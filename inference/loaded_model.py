"""A loaded model as a value: what every answer is computed with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention.trace import ModelId
from inference.pictures.image_processing import TEXT, ImageProcessor
from inference.text.tokenizer import SafeTokenizer


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be traced. ``records`` is False where only finished maps can be had."""

    model: Any
    reader: SafeTokenizer
    id: ModelId
    limit: int  # tokens of one text
    nbytes: int
    records: bool
    writes: bool  # can generate a target text
    gguf: str = ""  # the file's name, where the weights were read from a GGUF file
    reads: str = TEXT  # or pictures, or both (inference.pictures.image_processing)
    eye: ImageProcessor | None = None  # what makes a picture ready, where it reads any
