"""The value class of a loaded model, from which every answer is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention.trace import ModelId
from inference.pictures.image_processing import TEXT, ImageProcessor
from inference.text.tokenizer import SafeTokenizer


@dataclass(frozen=True)
class LoadedModel:
    """A model that is ready to be traced.

    ``records`` is False if only its reported attention maps are available.
    """

    model: Any
    reader: SafeTokenizer
    id: ModelId
    limit: int  # in tokens, per text
    nbytes: int
    records: bool
    writes: bool  # True if the model generates a target text
    gguf: str = ""  # the file name, if the weights were read from a GGUF file
    reads: str = TEXT  # TEXT, PICTURES or BOTH of inference.pictures.image_processing
    eye: ImageProcessor | None = None  # preprocesses pictures; None for text-only models
