"""Questions, answers, traces and refusals as bytes, between processes: nothing in them can run (no pickle).

A frame is the magic with its version, a checksum, a JSON tree and the arrays that it names, an array that is named
often once. A tree holds plain values, tuples, mappings, sentences, refusals, and dataclasses of the rooms that state
what can be asked and answered; whoever reads one builds those classes and no others.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import xxhash

import attention
from inference import hub_cards, questions, request
from inference.errors import Refusal
from inference.files import hub, hub_files
from wording import Sentence

MAGIC = b"HLV3"
HEAD = struct.Struct("<4sQI")  # magic, checksum, length of the tree: 16 bytes, so that arrays lie as memory does
ALIGNED = 64  # bytes at whose multiples arrays begin
PIECE = 2**18  # bytes that are sent at once, or more: what a core has near
SPOKEN = tuple(  # whose classes a frame may hold
    module.__name__ for module in (attention, questions, request, hub_cards, hub, hub_files)
)
KINDS = "biuf"  # of numbers in arrays: truth values, integers, floats
PLAIN = frozenset({type(None), bool, int, float, str})  # what is the same in JSON, and most of what there is
Block = bytes | memoryview  # bytes of a frame, wherever they lie


class Broken(ValueError):
    """Bytes that are no whole frame of this version."""


def pack(value: Any) -> bytes:
    """The frame of a value; raises TypeError for what has no place in one.

    >>> unpack(pack((1, "a", None, {"b": 2.5}, float("inf"))))
    (1, 'a', None, {'b': 2.5}, inf)
    """
    return b"".join(blocks_of(value))


def blocks_of(value: Any) -> list[Block]:
    """The same in blocks, one after another: of megabytes of numbers those that lie in order are not copied."""
    arrays: dict[int, tuple[int, np.ndarray[Any, Any]]] = {}
    tree = json.dumps(_told(value, arrays), separators=(",", ":")).encode()
    blocks: list[Block] = [tree]
    at = len(tree)
    for _number, array in arrays.values():
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        blocks += [b"\0" * (-at % ALIGNED), flat.data]
        at += -at % ALIGNED + flat.nbytes
    return [HEAD.pack(MAGIC, checksum_of(len(tree), *blocks), len(tree)), *blocks]


def pieces(blocks: Iterable[Block]) -> Iterator[bytes]:
    """The same bytes in pieces of at least ``PIECE``: the first are on their way before the last are copied.

    >>> [len(piece) for piece in pieces([b"a", bytes(PIECE), b"b", b"c"])]
    [262145, 2]
    """
    some, size = list[Block](), 0
    for block in blocks:
        some.append(block)
        size += len(block)
        if size >= PIECE:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)


def unpack(data: bytes) -> Any:
    """The value of a frame, its arrays read-only; raises Broken for anything else, whatever it is."""
    try:
        magic, checksum, length = HEAD.unpack_from(data)
        body = memoryview(data)[HEAD.size :]
        if magic != MAGIC or length > len(body) or checksum != checksum_of(length, body):
            raise Broken("The answer is cut short, changed, or of another version.")
        return _Reader(body, length).read()
    except Broken:
        raise
    except (
        struct.error,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ImportError,
        RecursionError,
        ArithmeticError,
    ) as error:
        raise Broken("The answer is not what this version writes.") from error


def checksum_of(length: int, *blocks: Block) -> int:
    """A number that is another where a tree's length or the rest of its frame is another, but for one time in 2⁶⁴: it
    tells of what broke on the way, not of what somebody meant to change (XXH3, faster than memory is read).
    """
    found = xxhash.xxh3_64(length.to_bytes(8, "little"))
    for block in blocks:
        found.update(block)
    return found.intdigest()


def _told(value: Any, arrays: dict[int, tuple[int, np.ndarray[Any, Any]]]) -> Any:
    """A value as JSON: what JSON has no word for is a mapping with one letter that says what it is."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Sentence):
        values = _told(value.values, arrays)
        return {"w": [value.template, value.many, value.number, values]}
    if isinstance(value, np.ndarray | np.generic):
        return _array(value, arrays)
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, tuple | list):
        told = [entry if type(entry) in PLAIN else _told(entry, arrays) for entry in value]
        return told if isinstance(value, list) else {"t": told}
    if isinstance(value, Mapping):
        return {"m": [[_told(key, arrays), _told(entry, arrays)] for key, entry in value.items()]}
    if isinstance(value, Refusal):
        return {"r": [_told(value.message, arrays), value.way_out, _told(value.details, arrays)]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        name, stated = _class(type(value))
        return {"c": [name, {field: _told(getattr(value, field), arrays) for field in stated}]}
    raise TypeError(f"A {type(value).__name__} has no place in a frame.")


def _array(value: np.ndarray[Any, Any] | np.generic, arrays: dict[int, tuple[int, np.ndarray[Any, Any]]]) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in KINDS:
        raise TypeError(f"An array of {array.dtype} has no place in a frame.")
    if isinstance(value, np.generic):
        return {"n": [array.dtype.str, array.item()]}
    number, _same = arrays.setdefault(id(value), (len(arrays), array))
    return {"a": [number, array.dtype.str, list(array.shape)]}


@cache
def _class(kind: type) -> tuple[str, tuple[str, ...]]:
    """A class's name in a frame and what states one; the other fields follow from these. Raises TypeError."""
    return name_of(kind), tuple(field.name for field in dataclasses.fields(kind) if field.init)


def name_of(kind: type) -> str:
    """A class as a frame names it; raises TypeError for one that no frame holds."""
    if not _is_spoken(kind.__module__) or "." in kind.__qualname__:
        raise TypeError(f"A {kind.__qualname__} has no place in a frame.")
    return f"{kind.__module__}:{kind.__name__}"


def class_of(name: str) -> type:
    """The class that a frame names; raises Broken for one that no frame holds."""
    module, _colon, kind = name.partition(":")
    if not _is_spoken(module) or not all(part.isidentifier() for part in (*module.split("."), kind)):
        raise Broken("The answer names a class that no answer is made of.")
    found = getattr(importlib.import_module(module), kind)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)) or name_of(found) != name:
        raise Broken("The answer names a class that no answer is made of.")
    return found


