"""A model's head restricted to a single token, because a large vocabulary costs as much as the layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from inference.record.patching import replacing_output


def can(model: Any) -> bool:
    """Return True if the output head is separate from the base model, so that it can run on a single token."""
    return getattr(model, "base_model", model) is not model


@contextmanager
def reading_one(model: Any, at: int | None) -> Iterator[None]:
    """Restrict the head to token ``at`` in the block, if possible; do nothing if ``at`` is None.

    The logits are then (text, 1, …). Passes of other threads are not affected.
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
