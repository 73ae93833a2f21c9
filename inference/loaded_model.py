"""A model in memory, and the lock under which it is built."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass
from typing import Any

from attention.trace import ModelId
from inference.pictures.image_processing import TEXT, ImageProcessor
from inference.text.tokenizer import SafeTokenizer

# transformers patches its own modules while it builds a model, so models are built one at a time. Traces never wait for
# this lock. A model cache holds the lock until it has added the new model, so that the next load sees the memory left.
BUILDING = threading.RLock()


def release_memory() -> None:
    """Free evicted models, then exclude all remaining objects from garbage collection.

    With torch and transformers loaded, a full collection takes 170 ms, and Python could start it while a visitor waits.
    An earlier exclusion is lifted first, so that evicted models are collected.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def silence_transformers() -> None:
    """Silence progress bars and warnings of transformers, which would fill the server's log.

    Errors are not lost: they reach the visitor as UserError.
    """
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()


@dataclass(frozen=True)
class LoadedModel:
    """A model in memory that is ready to be traced, with its tokenizer and its limits.

    ``records`` is False if only its reported attention maps are available, without queries, keys and values.
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
