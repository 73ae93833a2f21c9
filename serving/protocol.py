"""The binary messages (frames) for requests, answers, traces and errors, and the names of the HTTP service.

A message is a file of `attention/codec.py`: a tree of values as JSON, the arrays as tensors, and a checksum.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import numpy as np
import xxhash

import attention
from attention.codec import DTYPE_NAMES, DTYPES, JSON, Block, Numbers, decode, encode
from i18n import LazyMessage
from inference import hub_cards, request, tasks
from inference.backend import LocalBackend
from inference.errors import UserError
from inference.files import hub
from inference.files.download import Download
from inference.files.hub import Offer

SPOKEN = tuple(module.__name__ for module in (attention, tasks, request, hub_cards, hub))


class InvalidFrame(ValueError):
    """Raised if bytes are not a complete message of this version of the format."""


def name_of(kind: type) -> str:
    """Return the name of a dataclass in messages, "module:Class"; raise TypeError if messages cannot contain it."""
    if not dataclasses.is_dataclass(kind) or not _is_spoken(kind.__module__) or "." in kind.__qualname__:
        raise TypeError(f"A {kind.__qualname__} has no place in a frame.")
    return f"{kind.__module__}:{kind.__name__}"


@lru_cache(256)
def class_of(name: str) -> type:
    """Return the dataclass with a name of ``name_of``; raise InvalidFrame if messages cannot contain it."""
    module, _colon, kind = name.partition(":")
    if not _is_spoken(module) or not all(part.isidentifier() for part in (*module.split("."), kind)):
        raise InvalidFrame("The answer names a class that no answer is made of.")
    found = getattr(importlib.import_module(module), kind)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)) or name_of(found) != name:
        raise InvalidFrame("The answer names a class that no answer is made of.")
    return found


def _is_spoken(module: str) -> bool:
    return any(f"{module}.".startswith(f"{room}.") for room in SPOKEN)


FORMAT = "headlight-message-6"
START = f'{{"__metadata__":{{"format":"{FORMAT}","checksum":"'.encode()  # of the header, behind its length
SUM = slice(8 + len(START), 8 + len(START) + 16)  # the checksum, in hexadecimal digits
# ASCII escapes keep lone surrogates, which are rejected later, if the text is checked.
COMPACT = json.JSONEncoder(separators=(",", ":"), check_circular=False)
PIECE = 2**18  # minimal bytes per sent piece, small enough for the cache of a core
PLAIN = frozenset({type(None), bool, int, float, str})  # types that need no encoding, which are most values
# Maps id(array) to the array, a contiguous view or copy of it, and its encoding.
Arrays = dict[int, tuple[Numbers, Numbers, Any]]


def pack(value: Any) -> bytes:
    """Encode a value as a message; raise TypeError if it contains an unsupported type.

    >>> unpack(pack((1, "a", None, {"b": 2.5}, float("inf"))))
    (1, 'a', None, {'b': 2.5}, inf)
    """
    return b"".join(blocks_of(value))


def blocks_of(value: Any) -> list[Block]:
    """Encode a value as a message and return it as a list of byte blocks; contiguous arrays are not copied."""
    arrays: Arrays = {}
    tree = COMPACT.encode(_encode(value, arrays))
    metadata = {"format": FORMAT, "checksum": "0" * 16, JSON: tree}
    head, *blocks = encode(metadata, {str(at): lies for at, (_array, lies, _told) in enumerate(arrays.values())})
    return [head[: SUM.start], checksum_of(head, *blocks), head[SUM.stop :], *blocks]


def pieces(blocks: Iterable[Block]) -> Iterator[bytes]:
    """Join the byte blocks of a message to pieces of at least ``PIECE`` bytes, and yield them.

    The last piece may be shorter. Sending can begin before all blocks are joined.

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
    """Decode a message and return its value, with read-only arrays; raise InvalidFrame for other bytes."""
    try:
        if data[8 : SUM.start] != START or data[SUM] != checksum_of(memoryview(data)):
            raise InvalidFrame("The answer is cut short, changed, or of another version.")
        metadata, tensors = decode(data)
        return _Reader(json.loads(metadata[JSON]), tensors).read()
    except InvalidFrame:
        raise
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ImportError,
        RecursionError,
        ArithmeticError,
    ) as error:
        raise InvalidFrame("The answer is not what this version writes.") from error


def checksum_of(head: Block, *blocks: Block) -> bytes:
    """Return the 64-bit XXH3 checksum of a message, as 16 hexadecimal digits.

    The bytes reserved for the checksum are skipped. The checksum detects accidental damage, not deliberate changes.
    """
    found = xxhash.xxh3_64(head[: SUM.start])
    for block in (head[SUM.stop :], *blocks):
        found.update(block)
    return found.hexdigest().encode()


