"""Requests to a backend as frozen values, and their keys."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attention.edits import Edit
from attention.pictures import Picture

_SCHEMA = 1  # counts up when the same request would give another answer


def key_of(value: Any) -> str:
    """SHA-256 of a dataclass as canonical JSON, 64 hexadecimal digits. Lone surrogates are allowed in its texts.

    >>> from inference.request import TraceRequest
    >>> key_of(TraceRequest(text="a")) == key_of(TraceRequest(text="a")) != key_of(TraceRequest(text="b"))
    True
    """
    stated = {"schema": _SCHEMA, **to_json_value(value)}
    canonical = json.dumps(stated, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def to_json_value(value: Any, outermost: bool = True) -> Any:
    """A value as JSON. Inside another one, a dataclass also says its class, so that two kinds never look alike.

    A picture stands as its key.
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
    """Rough bytes that a value keeps in memory: its arrays, texts and what it holds inside.

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
    """One text for one model.

    ``model`` is the embedded model's name, a hub id or an allowed local folder; ``revision`` a branch, tag or commit.
    ``pair`` is a second text read together with the first. ``target`` is what an encoder-decoder writes; without it
    the model writes greedily itself. ``written`` is what is written in the model's own tokens instead: by an
    encoder-decoder, or by a decoder after the text as its prompt. ``cut`` reads the first so many tokens only, special
    tokens included. ``edits`` are changes inside the attention (attention.edits); where something is written, those
    that name tokens which are not there do nothing. ``picture`` is what a vision transformer reads, alone or beside the
    text; ``side`` has it read whole, its longer side about so many pixels, instead of as the model's processor does.

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
        """SHA-256 of the request as canonical JSON, 64 hexadecimal digits. Lone surrogates are allowed here."""
        return key_of(self)

    @property
    def weight(self) -> int:
        """Rough bytes of memory that remembering this request takes."""
        texts = (self.model, self.text, self.pair or "", self.target or "", self.revision or "")
        seen = 0 if self.picture is None else self.picture.nbytes
        return 500 + seen + sum(4 * len(text) for text in texts) + 200 * len(self.edits) + 40 * len(self.written or ())
