"""Requests and answers survive serialisation unchanged; other bytes are refused, and no code in them runs."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import typing
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inference.tasks
from attention.codec import JSON
from attention.edits import Ablate
from attention.pictures import Picture
from attention.trace import Trace
from i18n import LazyMessage, gettext_lazy, ngettext_lazy
from inference import LocalBackend, TraceRequest, UserError
from inference.files.embedded import TRANSLATOR
from inference.tasks.model_request import ModelRequest
from serving import protocol
from serving.protocol import InvalidFrame, blocks_of, pack, pieces, unpack
from tests.support.cases import loop_over

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Return True if two values are equal in every part, including dtype and shape of arrays."""
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name))
            for field in dataclasses.fields(one)
            if field.init
        )
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    return type(one) is type(other) and one == other


@pytest.mark.slow
@given(PLAIN)
def test_plain_values_come_out_as_they_went_in(value: Any) -> None:
    assert same(value, unpack(pack(value)))


@loop_over(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4).T,
        np.arange(60).reshape(3, 4, 5).transpose(1, 2, 0),
        np.arange(60).reshape(3, 4, 5)[:, ::2, ::-1],
        np.arange(4, dtype=np.int8).reshape(1, 2, 1, 2).transpose(2, 3, 0, 1),
        np.broadcast_to(np.float32(2), (2, 3)),
        np.zeros((2, 0, 3)),
        np.zeros((2, 0, 3)).T,
        np.array(2.5),
        np.array([True, False]),
        np.array([np.nan, -np.inf], np.float16),
        np.float32(1 / 3),
        np.int64(-5),
    ],
)
def test_arrays_and_their_numbers_come_out_as_they_went_in(array: Any) -> None:
    before, after = (1, array, array, b"".decode()), unpack(pack((1, array, array, "")))
    assert same(before, after)
    assert not isinstance(array, np.ndarray) or (after[1] is after[2] and not after[1].flags.writeable)


def test_sentences_can_still_be_told_in_another_language() -> None:
    said = gettext_lazy("{name} has {heads}.", name="BERT", heads=ngettext_lazy("{n} head", "{n} heads", 12, n=12))
    again = unpack(pack(said))
    assert (again, again.template, again.values["heads"].many) == (said, said.template, "{n} heads")


def test_a_refusal_comes_with_its_way_out() -> None:
    refusal = UserError(gettext_lazy("Too long by {n}.", n=3), way_out="cut", details={"limit": 512})
    again = unpack(pack(refusal))
    assert (again.message, again.way_out, again.details) == ("Too long by 3.", "cut", {"limit": 512})
    assert isinstance(again.message, LazyMessage)


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_", [TraceRequest(text="the cat", edits=(Ablate(0, 1),)), TraceRequest(TRANSLATOR, "the cat sleeps")]
)
def test_a_trace_comes_out_as_it_went_in(request_: TraceRequest) -> None:
    backend = LocalBackend()
    asked = unpack(pack(request_))
    assert (asked, asked.key) == (request_, request_.key)
    trace = backend.trace(request_)
    frame = pack(trace)
    again: Trace = unpack(frame)
    assert same(trace, again)
    assert len(frame) < trace.nbytes + 100_000
    assert np.array_equal(again.weights(0, 1), trace.weights(0, 1))


def test_a_frame_in_blocks_is_the_same_frame_and_copies_no_numbers() -> None:
    array = np.arange(200_000, dtype=np.float32)
    heads = np.arange(30, dtype=np.float32).reshape(5, 2, 3).transpose(1, 0, 2)
    value = (array, "a", np.zeros((0, 3)), np.arange(6).reshape(2, 3).T, heads)
    blocks = blocks_of(value)
    assert any(np.shares_memory(array, np.frombuffer(block, np.uint8)) for block in blocks if len(block))
    assert any(np.shares_memory(heads, np.frombuffer(block, np.uint8)) for block in blocks if len(block))
    sent = list(pieces(blocks))
    assert (b"".join(sent), len(sent)) == (pack(value), 2)


def test_a_picture_is_asked_about_by_its_pixels() -> None:
    asked = TraceRequest("a/model", picture=Picture(np.arange(60, dtype=np.uint8).reshape(4, 5, 3)))
    again: TraceRequest = unpack(pack(asked))
    assert (again, again.key) == (asked, asked.key)