def _encode(value: Any, arrays: Arrays) -> Any:
    """Return the tree of a value: tuples become lists, and other types a mapping ``{tag: content}``."""
    kind: type = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple:
        return value if PLAIN.issuperset(map(type, value)) else [_encode(entry, arrays) for entry in value]
    return _teller(kind)(value, arrays)


@cache
def _teller(kind: type) -> Callable[[Any, Arrays], Any]:
    """Return the encoder of a type; raise TypeError if the type is unsupported."""
    for kinds, teller in _TELLERS.items():
        if issubclass(kind, kinds):
            return teller
    name = name_of(kind)
    # Fields with init=False are derived from these.
    stated = tuple(field.name for field in dataclasses.fields(kind) if field.init)
    return lambda value, arrays: {"c": [name, {field: _encode(getattr(value, field), arrays) for field in stated}]}


def _tell_sentence(value: LazyMessage, arrays: Arrays) -> Any:
    return {"w": [value.template, value.many, value.number, _encode(value.values, arrays)]}


def _tell_number(value: np.generic, _arrays: Arrays) -> Any:
    return {"n": [DTYPE_NAMES[_check_numeric(value.dtype)], value.item()]}


def _tell_array(value: Numbers, arrays: Arrays) -> Any:
    if id(value) not in arrays:
        lies, axes = _as_it_lies(value.astype(_check_numeric(value.dtype), copy=False))
        arrays[id(value)] = value, lies, {"a": [len(arrays), *axes]}
    return arrays[id(value)][2]


def _as_it_lies(array: Numbers) -> tuple[Numbers, list[int]]:
    """Return a contiguous array of the same numbers, and the transposition that restores the original.

    The list of axes is empty if no transposition is needed. The numbers are copied only if no order of the axes is
    contiguous; the heads of a layer, which are columns of one matrix, need no copy.

    >>> heads = np.zeros((5, 2, 3)).transpose(1, 0, 2)
    >>> lies, axes = _as_it_lies(heads)
    >>> lies.shape, axes, np.shares_memory(lies, heads)
    ((5, 2, 3), [1, 0, 2], True)
    """
    if array.flags.c_contiguous:
        return array, []
    order = sorted(range(array.ndim), key=array.strides.__getitem__, reverse=True)
    lies = array.transpose(order)
    if lies.flags.c_contiguous:
        return lies, [order.index(axis) for axis in range(array.ndim)]
    return np.ascontiguousarray(array), []


_TELLERS: dict[Any, Callable[[Any, Arrays], Any]] = {  # the first matching entry is used
    LazyMessage: _tell_sentence,
    np.generic: _tell_number,
    np.ndarray: _tell_array,
    (int, float, str): lambda value, _arrays: value,
    tuple: lambda value, arrays: [_encode(entry, arrays) for entry in value],
    list: lambda value, arrays: {"l": [_encode(entry, arrays) for entry in value]},
    Mapping: lambda value, arrays: {
        "m": [[_encode(key, arrays), _encode(entry, arrays)] for key, entry in value.items()]
    },
    UserError: lambda value, arrays: {
        "r": [_encode(value.message, arrays), value.way_out, _encode(value.details, arrays)]
    },
}


class _Reader:
    """The decoder of a frame: its tree and the arrays behind it."""

    def __init__(self, tree: Any, tensors: Mapping[str, Numbers]) -> None:
        self.tree, self.tensors = tree, tensors
        self.arrays: dict[int, Numbers] = {}  # in their original order of axes, so that each array is a single object
        self.readers: dict[str, Callable[[Any], Any]] = {
            "l": self._list,
            "m": self._mapping,
            "w": self._sentence,
            "r": self._refusal,
            "n": self._number,
            "a": self._array,
            "c": self._dataclass,
        }

    def read(self) -> Any:
        """Return the decoded value."""
        return self._whole(self.tree)

    def _whole(self, told: Any) -> Any:
        kind = type(told)
        if kind in PLAIN:
            return told
        if kind is list:
            return tuple(self._list(told))
        [(letter, content)] = told.items()
        return self.readers[letter](content)

    def _list(self, content: list[Any]) -> list[Any]:
        return content if PLAIN.issuperset(map(type, content)) else [self._whole(entry) for entry in content]

    def _mapping(self, content: list[Any]) -> dict[Any, Any]:
        return {self._whole(key): self._whole(value) for key, value in content}

    def _sentence(self, content: list[Any]) -> LazyMessage:
        template, many, number, values = content
        return LazyMessage(template, many, number, self._whole(values))

    def _refusal(self, content: list[Any]) -> UserError:
        message, way_out, details = content
        return UserError(self._whole(message), way_out=way_out, details=self._whole(details))

    def _number(self, content: list[Any]) -> Any:
        kind, value = content
        return DTYPES[kind].type(value)

    def _array(self, content: list[Any]) -> Numbers:
        """Return array number ``content[0]`` with its axes in the order of the rest."""
        number, *axes = content
        if number not in self.arrays:
            tensor = self.tensors[str(number)]
            self.arrays[number] = tensor.transpose(axes) if axes else tensor
        return self.arrays[number]

    def _dataclass(self, content: list[Any]) -> Any:
        name, fields = content
        return class_of(name)(**{field: self._whole(value) for field, value in fields.items()})


