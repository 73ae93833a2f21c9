"""The law of the house: weights computed from what is recorded equal eager attention, for every architecture."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention.record import MapRecord, Record
from inference import capture
from tests.architectures import MAPS_ONLY, RECORDED, SPARSE_BIGBIRD, Architecture, build, inputs

capture.install()
EVERY = RECORDED + MAPS_ONLY
IDS = [row.name for row in EVERY]
TEXTS = ("encoder", "decoder", "encoder-decoder")
PADDED = [row for row in EVERY if row.kind in TEXTS]
TOLERANCE = 1e-5


def eager(row, given):
    """What the architecture's own eager attention reports, by part: tensors (batch, head, query, key)."""
    model = build(row, "eager")
    with torch.inference_mode():
        output = model(**given, output_attentions=True)
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    found = {part: output.get(name) for part, name in names.items()}
    if output.get("attentions") is not None:
        found["decoder" if row.kind in ("decoder", "cross") or "CLIP, text" in row.name else "encoder"] = output[
            "attentions"
        ]
    return {part: layers for part, layers in found.items() if layers}


def recorded(row, given, **lengths):
    """Our records of the same weights."""
    model = build(row, capture.NAME)
    assert capture.prepare(model) == (row in RECORDED)
    return capture.record_parts(model, given, **lengths)


def compare(row, given, found):
    """Every record against eager, on each sample's real tokens."""
    expected = eager(row, given)
    for sample, parts in enumerate(found):
        assert set(parts) == set(expected)
        for part, records in parts.items():
            for record, whole in zip(records, expected[part], strict=True):
                if row.model_type in ("longformer", "led") and part == "encoder":
                    continue  # reported as bands; a test of their own compares them
                real = whole[sample].numpy()
                rows = places(given, row, "target" if part != "encoder" else "source", sample, real.shape[1])
                cols = places(given, row, "target" if part == "decoder" else "source", sample, real.shape[2])
                ours = np.stack([record.weights(head) for head in range(record.heads)])
                np.testing.assert_allclose(ours, real[:, rows][:, :, cols], atol=TOLERANCE)
                assert real.std() > 1e-3, "random weights must not give uniform attention"


def places(given, row, side, sample, length):
    """Where the sample's real tokens stand, by the attention masks that the model was given."""
    two = row.kind in ("encoder-decoder", "sound")
    names = {
        "source": "attention_mask" if row.kind != "cross" else "",
        "target": "decoder_attention_mask" if two else "attention_mask",
    }
    mask = given.get(names[side])
    return np.arange(length) if mask is None else mask[sample].nonzero().flatten().numpy()


@pytest.mark.parametrize("row", EVERY, ids=IDS)
def test_weights_equal_eager_attention(row):
    given = inputs(row)
    found = recorded(row, given)
    compare(row, given, found)
    for records in found[0].values():
        for record in records:
            assert isinstance(record, Record if row in RECORDED else MapRecord)
            sums = np.stack([record.weights(head).sum(axis=1) for head in range(record.heads)])
            expected = 1 if row.model_type != "gpt_oss" else sums
            np.testing.assert_allclose(sums, expected, atol=1e-5)


SIDES = [(row, side) for row in PADDED for side in ("right", "left") if side == "right" or row.kind == "decoder"]


@pytest.mark.parametrize(("row", "side"), SIDES, ids=[f"{row.name} {side}" for row, side in SIDES])
def test_padding_is_cut_off_and_changes_nothing(row, side):
    given = inputs(row, (5, 9), side)
    found = recorded(row, given)
    compare(row, given, found)


@pytest.mark.parametrize("row", PADDED, ids=[row.name for row in PADDED])
def test_a_batch_of_unequal_texts_equals_single_runs(row):
    model = build(row, capture.NAME)
    capture.prepare(model)
    targets = [3, 7] if row.kind == "encoder-decoder" else None
    together = capture.record_parts(model, inputs(row, (5, 9)), [5, 9], targets)
    batch = inputs(row, (5, 9))
    for sample, length in enumerate((5, 9)):
        alone = {
            name: tensor[sample : sample + 1, : length - 2 if name.startswith("decoder") else length]
            for name, tensor in batch.items()
        }
        single = capture.record_parts(model, alone)[0]
        for part, records in single.items():
            for one, many in zip(records, together[sample][part], strict=True):
                for head in range(one.heads):
                    np.testing.assert_allclose(many.weights(head), one.weights(head), atol=TOLERANCE)


