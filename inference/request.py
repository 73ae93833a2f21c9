"""Immutable requests to a backend, and their hash keys."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attention.edits import Edit
from attention.pictures import Picture

_SCHEMA = 1  # increase it if the same request would give another answer


def key_of(value: Any) -> str:
    """Return the SHA-256 of a dataclass as canonical JSON, 64 hexadecimal digits.

    Texts with lone surrogates (invalid Unicode) are allowed.

    >>> from inference.request import TraceRequest
    >>> key_of(TraceRequest(text="a")) == key_of(TraceRequest(text="a")) != key_of(TraceRequest(text="b"))
    True
    """
    stated = {"schema": _SCHEMA, **to_json_value(value)}
    canonical = json.dumps(stated, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def to_json_value(value: Any, outermost: bool = True) -> Any:
    """Convert a dataclass or another value to JSON types.

    A nested dataclass (``outermost`` False) also states its class, because classes may have equal fields. A picture is
    represented by its key.
    """
    if isinstance(value, Picture):
        return {"picture": value.key}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {field.name: to_json_value(getattr(value, field.name), False) for field in dataclasses.fields(value)}
        return found if outermost else {"edit": type(value).__name__, **found}
    if isinstance(value, tuple | list):
        return [to_json_value(entry, False) for entry in value]
    return value


def size_of(value: Any) -> int:
    """Estimate the bytes of memory that a value takes, including its arrays, texts and nested values.

    >>> import numpy as np
    >>> size_of((np.zeros(1000), "abc")) > 8000
    True
    """
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes + 100
    if isinstance(value, str | bytes):
        return 50 + 2 * len(value)
    if isinstance(value, tuple | list):
        return 50 + sum(size_of(entry) for entry in value)
    if isinstance(value, dict):
        return 50 + sum(size_of(entry) for pair in value.items() for entry in pair)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return 50 + sum(size_of(getattr(value, field.name)) for field in dataclasses.fields(value))
    return 32


EMBEDDED = "all-MiniLM-L6-v2"  # the model that comes with the app


@dataclass(frozen=True)
class TraceRequest:
    """A request to trace a text or picture with a model.

    ``model`` is the name of the embedded model, a hub id or an allowed local folder; ``revision`` is a branch, tag or
    commit. ``pair`` is a second text that is read together with the first. ``target`` is the output text of an
    encoder-decoder; without it the model generates greedily. ``written`` gives the output as token ids: the target of
    an encoder-decoder, or a decoder's continuation of the text.

    ``cut`` truncates the text to that many tokens, special tokens included. ``edits`` are changes inside the attention
    (attention.edits). If the model generates text, edits of tokens that do not exist have no effect. ``picture`` is the
    input of a vision transformer, with or without a text. With ``side``, the whole picture is read, and its longer side
    is scaled to about that many pixels. Otherwise the model's processor decides.

    >>> TraceRequest(text="hello").key == TraceRequest(text="hello").key
    True
    """

    model: str = EMBEDDED
    text: str = ""
    pair: str | None = None
    target: str | None = None
    revision: str | None = None
    cut: int | None = None
    edits: tuple[Edit, ...] = ()
    written: tuple[int, ...] | None = None
    picture: Picture | None = None
    side: int | None = None

    @cached_property
    def key(self) -> str:
        """Return the SHA-256 of the request in canonical JSON, 64 hexadecimal digits.

        Texts with lone surrogates (invalid Unicode) are allowed.
        """
        return key_of(self)

    @property
    def weight(self) -> int:
        """Estimate the memory in bytes that this request object takes."""
        texts = (self.model, self.text, self.pair or "", self.target or "", self.revision or "")
        seen = 0 if self.picture is None else self.picture.nbytes
        return 500 + seen + sum(4 * len(text) for text in texts) + 200 * len(self.edits) + 40 * len(self.written or ())