def _check_numeric(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return ``dtype`` in little-endian order; raise TypeError if messages have no such numbers."""
    if (little := dtype.newbyteorder("<")) not in DTYPE_NAMES:
        raise TypeError(f"An array of {dtype} has no place in a frame.")
    return little


TOKEN, PORT = "HEADLIGHT_BACKEND_TOKEN", 8765  # without a token, the service answers only on the loopback interface
# Content type of bodies; browsers do not let other sites send it without a preflight request.
TYPE = "application/x-headlight"
DEADLINE = "x-headlight-seconds"  # seconds that the client still waits
AFFINITY = "x-session-id"  # the request's key: a load balancer that hashes it repeats the request at the same replica
VISITOR = "x-headlight-visitor"  # opaque id of the visitor, for fair queueing
MODEL = "serve_multiplexed_model_id"  # Ray Serve routes by this header to a replica that has loaded the model
MOST_ASKED = 64 * 2**20  # maximal bytes of a request: enough for a picture or some dozens of long texts
MOST_ANSWERED = 2**30  # maximal bytes of an answer
AT_ONCE = 16  # maximal number of texts per request

TRACES, ANSWER, ABOUT = "/v1/traces", "/v1/answer", "/v1/about"
LIVE, READY = "/healthz/live", "/healthz/ready"


def portable(value: Any) -> Any:
    """Return a value that can be sent to another machine.

    The local folder of an Offer is left out, and so are details of a UserError that messages cannot encode.

    >>> portable(UserError("No.", details={"limit": 3, "file": object()})).details
    {'limit': 3}
    """
    if isinstance(value, Offer):
        return dataclasses.replace(value, folder=None)
    if isinstance(value, UserError):
        told = {name: portable(detail) for name, detail in value.details.items()}
        return UserError(value.message, way_out=value.way_out, details={k: v for k, v in told.items() if _packs(v)})
    return value


def _packs(value: Any) -> bool:
    try:
        pack(value)
    except TypeError:
        return False
    return True


START_DOWNLOAD, STOP_DOWNLOAD = (
    "start",
    "stop",
)  # actions of a download request; any other action only returns the progress


class About:
    """An object that answers requests for facts about models, such as their cards or the state of a model.

    A request is a tuple ``(method, *arguments)``.
    """

    def __init__(self, backend: LocalBackend) -> None:
        self.backend = backend
        self._downloads: dict[tuple[str, str | None], Download] = {}
        self._tells: Mapping[str, Callable[..., Any]] = {
            "models": lambda: tuple(backend.models()),
            "seeing": lambda: tuple(backend.seeing()),
            "status": backend.status,
            "identity": backend.identity,
            "reads": backend.reads,
            "look": backend.look,
            "download": self.download,
        }

    def tell(self, asked: Any) -> Any:
        """Return the answer to a request for facts, a tuple ``(method, *arguments)``; may raise UserError.

        Raise InvalidFrame if the request is malformed.
        """
        if not (isinstance(asked, tuple) and asked and all(one is None or isinstance(one, str) for one in asked)):
            raise InvalidFrame("What is asked of models are a word and names.")
        what, *given = asked
        if what not in self._tells or len(given) > 3:
            raise InvalidFrame("This is not asked of models.")
        return self._tells[what](*given)

    def download(self, model: str, revision: str | None, doing: str) -> dict[str, Any]:
        """Start or stop the download of a model, or neither, and return its progress.

        ``doing`` is "start", "stop", or any other word to get only the progress. The result has "state" and,
        for a download started here, "done" and "total" in bytes, and "error". The files to fetch are looked up here,
        not taken from the client.
        """
        found = self._downloads.get((model, revision))
        if doing == START_DOWNLOAD:
            found = self._downloads[model, revision] = self.backend.download(self.backend.look(model, revision))
        if found is None:
            return {"state": "done" if self.backend.status(model, revision) in ("here", "loaded") else "new"}
        if doing == STOP_DOWNLOAD:
            found.stop()
        done, total = found.progress
        return {"state": found.state, "done": done, "total": total, "error": portable(found.error)}
