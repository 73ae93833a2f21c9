"""The sizes of a layer's parts, measured where a pass shows them, else by the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inference.anatomy.blocks import LayerRun, Operation
from inference.anatomy.functions import curve
from inference.anatomy.watched_pass import Visit, WatchedPass
from inference.record.attention_call import AttentionCall
from inference.tasks.anatomy import Activation, FeedForward, Heads

_ACTIVATION = ("hidden_act", "hidden_activation", "activation_function", "activation", "dense_act_fn", "ff_activation")
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
_USED = ("num_experts_per_tok", "num_experts_per_token", "moe_top_k")
NO_CURVE = np.zeros(0, np.float32)
NO_CURVE.setflags(write=False)


def matrix(visit: Visit) -> tuple[int, int]:
    """Inputs and outputs of a linear module; GPT-2's Conv1D keeps them the other way round."""
    rows, columns = (int(size) for size in visit.module.weight.shape)
    return (rows, columns) if hasattr(visit.module, "nf") else (columns, rows)


def heads(model: Any, side: str, operation: Operation, calls: Sequence[AttentionCall]) -> Heads:
    """The sizes of one attention: as its recorded queries and keys have them, else by configuration and matrices."""
    call = next((call for call in calls if call.path == operation.core), None)
    if call is not None:
        return Heads(call.query.shape[1], call.key.shape[1], call.query.shape[3], call.value.shape[3])
    config = model.config.get_text_config()
    number = number_of(config, f"{side}_attention_heads", "num_attention_heads") or 1
    before = [matrix(visit)[1] for visit in operation.linears if visit.began < operation.softmax]
    hidden = number_of(config, "hidden_size", "d_model") or number
    width = number_of(config, "head_dim") or hidden // number
    shared = number
    if before and before[0] > number * width:  # queries, keys and values by one matrix
        shared = (before[0] // width - number) // 2
    elif len(before) > 1:
        shared = before[1] // width
    return Heads(number, max(1, shared), width, width)


def feed_forward(model: Any, watched: WatchedPass, block: LayerRun) -> FeedForward | None:
    """The sizes of a layer's last feed-forward part; None for a layer without one."""
    operation = next((found for found in reversed(block.operations) if found.kind == "feed-forward"), None)
    if operation is None:
        return None
    config = model.config.get_text_config()
    activation = _activation(config, watched, block, operation)
    experts = number_of(config, *_EXPERTS) or 1
    if experts > 1 and any(
        "expert" in name for root in operation.modules for name, _ in root.module.named_parameters()
    ):
        hidden = number_of(config, "moe_intermediate_size", "intermediate_size") or 0
        used = number_of(config, *_USED) or 1
        return FeedForward(operation.modules[0].width, hidden, True, activation, experts, used)
    sizes = [matrix(visit) for visit in operation.linears]
    if not sizes:
        return None
    hidden = sizes[-1][0]
    ups = [outputs for _, outputs in sizes[:-1]]
    gated = ups.count(hidden) > 1 or 2 * hidden in ups
    return FeedForward(sizes[0][0], hidden, gated, activation)


def windows(model: Any, layers: int) -> tuple[int | None, int]:
    """The window that some layers look at, in tokens, and how many have it, as the configuration states it."""
    config = model.config.get_text_config()
    window = number_of(config, "local_attention", "sliding_window")
    kinds = getattr(config, "layer_types", None)
    if not window:
        return None, 0
    if isinstance(kinds, list | tuple):
        count = sum("sliding" in str(kind) for kind in kinds)
        return (window, count) if count else (None, 0)
    return window, layers


def number_of(config: Any, *names: str) -> int | None:
    """The first of these that a configuration states as a whole number."""
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)


def _activation(config: Any, watched: WatchedPass, block: LayerRun, operation: Operation) -> Activation:
    """What runs between the first and the last matrix and is no dropout."""
    stated = next((value for name in _ACTIVATION if isinstance(value := getattr(config, name, None), str)), "")
    until = operation.linears[-1].began if operation.linears else block.visit.ended
    for visit in watched.visits_inside(block.visit):
        if operation.began < visit.began < until and not any(True for _ in visit.module.parameters()):
            found = curve(visit.module) if not any(True for _ in visit.module.children()) else None
            if found is not None and found[0] != "identity":
                return Activation(found[0], stated, found[1], found[2])
    return Activation("", stated, NO_CURVE, NO_CURVE)
