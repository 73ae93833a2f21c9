"""A recording of the attention of a model's passes; attention weights are computed when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attention.trace import PARTS
from inference.record.kept_call import KeptCall
from inference.record.recorder import KeptPass, PassStore, count_bytes

Choice = int | slice | Sequence[int] | None  # an index drops its axis; None is the whole axis
Stack = Literal["encoder", "decoder", "cross"]
SEVERAL = "This recording has {count} calls, and layers needs exactly 1. Use calls[i].layers."
NO_CALLS = (
    "This recording has 0 calls, and layers needs exactly 1. Run the recorded model inside the block, in its thread."
)
DROPPED = "Call {call} was dropped to save memory; calls {first} to {last} are kept."
NO_CALL = "Call {call} came; this recording has {count} calls, counted from 0."
NO_STACK = 'This call has no stack "{stack}"; it has {stacks}.'
NO_INDEX = "{axis}={index} came; {module} has {axis}s 0 to {last}."
NO_VALUES = "The values were not kept. Record with values=True."


class RecordedLayer:
    """The attention of a layer in a recorded call.

    Each method takes ``sample``, ``head``, ``query`` and ``key`` if its result has these axes. An index drops its axis,
    a slice or a list of indices selects from it, and None, the default, keeps it.
    """

    def __init__(self, kept: KeptCall, stack: str) -> None:
        self._kept = kept
        self.stack = stack

    @property
    def path(self) -> str:
        """Return the path of the attention module in the model."""
        return self._kept.call.path

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return the shape of ``weights()``: (sample, head, query, key)."""
        return self._kept.shape

    @property
    def scale(self) -> float:
        """Return the factor by which products of queries and keys are multiplied, such as 1 / √(channels of a head)."""
        return self._kept.call.scale

    def weights(
        self, head: Choice = None, sample: Choice = None, *, query: Choice = None, key: Choice = None
    ) -> Tensor:
        """Compute attention weights, (sample, head, query, key) float32, on the model's device.

        They are the weights before dropout. A row sums to one, or to less with attention sinks. A query whose keys are
        all masked, such as left padding in a decoder, has a row of zeros.
        """
        return self._pick("weights", head, sample, query, key)

    def scores(self, head: Choice = None, sample: Choice = None, *, query: Choice = None, key: Choice = None) -> Tensor:
        """Compute the input of the softmax, (sample, head, query, key) float32; masked pairs are minus infinity."""
        return self._pick("scores", head, sample, query, key)

    def entropy(self, head: Choice = None, sample: Choice = None, *, query: Choice = None) -> Tensor:
        """Compute the entropy of each row, (sample, head, query) float32, in nats; 0 for a row of zeros."""
        entropy: Tensor = torch.special.entr(self.weights(head, sample, query=query)).sum(-1)
        return entropy

    def top(self, k: int, head: Choice = None, sample: Choice = None, *, query: Choice = None) -> tuple[Tensor, Tensor]:
        """Return the ``k`` largest weights of each row, in descending order, and the indices of their keys.

        Both tensors have the shape (sample, head, query, k).
        """
        weights = self.weights(head, sample, query=query)
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= weights.shape[-1]:
            raise ValueError(f"k={k!r} came; expected a number from 1 to {weights.shape[-1]}.")
        found = weights.topk(k, dim=-1)
        return found.values, found.indices

    def tile(self, queries: slice, keys: slice, head: Choice = None, sample: Choice = None) -> Tensor:
        """Compute a block of the weights, (sample, head, query, key) float32, without the rest of the map."""
        return self.weights(head, sample, query=queries, key=keys)

    def query(self, head: Choice = None, sample: Choice = None) -> Tensor:
        """Return the query vectors after rotary positions, (sample, head, query, channel), in the model's precision."""
        return self._vectors(self._kept.call.query, head, sample)

    def key(self, head: Choice = None, sample: Choice = None) -> Tensor:
        """Return the key vectors that each head uses, (sample, head, key, channel), in the model's precision."""
        return self._vectors(self._kept.key.repeat_interleave(self._kept.groups, 1), head, sample)

    def value(self, head: Choice = None, sample: Choice = None) -> Tensor:
        """Return the value vectors that each head uses, (sample, head, key, channel); needs ``values=True``."""
        if self._kept.value is None:
            raise ValueError(NO_VALUES)
        return self._vectors(self._kept.value.repeat_interleave(self._kept.groups, 1), head, sample)

    def visible_pairs(self) -> Tensor:
        """Return flags (sample, query, key): True if the mask allows the pair in at least one head."""
        return self._kept.visible_pairs()

    def to_numpy(self, head: Choice = None, sample: Choice = None) -> npt.NDArray[np.float32]:
        """Return the weights as an array, (sample, head, query, key) float32."""
        array: npt.NDArray[np.float32] = self.weights(head, sample).cpu().numpy()
        return array

    def _pick(self, kind: str, head: Choice, sample: Choice, query: Choice, key: Choice) -> Tensor:
        kept = self._kept
        names = ("sample", "head", "query", "key")
        choices = [self._indices(name, choice) for name, choice in zip(names, (sample, head, query, key), strict=True)]
        found: Tensor = getattr(kept, kind)(*choices[:3])
        if key is not None:
            found = found[..., choices[3]]
        dropped = [isinstance(choice, int) for choice in (sample, head, query, key)]
        return found[tuple(0 if drop else slice(None) for drop in dropped)]

    def _vectors(self, vectors: Tensor, head: Choice, sample: Choice) -> Tensor:
        samples, heads = self._indices("sample", sample), self._indices("head", head)
        found = vectors[samples][:, heads]
        return found[tuple(0 if isinstance(choice, int) else slice(None) for choice in (sample, head))]

    def _indices(self, axis: str, choice: Choice) -> list[int]:
        """Return the indices that a choice selects; raise IndexError if the axis lacks any of them."""
        length = self.shape[("sample", "head", "query", "key").index(axis)]
        if choice is None or isinstance(choice, slice):
            return list(range(length))[choice or slice(None)]
        listed = [choice] if isinstance(choice, int) else [int(index) for index in choice]
        for index in listed:
            if not -length <= index < length or isinstance(choice, bool):
                raise IndexError(NO_INDEX.format(axis=axis, index=index, module=self.path, last=length - 1))
        return [index % length for index in listed]

    def __repr__(self) -> str:
        samples, heads, queries, keys = self.shape
        return f"<{self.path}: {samples} samples × {heads} heads × {queries} queries × {keys} keys>"


