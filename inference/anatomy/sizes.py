"""Residual connections, activation functions and sizes of a layer, derived from the numbers of a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from i18n import gettext_lazy
from inference.anatomy.watched_pass import LayerRun, Numbers, Operation, Visit, WatchedPass
from inference.record.attention_call import AttentionCall
from inference.tasks.anatomy import ENTERS, Activation, FeedForward, Flow, Heads, LayerStep

TOLERANCE = 1e-5  # relative to the largest number; it allows for another order of summation
MOST_SUMMED = 3  # the layer's input, attention and feed-forward, if the latter two run in parallel


def follow(block: LayerRun) -> Flow:
    """Return the steps of a layer that ran in a pass, and the inputs of each step.

    A step is the call of a norm or sublayer, or an addition. Residual additions are not modules. They are found by
    their numbers: the input of a step equals a sum of earlier results.
    """
    return _Follower(block.visit.given).run(block)


class _Follower:
    def __init__(self, enters: Numbers) -> None:
        self.steps: list[LayerStep] = []
        self.values: dict[int, Numbers] = {ENTERS: enters}
        self.leaving: dict[int, Numbers] = {}
        self.followed = True

    def run(self, block: LayerRun) -> Flow:
        for operation in block.operations:
            source = self.source_of(operation.given)
            self.steps.append(LayerStep(operation.kind, (source,)))
            self.values[len(self.steps) - 1] = operation.made
            self.leaving[len(self.steps) - 1] = operation.leaves
        leaves = self.source_of(block.visit.made)
        return Flow(tuple(self.steps), leaves, self.followed)

    def source_of(self, wanted: Numbers) -> int:
        """Return the step that made these numbers; insert an addition if they are a sum of earlier results."""
        outermost = {at: value for at, value in self.leaving.items() if value.size}
        # Try the results of the last matrices first, because the result of some modules includes the addition. A
        # mixture of experts is a sum over many matrices, so only the result of its outermost module can match.
        for values in (self.values, {**self.values, **outermost}):
            known = [at for at in reversed(values) if values[at].size]
            for at in known:
                if is_equal(values[at], wanted):
                    return at
            for size in range(2, MOST_SUMMED + 1):
                for several in combinations(known, size):
                    if is_equal(_sum([values[at] for at in several]), wanted):
                        return self._add(tuple(sorted(several)), wanted)
        self.followed = False
        return self._guess(wanted)

    def _guess(self, wanted: Numbers) -> int:
        """Infer an addition from the order of the calls: a part's result is added to the part's own input."""
        last = len(self.steps) - 1
        if last < 0 or self.steps[last].kind == "norm":
            return last
        stream = self.steps[last].sources[0]
        if stream != ENTERS and self.steps[stream].kind == "norm" and self.steps[0].kind == "norm":
            stream = self.steps[stream].sources[0]  # a pre-norm layer adds the result to the input of the norm
        return self._add((stream, last), wanted)

    def _add(self, sources: tuple[int, ...], value: Numbers) -> int:
        self.steps.append(LayerStep("add", sources))
        self.values[len(self.steps) - 1] = value
        return len(self.steps) - 1


def is_equal(one: Numbers, other: Numbers) -> bool:
    """Return True if two arrays contain the same numbers up to rounding."""
    if one.shape != other.shape or not one.size:
        return False
    largest = float(np.abs(other).max())
    return bool(np.abs(one - other).max() <= TOLERANCE * max(largest, 1e-6))


def _sum(values: Sequence[Numbers]) -> Numbers:
    """Return the sum of the values; an empty array if their shapes differ."""
    if len({value.shape for value in values}) > 1:
        return np.zeros(0, np.float32)
    total: Numbers = np.sum(values, axis=0)
    return total


# Exceptions that foreign modules raise on unsupported inputs.
BROKEN = (RuntimeError, TypeError, ValueError, LookupError, AttributeError)
NEAR = 2e-5  # the exact GELU and its tanh approximation differ by twenty times as much
REACH, POINTS = 4.0, 161

FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    "ReLU": torch.relu,
    "GELU": functional.gelu,
    gettext_lazy("GELU (tanh approximation)"): lambda x: functional.gelu(x, approximate="tanh"),
    gettext_lazy("GELU (sigmoid approximation)"): lambda x: x * torch.sigmoid(1.702 * x),
    "SiLU": functional.silu,
    gettext_lazy("squared ReLU"): lambda x: torch.relu(x) ** 2,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    gettext_lazy("identity"): lambda x: x,
}


def curve(module: Any) -> tuple[str, Numbers, Numbers] | None:
    """Return an activation function's name ("" if unknown), and its inputs and outputs at some points.

    Inputs and outputs have the shape (point,). Return None if the module is not an elementwise function.

    >>> curve(torch.nn.GELU())[0]
    'GELU'
    """
    points = torch.linspace(-REACH, REACH, POINTS)
    with torch.inference_mode():
        try:
            found = module(points.clone())
            alone = module(points[:1].clone())
        except BROKEN:
            return None
        alike = (
            isinstance(found, Tensor) and found.shape == points.shape and torch.allclose(found[:1], alone, atol=1e-6)
        )
        if not alike:  # the function mixes its inputs, for example as a softmax does
            return None
        name = next((name for name, formula in FORMULAS.items() if (formula(points) - found).abs().max() < NEAR), "")
    inputs, outputs = points.numpy(), found.float().cpu().numpy()
    inputs.setflags(write=False)
    outputs.setflags(write=False)
    return name, inputs, outputs


def kind_of_norm(module: Any, width: int) -> str:
    """Return "LayerNorm" if a norm subtracts the mean, else "RMSNorm"; "" if the module cannot be called.

    The result of a LayerNorm does not change when a constant is added to every channel (arXiv:1607.06450; RMSNorm is
    arXiv:1910.07467).

    >>> kind_of_norm(torch.nn.LayerNorm(6), 6), kind_of_norm(torch.nn.RMSNorm(6), 6)
    ('LayerNorm', 'RMSNorm')
    """
    vector = torch.linspace(-1, 2, width).unsqueeze(0)
    with torch.inference_mode():
        try:
            plain, shifted = module(vector.clone()), module(vector + 5)
        except BROKEN:
            return ""
    if not isinstance(plain, Tensor) or not isinstance(shifted, Tensor):
        return ""
    moved = float((plain - shifted).abs().max())
    return "LayerNorm" if moved <= 1e-3 * float(plain.abs().max()) else "RMSNorm"


_ACTIVATION = ("hidden_act", "hidden_activation", "activation_function", "activation", "dense_act_fn", "ff_activation")
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
_USED = ("num_experts_per_tok", "num_experts_per_token", "moe_top_k")
NO_CURVE = np.zeros(0, np.float32)
NO_CURVE.setflags(write=False)


def matrix(visit: Visit) -> tuple[int, int]:
    """Return the input and output size of a linear module, such as GPT-2's Conv1D with its transposed matrix."""
    rows, columns = (int(size) for size in visit.module.weight.shape)
    return (rows, columns) if hasattr(visit.module, "nf") else (columns, rows)


