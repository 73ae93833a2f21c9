"""The norm ‖value · W_O‖ of each value vector times the head's output matrix W_O.

It is the norm of the head's output if the key of the value gets an attention weight of 1.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers.integrations.sdpa_attention import repeat_kv

from inference.record import fidelity_check
from inference.record.attention_call import AttentionCall
from inference.record.attention_function import observe_attention
from inference.record.records import register_post_hook

NEAR = 1e-4  # allowed difference of the input of a module, relative to its largest number
GRAMS = "_headlight_output_grams"  # on a model: the products of its output matrices, by path of the attention


def value_norms(model: Any, call: AttentionCall) -> Tensor | None:
    """Return ‖value · W_O‖ of each key in each head, (text, head, key), or None if W_O was not found.

    Norms are computed from W_O · W_Oᵀ, (head, channel, channel), which is smaller than W_O (arXiv:2004.10102).
    """
    gram = output_grams(model).get(call.path)
    if gram is None:
        return None
    values = repeat_kv(call.value, call.query.shape[1] // call.key.shape[1]).float()
    if gram.shape[0] != values.shape[1] or gram.shape[1] != values.shape[3]:
        return None
    norms: Tensor = ((values @ gram) * values).sum(3).clamp(min=0).sqrt()
    return norms


def output_grams(model: Any) -> dict[str, Tensor]:
    """Return W_O · W_Oᵀ of each head, (head, channel, channel), by the path of the attention module.

    The output matrix W_O is found in a pass over a tiny input: it is the first matrix whose input is the concatenated
    heads. An attention module without such a matrix is missing from the result.
    """
    found: dict[str, Tensor] | None = getattr(model, GRAMS, None)
    if found is None:
        found = _search(model)
        setattr(model, GRAMS, found)
    return found


def _search(model: Any) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    waiting: list[tuple[AttentionCall, Tensor]] = []

    def observe(call: AttentionCall, output: Tensor) -> None:
        waiting[:] = [(call, output)]

    def look(_path: str, module: Any, args: Any, _kwargs: Any, _output: Any) -> None:
        if not waiting or not args or not isinstance(args[0], Tensor):
            return
        call, output = waiting[0]
        joined = output.transpose(1, 2).flatten(2)  # (text, query, head · channel)
        given = args[0].reshape(-1, args[0].shape[-1])
        if given.shape != joined.flatten(0, 1).shape:
            return
        near = NEAR * float(joined.abs().max().clamp(min=1e-6))
        matrix = _matrix(module, given.shape[1])
        if matrix is not None and bool((given - joined.flatten(0, 1)).abs().max() <= near):
            heads = matrix.reshape(output.shape[1], output.shape[3], -1)
            found[call.path] = heads @ heads.transpose(1, 2)
            waiting.clear()

    with ExitStack() as hooks, observe_attention(observe), torch.inference_mode():
        for name, module in model.named_modules():
            if getattr(getattr(module, "weight", None), "ndim", 0) == 2:
                hooks.callback(register_post_hook(module, partial(look, name)).remove)
        model(**fidelity_check.inputs(model))
    return found


def _matrix(module: Any, width: int) -> Tensor | None:
    """Return the matrix of a module as (input, output), or None if it does not take ``width`` channels."""
    weight = module.weight.detach().float()
    stored_by_input = type(module).__name__ == "Conv1D"  # GPT-2's; torch.nn.Linear stores (output, input)
    matrix = weight if stored_by_input else weight.T
    return matrix if matrix.shape[0] == width else None