def stated() -> list[type]:
    """Return every dataclass that occurs in a request or an answer."""
    found: set[type] = set()

    def look(kind: Any) -> None:
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in found:
            found.add(kind)
            for inner in typing.get_type_hints(kind).values():
                look(inner)
        for inner in typing.get_args(kind):
            look(inner)

    for module in pkgutil.iter_modules(inference.tasks.__path__):
        for kind in vars(importlib.import_module(f"inference.tasks.{module.name}")).values():
            if isinstance(kind, type) and issubclass(kind, ModelRequest):
                for base in vars(kind).get("__orig_bases__", ()):
                    look(base)
            look(kind)
    return sorted(found, key=lambda kind: kind.__qualname__)


@loop_over("kind", stated())
def test_every_class_of_questions_and_answers_has_a_place_in_a_frame(kind: type) -> None:
    assert protocol.class_of(protocol.name_of(kind)) is kind


PAIR = pack((1, 2))
HOSTILE = [
    b"",
    PAIR[: protocol.SUM.stop],
    PAIR[:-1],
    PAIR.replace(protocol.FORMAT.encode(), b"headlight-message-1"),
    PAIR.replace(b"[1,2]", b"[1,7]"),
    PAIR.replace(b"[1,2]", b"[2,1]"),
    b"\1" + PAIR[1:],
]


@loop_over("data", HOSTILE)
def test_what_is_cut_short_or_changed_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidFrame):
        unpack(data)


def framed(tree: str, tensors: bytes = b"") -> bytes:
    """Return a message with a valid checksum around a tree and the JSON of its tensors, before 8 bytes."""
    told = {"format": protocol.FORMAT, "checksum": "0" * 16, JSON: tree}
    text = json.dumps({"__metadata__": told}, separators=(",", ":")).encode()[:-1] + tensors + b"}"
    whole = len(text).to_bytes(8, "little") + text + (bytes(8) if tensors else b"")
    return whole[: protocol.SUM.start] + protocol.checksum_of(whole) + whole[protocol.SUM.stop :]


TENSOR = b',"0":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}'


@loop_over(
    "tree",
    [
        {"c": ["os:system", {}]},
        {"c": ["attention.record:np", {}]},
        {"c": ["attention.trace:Trace", {}]},
        {"c": ["inference.tasks.model_request:ClassVar", {}]},
        {"c": ["attention..trace:Trace", {}]},
        {"c": [["os"], {}]},
        {"x": 1},
        {"l": [], "m": []},
        {"a": [1]},
        {"a": [[0]]},
        {"a": []},
        {"a": [0, 0, 0]},
        {"a": [0, 1]},
        {"a": [0, 1, 0, 2]},
        {"n": ["O", 1]},
        {"m": [[{"l": []}, 1]]},
        {},
    ],
)
def test_what_is_whole_but_hostile_is_refused(tree: Any) -> None:
    with pytest.raises(InvalidFrame):
        unpack(framed(json.dumps(tree), TENSOR))


@loop_over("tree", ['{"l":' * 50_000, "[" * 50_000, '{"l"', "1 1", "'a'", "", '{"l": 3}', "9" * 5000])
def test_a_tree_that_is_none_is_refused(tree: str) -> None:
    with pytest.raises(InvalidFrame):
        unpack(framed(tree))


@loop_over("tensors", [b',"0":{}', TENSOR.replace(b"F32", b"O"), TENSOR.replace(b"[1,2]", b"[1,-2]"), TENSOR[:-3]])
def test_tensors_that_are_none_are_refused(tensors: bytes) -> None:
    assert unpack(framed('{"a":[0]}', TENSOR)).shape == (1, 2)
    with pytest.raises(InvalidFrame):
        unpack(framed('{"a":[0]}', tensors))


def test_odd_is_not_hostile() -> None:
    """A message without its values, deeply nested tuples and an integer beyond 64 bits are valid."""
    assert unpack(framed(json.dumps({"w": ["{a}", None, 1, {"m": []}]}))).template == "{a}"
    deep: Any = ()
    for _ in range(100):
        deep = (deep,)
    assert unpack(framed("[" * 101 + "]" * 101)) == unpack(pack(deep)) == deep
    assert unpack(pack((2**64, -(2**900)))) == (2**64, -(2**900))


def test_what_has_no_place_in_a_frame_is_refused_before_it_leaves() -> None:
    for value in (object(), {1, 2}, np.array(["a"]), lambda: None, dataclasses.make_dataclass("Odd", ["x"])(1)):
        with pytest.raises(TypeError, match="a frame"):
            pack(value)


@given(st.binary(max_size=200), st.integers(0, 300))
@settings(max_examples=200)
def test_no_bytes_do_anything_but_be_refused(noise: bytes, at: int) -> None:
    whole = bytearray(pack(TraceRequest(text="abc")))
    whole[at : at + len(noise)] = noise
    try:
        unpack(bytes(whole))
    except InvalidFrame:
        return
    assert bytes(whole) == pack(TraceRequest(text="abc"))
