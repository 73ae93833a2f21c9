"""Memory that a record keeps alive: its own arrays, without the batch, the weights or a fused projection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attention.record import Record
from inference.record import capture
from tests.inference.record.test_capture import recorded
from tests.support.architectures import build, inputs, named
from tests.support.cases import loop_over

capture.install()


def test_what_layers_share_is_kept_once() -> None:
    one, other = recorded(named("T5"), inputs(named("T5"), (5, 9)))[1]["encoder"]
    assert one.bias is other.bias
    assert one.mask is other.mask


def memory(array: Any) -> Any:
    """Return the address and the size in bytes of the memory that an array keeps alive."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    if isinstance(array.base, torch.Tensor):
        storage = array.base.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    return array.ctypes.data, array.nbytes


@loop_over("name", ["BERT", "GPT-2", "ModernBERT", "Llama", "T5", "MPNet", "XLNet"])
@loop_over("lengths", [(9,), (3, 33)])
def test_a_sample_holds_little_more_memory_than_it_says(name: str, lengths: Any) -> None:
    """Views of the batch, of padding or of a fused projection are copied."""
    row = named(name)
    for parts in recorded(row, inputs(row, lengths)):
        for records in parts.values():
            for record in records:
                held = sum(dict(memory(array) for array in record.arrays()).values())
                assert held <= 1.5 * sum(array.nbytes for array in record.arrays())


@pytest.mark.parametrize("name", ["GPT-2", "ModernBERT"])
def test_a_forward_pass_keeps_no_fused_projection(name: str) -> None:
    """During the pass, the recorded tensors do not keep a fused projection alive either."""
    row = named(name)
    model = build(row, capture.NAME)
    with capture.record_attention() as tape:
        model(**inputs(row, (33,)))
    for call in tape.calls:
        held = {
            t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in (call.query, call.key, call.value)
        }
        assert sum(held.values()) <= 1.5 * sum(t.nbytes for t in (call.query, call.key, call.value))


def test_a_single_text_is_not_copied() -> None:
    record = recorded(named("BERT"), inputs(named("BERT")))[0]["encoder"][0]
    assert record.query.strides == (8 * 4, 24 * 4, 4), "as the model laid it out: a copy would be in order"


def test_a_record_shares_no_memory_with_the_weights() -> None:
    row = named("gpt-oss")
    model = build(row, capture.NAME)
    capture.prepare(model)
    record = capture.record_parts(model, inputs(row))[0]["decoder"][0]
    assert isinstance(record, Record)
    assert record.sinks is not None
    before = record.sinks.copy()
    with torch.no_grad():
        [parameter.zero_() for parameter in model.parameters()]
    np.testing.assert_array_equal(record.sinks, before)
