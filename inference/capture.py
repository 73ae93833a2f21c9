"""Recording a forward pass: every attention's queries, keys and values, as they enter the softmax.

Models are loaded once with an attention function of our own. Outside a recording it is plain scaled dot-product
attention; inside one it also notes its arguments. Which recording a call belongs to is a context variable, so threads
that share a model do not mix.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

log = logging.getLogger(__name__)

NAME = "headlight"
PATH = "_headlight_path"  # where a module stands in its model; layer_idx is missing or repeated in many


@dataclass(frozen=True, eq=False)
class Call:
    """The arguments of one attention, and its log-sum-exp where the kernel gives it for free."""

    path: str
    query: Tensor  # (batch, head, query, channel)
    key: Tensor  # (batch, kv_head, key, channel)
    value: Tensor  # (batch, kv_head, key, channel)
    mask: Tensor | None  # (batch or 1, head or 1, query, key), bool or additive
    bias: Tensor | None  # (batch or 1, head, query, key)
    scale: float
    causal: bool  # the module's own rule, before the length of the text is looked at
    softcap: float | None
    sinks: Tensor | None  # (head,)
    lse: Tensor | None  # (batch, head, query)


@dataclass(eq=False)
class Tape:
    """What one recording has noted. Masks are shared by layers: their additive forms are made once."""

    calls: list[Call] = field(default_factory=list)
    additive: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def add_form(self, mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
        """A mask as numbers to add, which is what the kernel with the log-sum-exp takes."""
        if mask is None or mask.dtype != torch.bool:
            return mask
        if id(mask) not in self.additive:
            form = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
            self.additive[id(mask)] = (mask, form)  # the mask is kept, so that its id stays its own
        return self.additive[id(mask)][1]


_tape: ContextVar[Tape | None] = ContextVar("headlight_tape", default=None)


def install() -> None:
    """Make the attention function known to transformers; without the mask function padding would be ignored."""
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def implementation(config: Any) -> str:
    """What to load an architecture with: NAME, or "eager" for those whose code knows a fixed list of names only."""
    try:
        with torch.device("meta"):
            AutoModel.from_config(config, attn_implementation=NAME)
    except KeyError:
        return "eager"
    return NAME


@contextmanager
def recording() -> Iterator[Tape]:
    """Notes every attention that this thread computes inside the block."""
    tape = Tape()
    token = _tape.set(tape)
    try:
        with torch.inference_mode():
            yield tape
    finally:
        _tape.reset(token)


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **extra: Any,
) -> tuple[Tensor, None]:
    """Attention with transformers' calling convention: output (batch, query, head, channel), and no weights."""
    tape = _tape.get()
    causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    plain = softcap is None and s_aux is None
    if tape is None and plain:
        result: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask,
            scaling=scaling, is_causal=is_causal, position_bias=position_bias, **extra,
        )  # fmt: skip
        return result
    path = str(getattr(module, PATH, ""))
    call = Call(path, query, key, value, attention_mask, position_bias, scale, causal, softcap, s_aux, None)
    output, lse = _kernel(call, tape) if plain else _by_formula(call)
    if tape is not None:
        tape.calls.append(Call(**{**vars(call), "lse": lse}))
    return output.transpose(1, 2).contiguous(), None


def _kernel(call: Call, tape: Tape | None) -> tuple[Tensor, Tensor | None]:
    """Output and log-sum-exp from torch's flash kernel for CPUs; from plain attention, without the sum, elsewhere."""
    groups = call.query.shape[1] // call.key.shape[1]
    key, value = repeat_kv(call.key, groups), repeat_kv(call.value, groups)
    square = call.query.shape[2] == key.shape[2]
    causal = call.causal and call.mask is None and call.query.shape[2] > 1
    mask = tape.add_form(call.mask, call.query.dtype) if tape is not None else call.mask
    if call.bias is not None:
        mask, causal = _with_bias(call, mask, causal), False
    flash = call.query.device.type == "cpu" and call.query.dtype == torch.float32 and key.shape[-1] == value.shape[-1]
    if flash and (square or not causal) and _row_stride_one(call.query, key, value):
        # Private to torch and pinned with it; it is what scaled_dot_product_attention calls on a CPU.
        output, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            call.query, key, value, 0.0, causal, attn_mask=mask, scale=call.scale
        )
        return output, lse
    output = torch.nn.functional.scaled_dot_product_attention(
        call.query, key, value, attn_mask=mask, is_causal=causal, scale=call.scale
    )
    return output, None


def _row_stride_one(*tensors: Tensor) -> bool:
    return all(tensor.stride(-1) == 1 for tensor in tensors)


def _with_bias(call: Call, mask: Tensor | None, causal: bool) -> Tensor:
    """Bias and mask as one additive mask."""
    assert call.bias is not None
    total = call.bias if mask is None else call.bias + mask
    if causal:
        total = total.masked_fill(~_triangle(call), -torch.inf)
    return total.expand(call.query.shape[0], call.query.shape[1], -1, -1)


def _triangle(call: Call) -> Tensor:
    queries, keys = call.query.shape[2], call.key.shape[2]
    ones = torch.ones(queries, keys, dtype=torch.bool, device=call.query.device)
    return ones.tril(keys - queries)


def _by_formula(call: Call) -> tuple[Tensor, Tensor]:
    """Output and log-sum-exp for what no kernel knows: soft caps (arXiv:2408.00118) and sinks."""
    groups = call.query.shape[1] // call.key.shape[1]
    scores = (call.query @ repeat_kv(call.key, groups).transpose(2, 3)).float() * call.scale
    if call.softcap is not None:
        scores = torch.tanh(scores / call.softcap) * call.softcap
    if call.bias is not None:
        scores = scores + call.bias
    if call.mask is not None:
        allowed = call.mask.dtype == torch.bool
        scores = scores.masked_fill(~call.mask, -torch.inf) if allowed else scores + call.mask
    elif call.causal and call.query.shape[2] > 1:
        scores = scores.masked_fill(~_triangle(call), -torch.inf)
    lse = scores.logsumexp(-1)
    if call.sinks is not None:
        lse = torch.logaddexp(lse, call.sinks.float().reshape(1, -1, 1))
    weights = torch.exp(scores - lse.unsqueeze(-1)).nan_to_num(0.0)
    return weights.to(call.value.dtype) @ repeat_kv(call.value, groups), lse


def prepare(model: Any) -> bool:
    """Ready a loaded model for recording; whether it can be recorded, or only gives its finished maps.

    Raises ValueError when a first tiny input already fails.
    """
    from inference import fallback, tiny

    model.eval()
    model.requires_grad_(False)
    for path, module in model.named_modules():
        setattr(module, PATH, path)
    with recording() as tape:
        model(**tiny.inputs(model))
    if tape.calls:
        return True
    fallback.prepare(model)
    return False


def record_parts(
    model: Any, inputs: dict[str, Tensor], lengths: list[int] | None = None, target_lengths: list[int] | None = None
) -> list[dict[str, tuple[Any, ...]]]:
    """One forward pass over a batch: for each sample its records by part ("encoder", "decoder", "cross").

    ``lengths`` and ``target_lengths`` say how many tokens each right-padded sample has; without them the attention
    masks in ``inputs`` do, for padding on either side. Arrays are numpy, float32, read-only and free of padding.
    Raises ValueError for an architecture without attention.
    """
    from inference import fallback, records

    sources, targets = records.both_spans(inputs, lengths, target_lengths)
    with recording() as tape:
        if fallback.needed(model):
            return fallback.parts(model, inputs, sources, targets)
        model(**inputs)
    return records.parts(model, tape.calls, sources, targets)
