"""A model's head asked about one token alone: a vocabulary of 30,000 words costs as much as the layers below it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from inference.record.patching import replacing_output


def can(model: Any) -> bool:
    """Whether the head stands upon a model of its own, whose vectors can be left out."""
    return getattr(model, "base_model", model) is not model


@contextmanager
def reading_one(model: Any, at: int | None) -> Iterator[None]:
    """Inside the block the head reads token ``at`` alone, where it can; every token where ``at`` is None.

    What it says is then (text, 1, ...); for this thread's passes only.
    """
    if at is None or not can(model):
        yield
        return

    def only(_module: Any, output: Any) -> Any:
        vectors = output[0]
        if not isinstance(vectors, torch.Tensor) or vectors.ndim != 3:
            return None
        one = vectors[:, at : at + 1]
        if isinstance(output, tuple):
            return (one, *output[1:])
        output["last_hidden_state"] = one
        return output

    with replacing_output(model.base_model, only):
        yield
