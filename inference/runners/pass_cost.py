"""Measurement of a forward pass: wall-clock time, processor time, and the peak bytes of its tensors."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.tasks.anatomy import CostRequest, MeasuredCost

ENOUGH = 0.5  # seconds of passes, after which no further pass runs
MOST_PASSES = 7


def answer(loaded: LoadedModel, question: CostRequest) -> MeasuredCost:
    """Return time and memory of a pass over a number of tokens.

    Raise UserError for no tokens, or for more than the model reads.
    """
    if not 1 <= question.tokens <= loaded.limit:
        raise UserError(
            gettext_lazy(
                "{tokens} tokens were asked for; {name} reads 1 to {limit} of them here.",
                tokens=question.tokens,
                name=loaded.id.name,
                limit=loaded.limit,
            ),
            details={"tokens": question.tokens, "limit": loaded.limit},
        )
    given = _inputs(loaded, question.tokens)
    with as_user_error(
        gettext_lazy(
            "{name} failed on {tokens} tokens. Measure shorter texts.", name=loaded.id.name, tokens=question.tokens
        )
    ):
        seconds, busy = _seconds(loaded.model, given)
        peak = _peak(loaded.model, given)
    return MeasuredCost(question.tokens, seconds, busy, peak, torch.get_num_threads())


def _inputs(loaded: LoadedModel, tokens: int) -> dict[str, Any]:
    """Return random token ids, the same each time, since they affect neither time nor memory."""
    rows = int(loaded.model.get_input_embeddings().weight.shape[0])
    ids = torch.randint(0, rows, (1, tokens), generator=torch.Generator().manual_seed(tokens))
    pad = getattr(loaded.model.config.get_text_config(), "pad_token_id", None)
    if pad is not None:  # some models derive positions from padding
        ids[ids == pad] = (pad + 1) % rows
    found = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return {**found, "decoder_input_ids": ids} if loaded.id.kind == "encoder-decoder" else found


def _seconds(model: Any, given: dict[str, Any]) -> tuple[tuple[float, ...], float]:
    """Return the wall-clock seconds of each pass, and the mean processor time of a pass."""
    with torch.inference_mode():
        passes, spent = _time_passes(model, given, 1)
        if passes[0] < ENOUGH:  # a slow first pass is not repeated and counts as the measurement
            passes, spent = _time_passes(model, given, MOST_PASSES)
    return tuple(passes), spent / len(passes)


def _time_passes(model: Any, given: dict[str, Any], most: int) -> tuple[list[float], float]:
    passes: list[float] = []
    spent = time.thread_time()  # for all passes together, because some machines count in hundredths of a second
    while not passes or (sum(passes) < ENOUGH and len(passes) < most):
        began = time.perf_counter()
        model(**given)
        passes.append(time.perf_counter() - began)
    return passes, time.thread_time() - spent


def _peak(model: Any, given: dict[str, Any]) -> int:
    weights = [tensor for group in (model.parameters(), model.buffers()) for tensor in group]
    living = MemoryTracker(weights)
    with torch.inference_mode(), living:
        model(**given)
    return living.peak


class MemoryTracker(TorchDispatchMode):
    """A context that tracks the live tensors of a pass, other than weights, and their peak in bytes."""

    def __init__(self, weights: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch annotates a part of it
        self.weights = {StorageWeakRef(tensor.untyped_storage()).cdata for tensor in weights}
        self.living: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        self.living = {at: kept for at, kept in self.living.items() if not kept[0].expired()}
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                reference = StorageWeakRef(storage)
                if reference.cdata not in self.weights:
                    self.living[reference.cdata] = (reference, storage.nbytes())
        self.peak = max(self.peak, sum(nbytes for _, nbytes in self.living.values()))
        return made
