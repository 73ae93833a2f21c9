"""The trace: a text as read by a model, with all data needed to compute any of its attention maps.

A trace is immutable and a pure function of (model and revision, text, pair or target, edits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.head_names import describe_missing_head
from attention.mask import FloatArray
from attention.pictures import Picture
from attention.record import AnyRecord, MapRecord, NoAttention, Record, Unavailable, first_attending
from attention.tokens import TokenRow
from i18n import LazyMessage, gettext_lazy

PARTS = ("encoder", "decoder", "cross")
SIGNED = gettext_lazy("This needs weights whose rows sum to one, not signed numbers.")
PART_NAMES = {
    "encoder": gettext_lazy("encoder"),
    "decoder": gettext_lazy("decoder"),
    "cross": gettext_lazy("cross"),
}


def without_attention(layer: int, attending: Sequence[int]) -> LazyMessage:
    """Return the message that a layer has no attention; it lists the ``attending`` layers."""
    return gettext_lazy(
        "Layer {layer} has no attention. Pick one of {layers}.",
        layer=layer,
        layers=", ".join(str(other) for other in attending),
    )


def attention_everywhere(layers: int, attending: Sequence[int]) -> LazyMessage | None:
    """Return the message that a feature needs attention in every layer; None if every layer has attention.

    ``attending`` lists the layers that have attention.
    """
    missing = [layer for layer in range(layers) if layer not in attending]
    if not missing:
        return None
    return gettext_lazy(
        "These layers have no attention: {layers}. Pick another model.",
        layers=", ".join(str(layer) for layer in missing),
    )


@dataclass(frozen=True)
class ModelId:
    """Identity of a model: name, commit (for models of the hub), kind and class name.

    ``weights`` is the SHA-256 of the weights file if there is no commit.
    """

    name: str
    revision: str | None
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    architecture: str
    weights: str | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """The attention of every layer and head of a model on a text; layers and heads count from 0.

    ``parts`` maps each stack ("encoder", "decoder", "cross") to the records of its layers. A decoder-only model has its
    text in ``source`` and the stack "decoder". Methods take a stack as ``part``; the default is the first that exists.
    """

    id: str  # SHA-256 of the request
    model: ModelId
    text: str
    pair: str | None
    source: TokenRow
    target: TokenRow | None
    parts: Mapping[str, tuple[AnyRecord, ...]]
    target_text: str | None = None
    picture: Picture | None = None  # the original picture; source.grid locates its patches

    whole: int | None = None  # number of tokens before truncation; None if the text was not truncated

    @property
    def truncated(self) -> str:
        """Return how much of a truncated text was read, such as "512 of 3,002 tokens", else ""."""
        if self.whole is None:
            return ""
        return gettext_lazy("{read:,} of {whole:,} tokens", read=len(self.source), whole=self.whole)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the tokens of the source text."""
        return self.source.pieces

    @property
    def layers(self) -> int:
        """Return the number of layers of the first stack."""
        return len(self.records())

    @property
    def heads(self) -> int:
        """Return the number of heads per layer of the first stack."""
        return self.records()[0].heads

    @property
    def part(self) -> str:
        """Return the name of the first stack, which is the default."""
        return next(name for name in PARTS if name in self.parts)

    def records(self, part: str | None = None) -> tuple[AnyRecord, ...]:
        """Return the records of all layers of a stack; raise Unavailable if the trace lacks it."""
        name = part or self.part
        if name not in self.parts:
            raise Unavailable(
                gettext_lazy("There is no part “{part}”, only {parts}.", part=name, parts=", ".join(sorted(self.parts)))
            )
        return self.parts[name]

    def token_rows(self, part: str | None = None) -> tuple[TokenRow, TokenRow]:
        """Return the tokens of the queries, and the tokens of the keys."""
        name = part or self.part
        queries = self.source if name == "encoder" or self.target is None else self.target
        keys = self.source if name in ("encoder", "cross") or self.target is None else self.target
        return queries, keys

    def has_qkv(self, part: str | None = None) -> bool:
        """Return True if queries, keys, values and scores were recorded, not only attention maps."""
        records = self.records(part)
        return isinstance(first_attending(records), Record) and not any(isinstance(r, MapRecord) for r in records)

    def attending(self, part: str | None = None) -> tuple[int, ...]:
        """Return the layers that have attention; models such as Jamba have layers without it."""
        return tuple(at for at, record in enumerate(self.records(part)) if not isinstance(record, NoAttention))

    def is_signed(self, part: str | None = None) -> bool:
        """Return True if the maps hold signed values, such as attributions, instead of weights."""
        return any(isinstance(record, MapRecord) and record.signed for record in self.records(part))

    def shares(self, part: str | None = None) -> tuple[AnyRecord, ...]:
        """Return the records of a stack; raise Unavailable if its maps hold signed values instead of weights."""
        if self.is_signed(part):
            raise Unavailable(SIGNED)
        return self.records(part)

    def weights(self, layer: int, head: int, part: str | None = None) -> FloatArray:
        """Return the attention weights of a head, shape (query, key) float32; rows sum to at most one."""
        return self._record(layer, head, part).weights(head)

    def scores(self, layer: int, head: int, part: str | None = None) -> FloatArray:
        """Return the input of the softmax, shape (query, key) float32, scaled and with bias; masked pairs are -inf."""
        return self._record(layer, head, part).scores(head)

    def query(self, layer: int, head: int, part: str | None = None) -> FloatArray:
        """Return the query vectors after rotary positions, shape (query, channel) float32."""
        vectors: FloatArray = self._qkv(layer, head, part).query[head]
        return vectors

    def key(self, layer: int, head: int, part: str | None = None) -> FloatArray:
        """Return the key vectors of the head's key-value head after rotary positions, shape (key, channel) float32."""
        record = self._qkv(layer, head, part)
        vectors: FloatArray = record.key[record.kv_head(head)]
        return vectors

    def value(self, layer: int, head: int, part: str | None = None) -> FloatArray:
        """Return the value vectors of the head's key-value head, shape (key, channel) float32."""
        record = self._qkv(layer, head, part)
        vectors: FloatArray = record.value[record.kv_head(head)]
        return vectors

    def rows(self, query: int, part: str | None = None) -> FloatArray:
        """Return the weights of the query token ``query`` in every head, shape (layer, head, key) float32.

        Raise IndexError if the token does not exist.
        """
        index = np.array([query])
        records = self.records(part)
        if not 0 <= query < records[0].queries:
            raise IndexError(
                gettext_lazy(
                    "There is no token {token}; tokens are 0 to {last}.",
                    token=query,
                    last=records[0].queries - 1,
                )
            )
        return np.stack([[r.weights(head, index)[0] for head in range(r.heads)] for r in records])

    def quick(self) -> Trace:
        """Return a copy that reuses the log-sum-exp of each score row from the forward pass (``Record.quick``)."""
        parts = {part: tuple(record.quick() for record in records) for part, records in self.parts.items()}
        return replace(self, parts=parts)

    @property
    def nbytes(self) -> int:
        """Return the maximum memory of arrays, picture and cached sums in bytes; shared arrays count once."""
        records = [record for layers in self.parts.values() for record in layers]
        arrays = {id(array): array.nbytes for record in records for array in record.arrays()}
        seen = 0 if self.picture is None else self.picture.nbytes
        return seen + sum(arrays.values()) + sum(record.sums_nbytes for record in records)

    def _record(self, layer: int, head: int, part: str | None) -> AnyRecord:
        records = self.records(part)
        if not 0 <= layer < len(records) or not 0 <= head < records[layer].heads:
            raise IndexError(describe_missing_head(layer, head, len(records), records[0].heads))
        if isinstance(records[layer], NoAttention):
            raise Unavailable(without_attention(layer, self.attending(part)))
        return records[layer]

    def _qkv(self, layer: int, head: int, part: str | None) -> Record:
        record = self._record(layer, head, part)
        if not isinstance(record, Record):
            raise Unavailable(
                gettext_lazy(
                    "{architecture} reports attention maps only. Try BERT or GPT-2.",
                    architecture=self.model.architecture,
                )
            )
        return record