def test_bigbird_is_shown_up_to_where_it_becomes_sparse():
    row, full = (
        SPARSE_BIGBIRD,
        replace(SPARSE_BIGBIRD, config={**SPARSE_BIGBIRD.config, "attention_type": "original_full"}),
    )
    given = inputs(row, (14,))
    model = build(row, capture.NAME)
    capture.prepare(model)
    compare(full, given, capture.record_parts(model, given))
    with pytest.raises(ValueError, match="sparsely beyond 14 tokens, which cannot be shown; this text has 15"):
        capture.record_parts(model, inputs(row, (15,)))


def test_longformer_s_bands_are_put_in_their_place():
    """Each row sums to one, and a band's middle lies on the diagonal."""
    row = next(row for row in MAPS_ONLY if row.name == "Longformer")
    given = inputs(row, (8,))
    bands = eager(row, given)["encoder"][0][0].numpy()  # (head, query, window + 1)
    record = recorded(row, given)[0]["encoder"][0]
    half = bands.shape[-1] // 2
    for query in range(8):
        for place in range(bands.shape[-1]):
            key = query + place - half
            if 0 <= key < 8:
                np.testing.assert_allclose(record.maps[:, query, key], bands[:, query, place], atol=1e-6)


def test_threads_that_share_a_model_get_their_own_answers():
    row = RECORDED[0]
    model = build(row, capture.NAME)
    capture.prepare(model)
    given = [inputs(row, (length,)) for length in range(3, 11)]
    expected = [capture.record_parts(model, one)[0]["encoder"] for one in given]
    answers, start = {}, threading.Barrier(8)

    def work(number):
        start.wait()
        for _ in range(10):
            answers[number] = capture.record_parts(model, given[number])[0]["encoder"]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for number, layers in enumerate(expected):
        for one, other in zip(layers, answers[number], strict=True):
            np.testing.assert_array_equal(one.weights(2), other.weights(2))


def test_outside_a_recording_the_model_answers_as_with_plain_attention():
    for row in (
        RECORDED[0],
        next(r for r in RECORDED if r.name == "Llama"),
        next(r for r in RECORDED if r.name == "T5"),
    ):
        ours, plain = build(row, capture.NAME), build(row, "sdpa")
        given = inputs(row, (5, 9))
        capture.prepare(ours)
        with torch.inference_mode():
            one, other = ours(**given).last_hidden_state, plain(**given).last_hidden_state
            with capture.recording():
                noted = ours(**given).last_hidden_state
        real = given["decoder_attention_mask" if row.kind == "encoder-decoder" else "attention_mask"].bool()
        torch.testing.assert_close(one[real], other[real], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(noted[real], other[real], atol=1e-5, rtol=1e-4)


def test_heads_that_share_keys_have_their_shapes():
    row = next(row for row in RECORDED if row.name == "Llama")
    record = recorded(row, inputs(row, (5,)))[0]["decoder"][0]
    assert (record.query.shape, record.key.shape, record.value.shape) == ((4, 5, 6), (2, 5, 6), (2, 5, 6))
    assert not record.query.flags.writeable


def test_a_sample_holds_no_memory_of_its_batch():
    row = RECORDED[0]
    for parts in recorded(row, inputs(row, (5, 9))):
        for array in parts["encoder"][0].arrays():
            base = array if array.base is None else array.base
            assert getattr(base, "nbytes", array.nbytes) <= 9 * 24 * 4


def test_a_model_without_attention_is_refused():
    row = Architecture("Mamba", "mamba", "decoder", {"hidden_size": 24, "num_hidden_layers": 2, "vocab_size": 40})
    model = build(row, "eager")
    with pytest.raises(ValueError, match=r"MambaModel reports no attention"):
        capture.prepare(model)
