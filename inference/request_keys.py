"""Frozen values as keys: the same value has the same key on every machine."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from attention.picture import Picture

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
