"""The attention function with which models are loaded; it records the arguments of each call on a tape.

The function computes plain attention. The current tape is a context variable, so threads can share a model, and no
setting of a model changes between requests. ``records.py`` converts the recorded calls to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward

from inference import cancellation
from inference.record import edit_hooks, patching
from inference.record.attention_call import AttentionCall, Repeats, compact_tensors, place

PATH = "_headlight_path"  # a module's path in its model, because layer_idx is missing or repeated in many models

# The CPU kernel of scaled_dot_product_attention also returns the log-sum-exp. It is private to torch, so it may vanish.
FLASH = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)


@dataclass(eq=False)
class Tape:
    """The attention calls of a recorded forward pass, in order.

    ``expected`` is the number of calls of the whole pass, 0 if it is unknown.
    """

    calls: list[AttentionCall] = field(default_factory=list)
    expected: int = 0  # number of attention calls of the whole pass, 0 if it is not known
    additive: dict[tuple[Any, ...], tuple[Tensor, Tensor]] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=Repeats)

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:
        """Append an attention call to the tape, with the log-sum-exp ``lse`` of its scores.

        Tensors that are small views of larger memory are copied.
        """
        query, key, value = compact_tensors(call.query, call.key, call.value)
        self.calls.append(replace(call, query=query, key=key, value=value, lse=lse))

    def widen(self, call: AttentionCall) -> None:
        """Append the values of a repeated call to the channels of the values of the call before it.

        A repeated call has the same queries and keys, but other values.
        """
        last = self.calls[-1]
        self.calls[-1] = replace(last, value=torch.cat([last.value, call.value], dim=-1))

    def add_form(self, mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
        """Return a boolean mask in additive form: 0 for an allowed pair, minus infinity for a masked pair.

        An additive mask and None are returned unchanged. Layers with the same mask share the result.
        """
        if mask is None or mask.dtype != torch.bool:
            return mask
        where = place(mask)
        if where not in self.additive:
            form = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
            self.additive[where] = (mask, form)  # keep the mask, so that no other tensor can take its address
        return self.additive[where][1]


@dataclass(frozen=True, eq=False)
class Weighed:
    """The attention weights of an attention call, (batch, head, query, key), through which gradients flow."""

    path: str
    weights: Tensor


@dataclass(eq=False)
class _Kept:
    """The attention weights that a ``keep_weights`` block has collected."""

    found: list[Weighed] = field(default_factory=list)
    repeats: Repeats = field(default_factory=Repeats)


_weighed: ContextVar[_Kept | None] = ContextVar("headlight_weighed", default=None)


@contextmanager
def keep_weights() -> Iterator[list[Weighed]]:
    """Inside the block, collect the weights of every attention that this thread computes, with gradients.

    The weights are computed by the plain formula; edits are not applied, and nothing is recorded.
    """
    kept = _Kept()
    token = _weighed.set(kept)
    try:
        yield kept.found
    finally:
        _weighed.reset(token)


# A callback for an attention call and its output (batch, head, query, channel).
Observer = Callable[[AttentionCall, Tensor], None]
_observer: ContextVar[Observer | None] = ContextVar("headlight_observer", default=None)


@contextmanager
def observe_attention(observer: Observer) -> Iterator[None]:
    """Inside the block, pass each attention call of this thread to ``observer``.

    Unlike a tape, an observer gets the tensors that the model uses, and never copies.
    """
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


_tape: ContextVar[Tape | None] = ContextVar("headlight_tape", default=None)


@contextmanager
def record_attention(tape: Tape | None = None) -> Iterator[Tape]:
    """Inside the block, record every attention that this thread computes, on ``tape`` or on a new tape.

    The block runs without gradients.

    >>> with record_attention() as tape:
    ...     output, _ = attend(torch.nn.Identity(), *torch.ones(3, 1, 2, 5, 4), None, is_causal=False)
    >>> output.shape, tape.calls[0].query.shape, tape.calls[0].scale
    (torch.Size([1, 5, 2, 4]), torch.Size([1, 2, 5, 4]), 0.5)
    """
    tape = Tape() if tape is None else tape
    token = _tape.set(tape)
    try:
        with torch.inference_mode():
            yield tape
    finally:
        _tape.reset(token)


def attend(  # noqa: PLR0913  # transformers' own signature
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,  # noqa: ARG001  # transformers' own signature
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **extra: Any,
) -> tuple[Tensor, None]:
    """Compute attention, as the function that transformers calls in every attention module.

    Return the output (batch, query, head, channel), and None in place of the weights. The edits, patches and recordings
    of this thread are applied. Raise Cancelled if the request was cancelled.
    """
    tape, editor, lending = _tape.get(), edit_hooks.editor(), patching.current_patching()
    if tape is None:
        cancellation.check()
    else:
        cancellation.layer(len(tape.calls), tape.expected)
    plain = softcap is None and s_aux is None

    def compute() -> Tensor:
        given = {"scaling": scaling, "is_causal": is_causal, "position_bias": position_bias, **extra}
        result: Tensor = sdpa_attention_forward(module, query, key, value, attention_mask, **given)[0]
        return result

    kept, observer = _weighed.get(), _observer.get()
    if tape is None and editor is None and lending is None and plain and kept is None and observer is None:
        return compute(), None
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    path = str(getattr(module, PATH, ""))
    asked = AttentionCall(path, query, key, value, attention_mask, position_bias, scale, causal, softcap, s_aux)
    call = _without_empty(asked)
    if kept is not None:
        return _weighed_output(call, kept, again=kept.repeats.count(asked) > 0).transpose(1, 2).contiguous(), None
    lse: Tensor | None = None
    if not plain:
        output, lse = _by_formula(call)
    elif tape is not None:
        output, lse = _by_kernel(call, tape)
    else:
        output = compute().transpose(1, 2)
    change = None if editor is None else editor.change(call, asked)
    if change is not None:
        call, output, lse = _apply_change(call, change, output, lse)
    if lending is not None:
        output = lending.output(asked, output)
    if tape is not None:
        if tape.repeats.count(asked):
            tape.widen(call)
        else:
            tape.note(call, lse)
    if observer is not None:
        observer(asked, output)
    return output.transpose(1, 2).contiguous(), None


def _weighed_output(call: AttentionCall, kept: _Kept, *, again: bool) -> Tensor:
    """Return the output and keep its weights, as leaves unless gradients already flow through them.

    With ``again``, a call that repeats the last call uses the same weights, whose gradient is the sum over both.
    """
    if again:
        weights = kept.found[-1].weights
    else:
        weights = weigh(call)
        weights = weights if weights.requires_grad else weights.requires_grad_()
        kept.found.append(Weighed(call.path, weights))
    output: Tensor = weights.to(call.value.dtype) @ repeat_kv(call.value, call.query.shape[1] // call.key.shape[1])
    return output


def _apply_change(
    call: AttentionCall, change: edit_hooks.Change, output: Tensor, lse: Tensor | None
) -> tuple[AttentionCall, Tensor, Tensor | None]:
    """Return the edited call, its output and its log-sum-exp; other heads keep theirs bit for bit."""
    if bool(change.moved.any()):
        call = change.call
        other, sums = _by_formula(call)
        output = torch.where(change.moved[:, :, None, None], other, output)
        lse = None if lse is None else torch.where(change.moved[:, :, None], sums, lse)
    return call, output.masked_fill(change.silent[:, :, None, None], 0), lse


def _without_empty(call: AttentionCall) -> AttentionCall:
    """Return the call without the empty keys at the end of a static cache, as plain attention omits them."""
    tokens = call.query.shape[2]
    if not call.looks_back or call.key.shape[2] <= tokens:
        return call
    bias = None if call.bias is None else call.bias[..., :tokens]
    return replace(call, key=call.key[:, :, :tokens], value=call.value[:, :, :tokens], bias=bias)


def _by_kernel(call: AttentionCall, tape: Tape) -> tuple[Tensor, Tensor | None]:
    """Return output and log-sum-exp from torch's flash kernel for CPUs.

    Return the output of plain attention and None if the kernel does not fit.
    """
    query, key, value = call.query, call.key, call.value
    mask, causal = tape.add_form(call.mask, query.dtype), call.looks_back
    if call.bias is not None:
        mask, causal = _with_bias(call, mask), False
    if FLASH is not None and _fits_flash(query, key, value, mask):
        output, lse = FLASH(query, key, value, 0.0, causal, attn_mask=mask, scale=call.scale)
        return output, lse
    output = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, mask, is_causal=causal, scale=call.scale, enable_gqa=query.shape[1] != key.shape[1]
    )
    return output, None


def _fits_flash(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Return True if the flash kernel can take these tensors, which it does not check.

    Half precision is excluded, because its sums are not those of float32.
    """
    same = len({t.shape[-1] for t in (query, key, value)}) == len({t.shape[0] for t in (query, key, value)}) == 1
    steps = all(t.stride(-1) == 1 for t in (query, key, value))
    numbers = query.dtype == torch.float32 and (mask is None or mask.dtype == torch.float32)
    return query.device.type == "cpu" and numbers and same and steps


