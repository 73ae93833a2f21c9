"""The arguments of a single attention call, and the spans of real tokens in a padded batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError

CROSS = re.compile(r"(^|\.)(encoder_attn|encdecattention|crossattention|cross_attn)(\.|$)", re.IGNORECASE)
DECODER = re.compile(r"(^|\.)decoder\.")
PICTURE = re.compile(r"(^|\.)(vision_model|vision_tower|visual)\.")


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """The arguments of an attention call.

    ``lse`` is the log-sum-exp of each query's scores, or None if the kernel does not return it.
    """

    path: str
    query: Tensor  # (batch, head, query, channel)
    key: Tensor  # (batch, kv_head, key, channel)
    value: Tensor  # (batch, kv_head, key, channel)
    mask: Tensor | None  # (batch or 1, head or 1, query, key), bool or additive
    bias: Tensor | None  # (batch or 1, head, query, key)
    scale: float
    causal: bool  # the module's is_causal, which masks nothing for a single query
    softcap: float | None
    sinks: Tensor | None  # (head,), or (batch, head) if an edit removed some of them
    lse: Tensor | None = None  # (batch, head, query)

    @property
    def looks_back(self) -> bool:
        """Return True if only ``causal`` hides later keys: there are several queries but no explicit mask."""
        return self.causal and self.mask is None and self.query.shape[2] > 1


@dataclass(eq=False)
class Repeats:
    """A counter of consecutive attention calls with the same queries and keys but other values.

    DiffLlama makes a separate call for each half of its values, with the same query and key tensors. Layers that share
    a module, as in ALBERT, may have equal queries and keys, but never the same tensor objects.
    """

    number: int = 0
    last: tuple[ref[Tensor] | None, ...] = field(default=(), repr=False)  # weak, so that the pass can free its tensors

    def count(self, call: AttentionCall) -> int:
        """Return the number of calls directly before ``call`` with the same queries, keys and mask.

        Call this method exactly once for each attention call.
        """
        given = (call.query, call.key, call.mask, call.bias, call.sinks)
        same = len(self.last) == len(given) and all(
            tensor is None if before is None else before() is tensor and tensor is not None
            for before, tensor in zip(self.last, given, strict=True)
        )
        self.number = self.number + 1 if same else 0
        self.last = tuple(None if tensor is None else ref(tensor) for tensor in given)
        return self.number


def part_namer(model: Any) -> Callable[[AttentionCall], str]:
    """Return a function that names the stack of an attention call: "encoder", "decoder" or "cross".

    The function decides by the path of the attention module, or by ``causal`` if the model has a single stack. In a
    model of pictures and texts, the vision model is the encoder.
    """
    two = bool(getattr(model.config, "is_encoder_decoder", False))
    sees = hasattr(model.config, "vision_config") and not two

    def name(call: AttentionCall) -> str:
        if CROSS.search(call.path):
            return "cross"
        if sees:
            return "encoder" if PICTURE.search(call.path) else "decoder"
        return "decoder" if (DECODER.search(call.path) if two else call.causal) else "encoder"

    return name


def part_names(model: Any, calls: Sequence[AttentionCall]) -> list[str]:
    """Return the stack of each attention call: "encoder", "decoder" or "cross"."""
    return list(map(part_namer(model), calls))


def refuse_uneven(model: Any, by_part: Mapping[str, Sequence[int]]) -> None:
    """Raise UserError if the layers of a stack differ in their number of heads, as after pruning."""
    for part, heads in by_part.items():
        if len(set(heads)) > 1:
            raise UserError(
                gettext_lazy(
                    "{name} cannot be traced: the layers of its {part} have {heads} heads. Load the unpruned model.",
                    name=type(model).__name__,
                    part=part,
                    heads=", ".join(map(str, heads)),
                )
            )


def place(tensor: Tensor | None) -> tuple[Any, ...]:
    """Return a key for a tensor; two tensors have equal keys if they are the same view of the same memory.

    The key of None is ().
    """
    return () if tensor is None else (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)


def compact_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return the tensors; copy each that is a small view of a large storage, so that the storage can be freed.

    An example is the slice of the queries in a fused projection. Tensors that together cover at least two thirds of
    their storage are not copied.
    """
    shown: dict[int, int] = {}
    for tensor in tensors:
        memory = tensor.untyped_storage().data_ptr()
        shown[memory] = shown.get(memory, 0) + tensor.nbytes
    return tuple(
        tensor.clone() if storage.nbytes() > 1.5 * shown[storage.data_ptr()] else tensor
        for tensor, storage in ((tensor, tensor.untyped_storage()) for tensor in tensors)
    )


