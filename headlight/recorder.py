"""The function ``record``, which records a model's attention while your code runs the model, and its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.tokens import TokenRow
from attention.trace import Trace
from headlight.token_rows import row
from inference.record.recorder import KeptPass, PassStore, Recorder
from inference.record.recording import AttentionRecording, RecordedCall, RecordedCalls, RecordedLayer
from inference.record.recording_file import read_recording, write_recording
from inference.record.recording_trace import trace_sample

if TYPE_CHECKING:
    from headlight.notebook import Shown

__all__ = ["ModelRecording", "RecordedCall", "RecordedCalls", "RecordedLayer", "load_recording", "record"]


class ModelRecording(AttentionRecording):
    """The attention of a model's recorded calls.

    It can be read as weights, a trace, a view for notebooks, or arrays, and saved to a file.
    """

    def trace(
        self, sample: int = 0, call: int | None = None, *, tokenizer: Any = None, tokens: Sequence[str] | None = None
    ) -> Trace:
        """Return the trace of a sample (a row of the batch), without padding.

        ``call`` is the index of a call of the model. By default it is the only call, or all steps of a generation.
        Tokens are named by ``tokenizer``, or by ``tokens`` (names for the first text), or else by their ids. A trace
        has queries, keys and values if they were recorded with ``values=True``, and otherwise finished maps.
        """
        passes = self._passes(call)

        def name_tokens(ids: Sequence[int | None]) -> tuple[TokenRow, str]:
            return _name_tokens(ids, tokenizer, None)

        names = iter([tokens])

        def name_first(ids: Sequence[int | None]) -> tuple[TokenRow, str]:
            given = next(names, None)
            return name_tokens(ids) if given is None else _name_tokens(ids, None, given)

        return trace_sample(self._store, passes, sample, name_first)

    def view(
        self,
        sample: int = 0,
        call: int | None = None,
        *,
        tokenizer: Any = None,
        tokens: Sequence[str] | None = None,
        focus: Any = None,
    ) -> Shown:
        """Return the trace of a sample for display in a notebook.

        ``focus`` is the word or token that is selected at first; for the other arguments see ``trace``.
        """
        from headlight.notebook import Shown

        return Shown(self.trace(sample, call, tokenizer=tokenizer, tokens=tokens), focus)

    def to_numpy(self, call: int | None = None) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """Return the attention weights of a call by stack, (layer, sample, head, query, key) float32.

        ``call`` is the index of the call; by default it is the only call.
        """
        found = self.call if call is None else self.calls[call]
        return {stack: np.stack([layer.to_numpy() for layer in layers]) for stack, layers in found.stacks.items()}

    def with_axes(self, stack: str | None = None, call: int | None = None) -> Mapping[str, Any]:
        """Return the attention weights of a stack with named axes, as arguments for ``xarray.DataArray``.

        By default, ``stack`` is the first stack, and ``call`` the only call.
        """
        arrays = self.to_numpy(call)
        name = next(iter(arrays)) if stack is None else stack
        dims = ("layer", "sample", "head", "query", "key")
        sizes = zip(dims, arrays[name].shape, strict=True)
        return {"data": arrays[name], "dims": dims, "coords": {dim: np.arange(size) for dim, size in sizes}}

    def save(self, path: str | Path) -> Path:
        """Write the kept calls to a safetensors file and return its path; ``load_recording`` reads the file."""
        return write_recording(self._store, Path(path))

    def _passes(self, call: int | None) -> list[KeptPass]:
        if call is None:
            if not self._store.passes:
                self.call  # noqa: B018  # raises the error for a recording without calls
            return self._store.passes
        self.calls[call]  # raises IndexError if the call is missing or dropped
        at = call + len(self.calls) if call < 0 else call
        return [self._store.passes[at - self._store.dropped]]


@contextmanager
def record(
    model: Any, *, keep: str = "all", max_bytes: int | None = None, values: bool = False
) -> Iterator[ModelRecording]:
    """Inside the block, record the attention of every call of a model in memory, made by this thread.

    ``keep`` is "all" or "last": the calls to keep. ``max_bytes`` limits the memory of kept calls. The oldest calls are
    then dropped; a single larger call raises ValueError. If ``values`` is set, value vectors are kept, too. The model
    and its outputs are not changed. Raise ValueError for a model whose attention cannot be recorded.

    >>> import torch
    >>> from transformers import BertConfig, BertModel
    >>> config = BertConfig(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32)
    >>> model = BertModel(config).eval()
    >>> with record(model) as recording:
    ...     output = model(torch.tensor([[5, 6, 7, 8]]))
    >>> recording.layers[1].weights(head=2, sample=0).shape
    torch.Size([4, 4])
    """
    recorder = Recorder(model, keep=keep, max_bytes=max_bytes, values=values)
    with recorder.recording():
        yield ModelRecording(recorder.store)


def load_recording(path: str | Path) -> ModelRecording:
    """Load a recording from a file that ``ModelRecording.save`` wrote; raise ValueError if it is not valid."""
    store: PassStore = read_recording(Path(path))
    return ModelRecording(store)


def _name_tokens(ids: Sequence[int | None], tokenizer: Any, tokens: Sequence[str] | None) -> tuple[TokenRow, str]:
    """Return the tokens of ids and the text that they spell."""
    if tokens is not None:
        if len(tokens) != len(ids):
            raise ValueError(f"{len(tokens)} tokens came; the sample has {len(ids)} without its padding.")
        names = list(tokens)
    elif tokenizer is not None and None not in ids:
        names = [str(name) for name in tokenizer.convert_ids_to_tokens(list(ids))]
    else:
        names = [f"#{at}" if number is None else str(number) for at, number in enumerate(ids)]
    special = None if tokenizer is None else [name for name in tokenizer.all_special_tokens if name in names] or None
    found, (text, _) = row(names, None, special)
    return found, text