def heads(model: Any, side: str, operation: Operation, calls: Sequence[AttentionCall]) -> Heads:
    """Return the numbers of heads and channels of an attention sublayer.

    They are read from the sublayer's call among the recorded ``calls``, or else from the configuration and the sizes of
    matrices. ``side`` is the stack, "encoder" or "decoder".
    """
    call = next((call for call in calls if call.path == operation.core), None)
    if call is not None:
        return Heads(call.query.shape[1], call.key.shape[1], call.query.shape[3], call.value.shape[3])
    config = model.config.get_text_config()
    number = number_of(config, f"{side}_attention_heads", "num_attention_heads") or 1
    before = [matrix(visit)[1] for visit in operation.linears if visit.began < operation.softmax]
    hidden = number_of(config, "hidden_size", "d_model") or number
    width = number_of(config, "head_dim") or hidden // number
    shared = number
    if before and before[0] > number * width:  # a single matrix computes queries, keys and values
        shared = (before[0] // width - number) // 2
    elif len(before) > 1:
        shared = before[1] // width
    return Heads(number, max(1, shared), width, width)


def feed_forward(model: Any, watched: WatchedPass, block: LayerRun) -> FeedForward | None:
    """Return the sizes of the feed-forward sublayer of the layer ``block``, or None if the layer has none.

    If there are several, the sizes are those of the last.
    """
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
    """Return the window of sliding-window attention in tokens, and the number of layers that use it.

    ``layers`` is the number of all layers of the model. Return (None, 0) if the configuration has no window.
    """
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
    """Return the first of the named attributes of a configuration that is an integer, or None."""
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)


def _activation(config: Any, watched: WatchedPass, block: LayerRun, operation: Operation) -> Activation:
    """Return the activation between the first and the last matrix.

    Dropout is skipped, because it is an identity in evaluation.
    """
    stated = next((value for name in _ACTIVATION if isinstance(value := getattr(config, name, None), str)), "")
    until = operation.linears[-1].began if operation.linears else block.visit.ended
    for visit in watched.visits_inside(block.visit):
        if operation.began < visit.began < until and not any(True for _ in visit.module.parameters()):
            found = curve(visit.module) if not any(True for _ in visit.module.children()) else None
            if found is not None and found[0] != "identity":
                return Activation(found[0], stated, found[1], found[2])
    return Activation("", stated, NO_CURVE, NO_CURVE)
