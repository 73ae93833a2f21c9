"""Attention between the two texts of a pair: shares that add up, and a case by hand."""

from __future__ import annotations

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import GROUPS, flow, group
from tests.support.traces import record, sentence_trace

# The tokens are [CLS] play ##ing [SEP] chess . [SEP].
PAIR = TokenRow(
    pieces=("[CLS]", "play", "ing", "[SEP]", "chess", ".", "[SEP]"),
    ids=(101, 5, 6, 102, 7, 8, 102),
    words=(None, 0, 0, None, 1, 2, None),
    segments=(0, 0, 0, 0, 1, 1, 1),
    spans=(None, (0, 4), (4, 7), None, (0, 5), (5, 6), None),
)


def trace() -> Trace:
    return sentence_trace(source=PAIR, pair="chess.", parts={"encoder": (record(7, 7, seed=1), record(7, 7, seed=2))})


def test_every_token_is_in_one_group() -> None:
    assert sorted(at for name in GROUPS for at in group(PAIR, name)) == list(range(7))
    assert group(PAIR, "a") == [1, 2]
    assert group(PAIR, "others") == [3, 6]


def test_what_a_group_gives_to_all_groups_adds_up_to_one() -> None:
    found = trace()
    for looks in GROUPS:
        total = np.sum([flow(found, group(PAIR, looks), group(PAIR, at)) for at in GROUPS], axis=0)
        assert total.shape == (2, 3)
        np.testing.assert_allclose(total, 1, atol=1e-5)


def test_by_hand() -> None:
    maps = np.zeros((3, 7, 7), np.float32)
    maps[:, :, 0] = 1
    maps[1, 1] = [0, 0, 0, 0, 0.5, 0.25, 0.25]  # In head 1 "play" attends to "chess", "." and the last [SEP].
    found = sentence_trace(source=PAIR, pair="chess.", parts={"encoder": (MapRecord(maps),)})
    shares = flow(found, group(PAIR, "a"), group(PAIR, "b"))
    np.testing.assert_allclose(shares, [[0, 0.375, 0]], atol=1e-6)
    assert shares.dtype == np.float32


def test_groups_that_are_none() -> None:
    with pytest.raises(ValueError, match='"c" came'):
        group(PAIR, "c")
    with pytest.raises(ValueError, match="none came"):
        flow(trace(), [], [1])
    assert flow(trace(), [1], []).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_mask_is_kept() -> None:
    """A causal query gives no attention to later tokens."""
    causal = record(7, 7, seed=3, mask=Mask(7, 7, causal=True))
    found = sentence_trace(source=PAIR, pair="chess.", parts={"encoder": (causal,)})
    assert flow(found, group(PAIR, "a"), group(PAIR, "b")).max() == 0