def _is_spoken(module: str) -> bool:
    return any(f"{module}.".startswith(f"{room}.") for room in SPOKEN)


class _Reader:
    """A tree and the arrays behind it, built again."""

    def __init__(self, body: memoryview, length: int) -> None:
        self.tree = json.loads(bytes(body[:length]))
        self.body, self.at = body, length
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.classes: dict[str, type] = {}

    def read(self) -> Any:
        """The value."""
        return self._whole(self.tree)

    def _whole(self, told: Any) -> Any:
        if type(told) in PLAIN:
            return told
        if isinstance(told, list):
            return self._list(told)
        [(letter, content)] = told.items()
        return getattr(self, f"_{_LETTERS[letter]}")(content)

    def _list(self, content: list[Any]) -> list[Any]:
        return [entry if type(entry) in PLAIN else self._whole(entry) for entry in content]

    def _tuple(self, content: list[Any]) -> tuple[Any, ...]:
        return tuple(self._list(content))

    def _mapping(self, content: list[Any]) -> dict[Any, Any]:
        return {self._whole(key): self._whole(value) for key, value in content}

    def _sentence(self, content: list[Any]) -> Sentence:
        template, many, number, values = content
        return Sentence(template, many, number, self._whole(values))

    def _refusal(self, content: list[Any]) -> Refusal:
        message, way_out, details = content
        return Refusal(self._whole(message), way_out=way_out, details=self._whole(details))

    def _number(self, content: list[Any]) -> Any:
        kind, value = content
        return _dtype(kind).type(value)

    def _array(self, content: list[Any]) -> np.ndarray[Any, Any]:
        """Arrays are named first in the order in which they lie."""
        number, kind, shape = int(content[0]), *content[1:]
        if number == len(self.arrays):
            dtype = _dtype(kind)
            if not all(type(size) is int and size >= 0 for size in shape):
                raise Broken("The answer holds an array of no size.")
            count = math.prod(shape)
            self.at += -self.at % ALIGNED
            found = np.frombuffer(self.body, dtype, count, self.at) if count else np.empty(0, dtype)
            self.at += count * dtype.itemsize
            whole = found.reshape(shape)
            whole.setflags(write=False)
            self.arrays.append(whole)
        return self.arrays[number]

    def _dataclass(self, content: list[Any]) -> Any:
        name, fields = content
        if name not in self.classes:
            self.classes[name] = class_of(name)
        return self.classes[name](**{field: self._whole(value) for field, value in fields.items()})


_LETTERS = {
    "t": "tuple",
    "m": "mapping",
    "w": "sentence",
    "r": "refusal",
    "n": "number",
    "a": "array",
    "c": "dataclass",
}


def _dtype(kind: str) -> np.dtype[Any]:
    found = np.dtype(kind)
    if found.kind not in KINDS:
        raise Broken("The answer holds an array of something else than numbers.")
    return found