def _with_bias(call: AttentionCall, mask: Tensor | None) -> Tensor:
    """Return the bias plus the additive mask, or plus the causal mask, as a single additive mask."""
    assert call.bias is not None
    if mask is not None:
        return call.bias + mask
    return torch.where(_triangle(call), call.bias, -torch.inf) if call.looks_back else call.bias


def _triangle(call: AttentionCall) -> Tensor:
    """Return the causal mask (query, key), True for keys at or before the query."""
    tokens = call.query.shape[2]
    return torch.ones(tokens, tokens, dtype=torch.bool, device=call.query.device).tril()


def _by_formula(call: AttentionCall) -> tuple[Tensor, Tensor]:
    """Return output and log-sum-exp in float32, for soft caps (arXiv:2408.00118) and sinks.

    No kernel supports either of them.
    """
    scores = compute_scores(call)
    lse = scores.logsumexp(-1)
    if call.sinks is not None:
        lse = torch.logaddexp(lse, _columns(call.sinks, scores)[..., 0])
    lse = lse.masked_fill(~lse.isfinite(), 0)  # A row with every key masked has zero weights.
    groups = call.query.shape[1] // call.key.shape[1]
    return _softmax(scores, call.sinks).to(call.value.dtype) @ repeat_kv(call.value, groups), lse


