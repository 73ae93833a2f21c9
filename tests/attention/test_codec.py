"""The binary format: round trips, hostile bytes, and the precision of each coding."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import load, save

from attention.codec import JSON, LARGEST_WHOLE, decode, decode_frame, encode, frame, halves
from tests.support.cases import loop_over
from tests.support.traces import sentence_trace


@pytest.mark.parametrize(("coding", "error"), [("sqrt8", 4e-3), ("float16", 2.5e-4), ("float32", 0)])
def test_a_frame_is_read_back(coding: str, error: float) -> None:
    weights = sentence_trace().weights(0, 0)[:5, :3]
    header, arrays = decode_frame(
        frame({"layer": 3}, {"first": (weights, coding), "second": (weights.T.copy(), coding)})
    )
    assert header == {"layer": 3}
    assert np.abs(arrays["first"] - weights).max() <= error
    assert arrays["second"].shape == (3, 5)


@given(
    arrays(
        np.float32, st.tuples(st.integers(0, 3), st.integers(0, 4)), elements=st.integers(-LARGEST_WHOLE, LARGEST_WHOLE)
    )
)
def test_whole_numbers_are_read_back_exactly(values: Any) -> None:
    _, found = decode_frame(frame({}, {"whole": (values, "whole")}))
    np.testing.assert_array_equal(found["whole"], values)


def test_halves_round_as_numpy_does() -> None:
    """Every float16 from 0 to 1, midpoints, their float32 neighbours and values out of range round correctly."""
    every = np.arange(0x3C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    middle = (every[1:] + every[:-1]) / 2
    around = np.concatenate([every, middle, np.nextafter(middle, 0), np.nextafter(middle, 1), [-1, 2, 70000]])
    for values in (around[:-3].astype(np.float32), around.astype(np.float32)):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(halves(values), values.astype(np.float16))


TENSORS = {
    "truth": np.array([True, False, True]),
    "bytes": np.arange(5, dtype=np.uint8),
    "halves": np.arange(3, dtype=np.float16),
    "turned": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "empty": np.zeros((2, 0, 3)),
    "number": np.array(2.5),
    "large": np.arange(7, dtype=np.int64),
}


def written(tensors: dict[str, Any] = TENSORS, **metadata: str) -> bytes:
    return b"".join(encode({JSON: r'"a\ud800中"', **metadata}, tensors))


def test_safetensors_itself_reads_what_is_written_and_the_reverse() -> None:
    theirs = save({name: array.copy("C") for name, array in TENSORS.items()}, {"a": "b"})  # it ignores strides
    for tensors in (load(written()), decode(written())[1], decode(theirs)[1]):
        assert tensors.keys() == TENSORS.keys()
        for name, array in TENSORS.items():
            assert (tensors[name].dtype, tensors[name].shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(tensors[name], array)
    assert decode(written(more="x"))[0] == {JSON: r'"a\ud800中"', "more": "x"}


def test_tensors_are_aligned_read_only_and_not_copied() -> None:
    data = written()
    start = 8 + int.from_bytes(data[:8], "little")
    assert start % 64 == 0
    for array in decode(data)[1].values():
        assert not array.flags.writeable
        offset = array.__array_interface__["data"][0] - np.frombuffer(data, np.uint8).__array_interface__["data"][0]
        assert array.size == 0 or (offset - start) % array.dtype.itemsize == 0
    large = np.zeros(1000, np.float32)
    assert any(np.shares_memory(large, np.frombuffer(block, np.uint8)) for block in encode({}, {"w": large}))


def with_header(text: str, body: bytes = bytes(8)) -> bytes:
    return len(text).to_bytes(8, "little") + text.encode() + body


W = '{"w":{"dtype":"%s","shape":%s,"data_offsets":%s}}'


@loop_over(
    "data",
    [
        b"",
        bytes(7),
        written()[:-1],
        written() + b"0",
        (2**63).to_bytes(8, "little") + bytes(20),
        *(with_header(text) for text in ("", "[]", "3", "[" * 10**5, "{", '{"w":3}', '{"__metadata__":[]}')),
        with_header('{"__metadata__":{"a":3}}', b""),
        with_header(W % ("F32", "[3]", "[0,12]")),
        with_header(W % ("F32", "[2]", "[0,4]")),
        with_header(W % ("F32", "[2]", "[4,12]")),
        with_header(W % ("F32", "[-2]", "[0,-8]")),
        with_header(W % ("F32", "[2.0]", "[0,8]")),
        with_header(W % ("F32", "[true,2]", "[0,8]")),
        with_header(W % ("F32", '"22"', "[0,8]")),
        with_header(W % ("F32", f"[{10**30}]", f"[0,{4 * 10**30}]")),
        with_header(W % ("BF16", "[4]", "[0,8]")),
        with_header(W % ("O", "[1]", "[0,8]")),
        with_header(W % ("BOOL", "[8]", "[0,8]"), b"\2" * 8),
        with_header('{"v":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},' + (W % ("U8", "[8]", "[0,8]"))[1:]),
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decode(data)


@given(st.binary(max_size=40), st.integers(0, 700))
def test_damaged_bytes_are_refused_or_still_tensors(noise: bytes, at: int) -> None:
    whole = bytearray(written())
    whole[at : at + len(noise)] = noise
    with suppress(ValueError):
        decode(bytes(whole))