class RecordedCall:
    """The attention of a recorded pass of the model.

    ``stacks`` maps "encoder", "decoder" and "cross" (cross-attention) to their layers, if they ran.
    """

    def __init__(self, kept: KeptPass) -> None:
        self._kept = kept
        layers: dict[str, list[RecordedLayer]] = {}
        for call, stack in zip(kept.calls, kept.stacks, strict=True):
            layers.setdefault(stack, []).append(RecordedLayer(call, stack))
        self.stacks: Mapping[str, tuple[RecordedLayer, ...]] = {
            stack: tuple(layers[stack]) for stack in PARTS if stack in layers
        }

    @property
    def layers(self) -> tuple[RecordedLayer, ...]:
        """Return the layers of the encoder, or of the decoder if the encoder did not run."""
        return next(iter(self.stacks.values()))

    @property
    def encoder(self) -> tuple[RecordedLayer, ...]:
        """Return the layers of the encoder."""
        return self._stack("encoder")

    @property
    def decoder(self) -> tuple[RecordedLayer, ...]:
        """Return the layers of the decoder's self-attention."""
        return self._stack("decoder")

    @property
    def cross(self) -> tuple[RecordedLayer, ...]:
        """Return the layers of the attention from the decoder to the encoder."""
        return self._stack("cross")

    @property
    def inputs(self) -> Mapping[str, Tensor]:
        """Return token ids and masks of the call, by the names of the model's arguments."""
        return self._kept.inputs

    def _stack(self, stack: Stack) -> tuple[RecordedLayer, ...]:
        if stack not in self.stacks:
            raise ValueError(NO_STACK.format(stack=stack, stacks=", ".join(self.stacks)))
        return self.stacks[stack]


class RecordedCalls(Sequence[RecordedCall]):
    """The recorded calls of a model, counted from 0; calls that were dropped raise IndexError."""

    def __init__(self, store: PassStore) -> None:
        self._store = store

    def __len__(self) -> int:
        return self._store.dropped + len(self._store.passes)

    def __getitem__(self, call: Any) -> Any:
        """Return a call, or a list of calls for a slice."""
        count, dropped = len(self), self._store.dropped
        if isinstance(call, slice):
            return [self[at] for at in range(*call.indices(count)) if at >= dropped]
        at = call + count if call < 0 else call
        if not 0 <= at < count:
            raise IndexError(NO_CALL.format(call=call, count=count))
        if at < dropped:
            raise IndexError(DROPPED.format(call=call, first=dropped, last=count - 1))
        return RecordedCall(self._store.passes[at - dropped])

    def __iter__(self) -> Iterator[RecordedCall]:
        """Yield the calls that are kept."""
        yield from map(RecordedCall, self._store.passes)


class AttentionRecording:
    """The attention of every recorded pass of a model, with the weights computed when they are read."""

    def __init__(self, store: PassStore) -> None:
        self._store = store

    @property
    def calls(self) -> RecordedCalls:
        """Return the calls, one for each pass; with ``generate``, one for each step."""
        return RecordedCalls(self._store)

    @property
    def call(self) -> RecordedCall:
        """Return the recorded call of the model; raise ValueError with the number of calls unless it is exactly one."""
        passes = self._store.passes
        if len(passes) != 1:
            raise ValueError(SEVERAL.format(count=len(self.calls)) if passes else NO_CALLS)
        return RecordedCall(passes[0])

    @property
    def layers(self) -> tuple[RecordedLayer, ...]:
        """Return the layers of the recorded call; raise ValueError unless exactly one call of the model is recorded."""
        return self.call.layers

    @property
    def encoder(self) -> tuple[RecordedLayer, ...]:
        """Return the encoder's layers; raise ValueError unless exactly one call of the model is recorded."""
        return self.call.encoder

    @property
    def decoder(self) -> tuple[RecordedLayer, ...]:
        """Return the decoder's layers; raise ValueError unless exactly one call of the model is recorded."""
        return self.call.decoder

    @property
    def cross(self) -> tuple[RecordedLayer, ...]:
        """Return the cross-attention layers; raise ValueError unless exactly one call of the model is recorded."""
        return self.call.cross

    @property
    def nbytes(self) -> int:
        """Return the memory of the recorded tensors in bytes; shared memory counts once."""
        return count_bytes(self._store.passes)

    def __repr__(self) -> str:
        return f"<Attention of {self._store.architecture}: {len(self.calls)} calls, {self.nbytes:,} bytes>"
