"""Tensors by the memory that they show: which ones share it, and which ones keep too much of it alive."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def place(tensor: Tensor | None) -> tuple[Any, ...]:
    """What two tensors have in common when they show the same memory in the same way."""
    return () if tensor is None else (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)


def compact_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The same tensors, copied where they keep much more memory alive than they show: a fused projection, a batch.

    Views that together show most of one memory stay views.
    """
    shown: dict[int, int] = {}
    for tensor in tensors:
        memory = tensor.untyped_storage().data_ptr()
        shown[memory] = shown.get(memory, 0) + tensor.nbytes
    return tuple(
        tensor.clone() if storage.nbytes() > 1.5 * shown[storage.data_ptr()] else tensor
        for tensor, storage in ((tensor, tensor.untyped_storage()) for tensor in tensors)
    )
