"""Round trips through each binary coding, to the precision that it guarantees."""

import json

import numpy as np
import pytest

from attention.codec import decode_frame, frame, halves
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


def test_halves_round_as_numpy_does() -> None:
    """Every float16 from 0 to 1, midpoints, their float32 neighbours and values out of range round correctly."""
    every = np.arange(0x3C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    middle = (every[1:] + every[:-1]) / 2
    around = np.concatenate([every, middle, np.nextafter(middle, 0), np.nextafter(middle, 1), [-1, 2, 70000]])
    for values in (around[:-3].astype(np.float32), around.astype(np.float32)):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(halves(values), values.astype(np.float16))


def test_blocks_begin_at_multiples_of_eight() -> None:
    data = frame({"text": "né"}, {"a": (np.zeros(3, np.float32), "sqrt8"), "b": (np.ones(1, np.float32), "float32")})
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    assert (4 + length) % 8 == 0
    assert [entry["offset"] for entry in header["arrays"]] == [0, 8]