@dataclass(frozen=True)
class Spans:
    """The positions of the real tokens, without padding, in a padded batch of texts.

    ``width`` is the padded length of the texts, and ``places`` has the slice of each text's real tokens.
    """

    width: int
    places: tuple[slice, ...]

    def cut(self, sample: int, length: int) -> slice:
        """Return the slice of a text's real tokens, without padding, on an axis of ``length`` entries.

        ``sample`` is the index of the text. If ``length`` is not the padded length, the entries are not these tokens
        but, for example, patches of a picture; then return the whole axis.

        >>> Spans(7, (slice(2, 7),)).cut(0, 7), Spans(7, (slice(2, 7),)).cut(0, 10)
        (slice(2, 7, None), slice(0, 10, None))
        """
        return self.places[sample] if length == self.width else slice(0, length)


Pair = tuple[Spans | None, Spans | None]  # source and target; None if nothing is padded


def with_mask(inputs: dict[str, Tensor], lengths: Sequence[int] | None) -> dict[str, Tensor]:
    """Return the model's inputs with an attention mask for texts of these ``lengths``.

    Inputs that have a mask, or no padding, are returned unchanged. Without the mask, tokens would attend to the
    padding.
    """
    ids = inputs.get("input_ids")
    if lengths is None or ids is None or "attention_mask" in inputs or all(n == ids.shape[1] for n in lengths):
        return inputs
    places = torch.arange(ids.shape[1], device=ids.device)
    return inputs | {"attention_mask": (places < torch.tensor(lengths, device=ids.device)[:, None]).long()}


def both_spans(inputs: dict[str, Tensor], lengths: Sequence[int] | None, target_lengths: Sequence[int] | None) -> Pair:
    """Return the spans of real tokens of source and target in a padded batch.

    For a model that reads a single text, the two spans are equal. Raise ValueError for an empty text, and for lengths
    that do not fit the inputs.
    """
    one = _spans(inputs, "input_ids", "attention_mask", lengths)
    if "encoder_hidden_states" in inputs:  # a separate decoder, which reads the hidden states of another model
        return _spans(inputs, "encoder_hidden_states", "encoder_attention_mask", None), one
    if any(name.startswith("decoder_") for name in inputs):
        return one, _spans(inputs, "decoder_input_ids", "decoder_attention_mask", target_lengths)
    return one, one


def _spans(inputs: dict[str, Tensor], tokens_name: str, mask_name: str, lengths: Sequence[int] | None) -> Spans | None:
    mask, tokens = inputs.get(mask_name), inputs.get(tokens_name)
    if mask is not None:
        found = _spans_from_mask(mask, mask_name)
        if lengths is not None and [place.stop - place.start for place in found.places] != list(lengths):
            real = [place.stop - place.start for place in found.places]
            raise ValueError(f"The lengths {list(lengths)} came, but {mask_name} has {real} real tokens.")
        return found
    if lengths is None:
        return None
    if tokens is None:
        raise ValueError(f"The lengths {list(lengths)} came, but there are no {tokens_name} whose tokens they count.")
    batch, width = tokens.shape[:2]
    if len(lengths) != batch or not all(0 < length <= width for length in lengths):
        raise ValueError(
            f"The lengths {list(lengths)} came for {tokens_name} of shape {batch} x {width}; "
            f"{batch} numbers from 1 to {width} were expected."
        )
    return Spans(width, tuple(slice(0, length) for length in lengths))


def _spans_from_mask(mask: Tensor, name: str) -> Spans:
    if mask.ndim != 2:
        raise ValueError(f"{name} of shape {tuple(mask.shape)} came; (text, token) was expected.")
    real = [row.nonzero().flatten().tolist() for row in mask]
    empty = [sample for sample, places in enumerate(real) if not places]
    if empty:
        raise ValueError(f"Text {empty[0]} of the batch is empty: {name} is 0 for all of its tokens. Leave it out.")
    return Spans(mask.shape[1], tuple(slice(places[0], places[-1] + 1) for places in real))
