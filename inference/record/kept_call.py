"""The recorded tensors of an attention call, from which its attention weights are computed on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from inference.record.attention_call import AttentionCall, compact_tensors
from inference.record.attention_function import compute_scores, weigh

Kept = Sequence[int]  # indices along an axis


@dataclass(eq=False)
class KeyBuffer:
    """The keys that an attention module has computed so far, (sample, kv_head, key, channel).

    All steps of a generation share the buffer. The record of an early step refers to the beginning of the buffer only.
    """

    tensor: Tensor
    own: bool  # True if no module of the model refers to the tensor


@dataclass(eq=False)
class KeyBuffers:
    """The key buffers of modules with a key–value cache, so that each step of a generation stores only its new keys.

    A cache that grows returns a tensor of the earlier keys and the new key at each step. A cache of fixed size changes
    its tensor in place, so its keys are copied.
    """

    last: dict[str, tuple[KeyBuffer, int]] = field(default_factory=dict)

    def keep(self, path: str, key: Tensor, queries: int) -> KeyBuffer:
        """Return a buffer that begins with the keys ``key`` of the attention module at ``path``.

        ``queries`` is the number of queries of the call. If there are more keys than queries, the buffer of the
        module's previous call is extended if possible.
        """
        length, before = key.shape[2], self.last.get(path)
        if length == queries:
            buffer = KeyBuffer(key, own=False)
        else:
            buffer = (None if before is None else _reuse(*before, key)) or KeyBuffer(key.clone(), own=True)
        self.last[path] = (buffer, length)
        return buffer


def _reuse(buffer: KeyBuffer, length: int, key: Tensor) -> KeyBuffer | None:
    """Return the buffer, with the new keys, if ``key`` continues its first ``length`` keys; else None."""
    old = buffer.tensor[:, :, :length]
    if old.shape[:2] != key.shape[:2] or old.shape[3] != key.shape[3] or length > key.shape[2]:
        return None
    if length < key.shape[2]:
        if not torch.equal(key[:, :, :length], old):
            return None
        buffer.tensor, buffer.own = key, False
        return buffer
    changed = (key != old).flatten(3).any(3)
    if not bool(changed.any()):
        return buffer
    if not buffer.own or bool(old[changed].any()):
        return None
    with torch.inference_mode():  # allows a change in place of tensors of either kind
        buffer.tensor.copy_(key)
    return buffer


@dataclass(frozen=True, eq=False)
class KeptCall:
    """An attention call of a recorded pass, without gradients; its values are kept only on request.

    ``kernel`` is the family of the attention function: "eager", "sdpa" or "flash". The families align implicit causal
    masks differently.
    """

    call: AttentionCall  # its key is empty
    keys: KeyBuffer
    length: int  # number of keys
    kernel: str
    window: int | None = None  # keys that a query may attend to, itself included; only of flash kernels
    value: Tensor | None = None
    block_mask: Any = None  # mask of flex attention

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return (sample, head, query, key)."""
        samples, heads, queries, _ = self.call.query.shape
        return samples, heads, queries, self.length

    @property
    def key(self) -> Tensor:
        """Return the keys, shape (sample, kv_head, key, channel)."""
        return self.keys.tensor[:, :, : self.length]

    @property
    def groups(self) -> int:
        """Return the number of heads that share a key-value head."""
        return self.call.query.shape[1] // self.keys.tensor.shape[1]

    def tensors(self) -> Iterator[Tensor]:
        """Yield every tensor that the call keeps in memory."""
        found = (self.call.query, self.keys.tensor, self.value, self.call.mask, self.call.bias, self.call.sinks)
        yield from (tensor for tensor in found if tensor is not None)

    def weights(self, samples: Kept, heads: Kept, rows: Kept) -> Tensor:
        """Compute the attention weights of the given samples, heads and queries (``rows``).

        The shape is (sample, head, query, key) float32.
        """
        with torch.no_grad():
            return weigh(self.block(samples, heads, rows))

    def scores(self, samples: Kept, heads: Kept, rows: Kept) -> Tensor:
        """Compute the scores, the input of the softmax, of the given samples, heads and queries (``rows``).

        The shape is (sample, head, query, key) float32; masked pairs are minus infinity.
        """
        with torch.no_grad():
            return compute_scores(self.block(samples, heads, rows))

    def whole(self) -> AttentionCall:
        """Return the whole call with its keys, its values and an explicit mask."""
        samples, heads, queries, _ = self.shape
        call = self.block(range(samples), range(heads), range(queries))
        return call if self.value is None else replace(call, key=self.key, value=self.value)

    def block(self, samples: Kept, heads: Kept, rows: Kept) -> AttentionCall:
        """Return the call restricted to the given samples, heads and queries, with an explicit mask."""
        call, key_heads = self.call, [head // self.groups for head in heads]
        sinks = None if call.sinks is None else call.sinks.reshape(-1, self.shape[1])[:, list(heads)]
        if sinks is not None and len(sinks) > 1:
            sinks = sinks[list(samples)]
        mask = self._mask
        bias = None if call.bias is None else _pick(call.bias, samples, heads, rows)[..., : self.length]
        return replace(
            call,
            query=_pick(call.query, samples, heads, rows),
            key=_pick(self.key, samples, key_heads, range(self.length)),
            mask=None if mask is None else _pick(mask, samples, heads, rows),
            bias=bias,
            sinks=sinks,
            causal=False,
        )

    def visible_pairs(self) -> Tensor:
        """Return flags (sample, query, key): True if the mask allows the pair in at least one head."""
        samples, _, queries, keys = self.shape
        mask = self._mask
        if mask is None:
            return torch.ones(samples, queries, keys, dtype=torch.bool)
        pairs = mask if mask.dtype == torch.bool else mask > -torch.inf
        return pairs.any(1).expand(samples, queries, keys).cpu()

    def dense_mask(self) -> Tensor | None:
        """Return the mask of flex attention as booleans (sample, 1, query, key); None for other functions."""
        return None if self.block_mask is None else _dense(self.block_mask, self.shape, self.call.query.device)

    @cached_property
    def _mask(self) -> Tensor | None:
        """Return the mask (sample or 1, head or 1, query or 1, key), which is minus infinity if additive, or None."""
        _, _, queries, keys = self.shape
        mask, device = self.call.mask, self.call.query.device
        if self.block_mask is not None:
            return self.dense_mask()
        if self.kernel == "flash":
            return _flash_mask(self.call, keys, self.window)
        if mask is None:
            causal = self.kernel == "sdpa" and self.call.causal and queries > 1
            return _triangle(queries, keys, 0, device)[None, None] if causal else None
        mask = mask[..., :keys]
        if mask.dtype == torch.bool:
            return mask
        return mask.masked_fill(mask <= torch.finfo(mask.dtype).min / 2, -torch.inf)


def _pick(tensor: Tensor, samples: Kept, heads: Kept, rows: Kept) -> Tensor:
    """Index the first three axes; an axis of length 1 is shared by all indices."""
    for axis, places in enumerate((samples, heads, rows)):
        length = tensor.shape[axis]
        if length == 1 or list(places) == list(range(length)):
            continue
        steady = list(places) == list(range(places[0], places[-1] + 1)) if len(places) else False
        if steady:
            tensor = tensor.narrow(axis, places[0], len(places))
        else:
            tensor = tensor.index_select(axis, torch.tensor(list(places), dtype=torch.long, device=tensor.device))
    return tensor


def _triangle(queries: int, keys: int, shift: int, device: torch.device) -> Tensor:
    """Return True for keys at or before ``query + shift``, shape (query, key)."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(shift)


def _flash_mask(call: AttentionCall, keys: int, window: int | None) -> Tensor:
    """Return the mask of a flash kernel, which gets the padding (sample, key) and aligns the last query and key."""
    padding, queries, causal, device = call.mask, call.query.shape[2], call.causal, call.query.device
    pairs = torch.ones(1, 1, queries, keys, dtype=torch.bool, device=device)
    if causal:
        pairs &= _triangle(queries, keys, keys - queries, device)
    if window is not None:
        last = torch.arange(queries, device=device)[:, None] + keys - queries
        distance = last - torch.arange(keys, device=device)[None, :]
        pairs &= (distance < window) if causal else (distance.abs() < window)
    if padding is not None:
        pairs = pairs & padding[:, None, None, -keys:].bool()
    return pairs


def _dense(mask: Any, shape: tuple[int, int, int, int], device: torch.device) -> Tensor:
    """Return the pairs that a block mask of flex attention allows, (sample, 1, query, key) bool."""
    from torch.nn.attention.flex_attention import create_mask

    samples, _, queries, keys = shape
    with torch.no_grad():
        found: Tensor = create_mask(mask.mask_mod, samples, 1, queries, keys, device=str(device))
    return found


def keep_tensors(query: Tensor, key: Tensor, value: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the tensors without gradients; copy each that is a small view of a large storage."""
    given = (query, key) if value is None else (query, key, value)
    kept = compact_tensors(*(tensor.detach() for tensor in given))
    return kept[0], kept[1], kept[2] if len(kept) > 2 else None