def weigh(call: AttentionCall) -> Tensor:
    """Return the attention weights of a call, (batch, head, query, key) float32."""
    return _softmax(compute_scores(call), call.sinks)


def compute_scores(call: AttentionCall) -> Tensor:
    """Return the scores of a call, the input of the softmax, (batch, head, query, key) float32.

    In-place operations are used only if no gradient needs the values.
    """
    groups = call.query.shape[1] // call.key.shape[1]
    scores: Tensor = (call.query.float() * call.scale) @ repeat_kv(call.key, groups).float().transpose(2, 3)
    if call.softcap is not None:
        scores = torch.tanh(scores / call.softcap) * call.softcap
    if call.bias is not None:
        scores = scores + call.bias
    if call.mask is not None:
        boolean = call.mask.dtype == torch.bool
        scores = scores.masked_fill_(~call.mask, -torch.inf) if boolean else scores.add_(call.mask)
    elif call.looks_back:
        scores.masked_fill_(~_triangle(call), -torch.inf)
    return scores


def _softmax(scores: Tensor, sinks: Tensor | None) -> Tensor:
    """Return the softmax of each row; a row with every key masked is zero, and so are its gradients."""
    if sinks is not None:
        with_sinks: Tensor = torch.cat([scores, _columns(sinks, scores)], dim=-1).softmax(-1)
        return with_sinks[..., :-1]
    weights = scores.softmax(-1)
    if not bool(weights[..., 0].isnan().any()):
        return weights
    nothing = scores.amax(-1, keepdim=True).isneginf()
    return scores.masked_fill(nothing, 0).softmax(-1).masked_fill(nothing, 0)


def _columns(sinks: Tensor, scores: Tensor) -> Tensor:
    """Return the sinks, shape (head,) or (batch, head), as a column of the scores, (batch, head, query, 1)."""
    return sinks.float().reshape(-1, scores.shape[1], 1, 1).expand(*scores.shape[:3], 1)
