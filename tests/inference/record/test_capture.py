"""Weights computed from records equal eager attention, for every architecture."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attention.record import MapRecord, Record
from inference.record import capture
from tests.support.architectures import (
    CLIP_TEXT,
    EVERY_RECORDED,
    GROUPED,
    MAPS_ONLY,
    VISION,
    Architecture,
    build,
    inputs,
    named,
)
from tests.support.cases import loop_over

capture.install()
EVERY = EVERY_RECORDED + MAPS_ONLY
IDS = [row.name for row in EVERY]
TEXTS = ("encoder", "decoder", "encoder-decoder")
PADDED = [row for row in EVERY if row.kind in TEXTS]
TOLERANCE = 3e-6


READY: dict[str, Any] = {}  # Models shared by tests that do not change them.
EAGER: dict[str, Any] = {}


def eager(row: Architecture, given: Any) -> Any:
    """Return the architecture's own eager attention by part, tensors (batch, head, query, key)."""
    if repr(row) not in EAGER:
        EAGER[repr(row)] = build(row, "eager")
    with torch.inference_mode():
        output = EAGER[repr(row)](**given, output_attentions=True)
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    found = {part: output.get(name) for part, name in names.items()}
    if output.get("attentions") is not None:
        found["decoder" if row.kind in ("decoder", "cross") or "CLIP, text" in row.name else "encoder"] = output[
            "attentions"
        ]
    return {part: layers for part, layers in found.items() if layers}


def recorded(row: Architecture, given: Any, **lengths: Any) -> Any:
    """Return the records of a pass with the same weights."""
    return capture.record_parts(ready(row), given, **lengths)


def ready(row: Architecture) -> Any:
    """Build the row's model with recorded attention, or return the cached model."""
    if repr(row) not in READY:
        model = build(row, capture.NAME)
        assert capture.prepare(model) == (row in EVERY_RECORDED)
        READY[repr(row)] = model
    return READY[repr(row)]


def compare(row: Architecture, given: Any, found: Any) -> None:
    """Assert that every record equals eager attention on the real tokens of each sample."""
    expected = eager(row, given)
    for sample, parts in enumerate(found):
        assert set(parts) == set(expected)
        for part, records in parts.items():
            for record, whole in zip(records, expected[part], strict=True):
                if row.model_type in ("longformer", "led") and part == "encoder":
                    continue  # tests/inference/record/test_longformer.py compares bands with the formula.
                real = whole[sample].numpy()
                rows = places(given, row, "target" if part != "encoder" else "source", sample, real.shape[1])
                cols = places(given, row, "target" if part == "decoder" else "source", sample, real.shape[2])
                ours = np.stack([record.weights(head) for head in range(record.heads)])
                np.testing.assert_allclose(ours, real[:, rows][:, :, cols], atol=TOLERANCE)
                last = ours[:, -1][ours[:, -1] > 0]
                assert np.ptp(last) > 0.02, "random weights must not give uniform attention"


def places(given: Any, row: Architecture, side: Any, sample: Any, length: int) -> Any:
    """Return the positions of the sample's real tokens, by the attention mask of that side."""
    two = row.kind in ("encoder-decoder", "sound")
    names = {
        "source": "attention_mask" if row.kind != "cross" else "",
        "target": "decoder_attention_mask" if two else "attention_mask",
    }
    mask = given.get(names[side])
    return np.arange(length) if mask is None else mask[sample].nonzero().flatten().numpy()


@pytest.mark.slow
@loop_over("row", EVERY, ids=IDS)
def test_weights_equal_eager_attention(row: Any) -> None:
    given = inputs(row)
    found = recorded(row, given)
    compare(row, given, found)
    for records in found[0].values():
        for record in records:
            assert isinstance(record, Record if row in EVERY_RECORDED else MapRecord)
            assert all(array.dtype in (np.float32, bool) and not array.flags.writeable for array in record.arrays())
            sums = np.stack([record.weights(head).sum(axis=1) for head in range(record.heads)])
            given_away = np.stack(
                [record.row_sums(head) for head in range(record.heads)]
            )  # Only sinks make this less than 1.
            np.testing.assert_allclose(sums, given_away, rtol=0, atol=1e-6)
            assert row.model_type == "gpt_oss" or np.allclose(sums, 1, rtol=0, atol=1e-6)


@loop_over("lengths", [(7,), (5, 9)], ids=["alone", "padded"])
@loop_over("row", EVERY_RECORDED, ids=[row.name for row in EVERY_RECORDED])
def test_what_is_recorded_fits_together(row: Architecture, lengths: Any) -> None:
    """Vectors, mask, bias and log-sum-exp have consistent shapes; the log-sum-exp is that of the scores."""
    for records in recorded(row, inputs(row, lengths))[0].values():
        for record in records:
            heads, queries, channels = record.query.shape
            kv_heads, keys, _ = record.key.shape
            halves = 2 if row.name == "DiffLlama" else 1  # Each call weights half of the values.
            assert record.value.shape == (kv_heads, keys, halves * channels)
            assert (record.mask.queries, record.mask.keys) == (queries, keys)
            assert record.bias is None or record.bias.shape in ((1, queries, keys), (heads, queries, keys))
            assert record.lse is not None
            assert record.lse.shape == (heads, queries)
            without = replace(record, lse=None)
            for head in range(heads):
                np.testing.assert_allclose(record.lse[head], without.log_sum_exp(head), atol=1e-5)


SIDES = [(row, side) for row in PADDED for side in ("right", "left")]


@pytest.mark.slow
@loop_over(("row", "side"), SIDES, ids=[f"{row.name} {side}" for row, side in SIDES])
def test_padding_is_cut_off_and_changes_nothing(row: Any, side: Any) -> None:
    given = inputs(row, (5, 9), side)
    found = recorded(row, given)
    compare(row, given, found)


@loop_over("row", PADDED, ids=[row.name for row in PADDED])
def test_a_batch_of_unequal_texts_equals_single_runs(row: Any) -> None:
    model = ready(row)
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BERT", "Gemma 2", "T5", "MPNet"])
def test_threads_that_share_a_model_get_their_own_answers(name: str) -> None:
    row = named(name)
    model = build(row, capture.NAME)
    capture.prepare(model)
    given = [inputs(row, (length, 9)) if length % 2 else inputs(row, (length,)) for length in range(3, 11)]
    expected = [weights(capture.record_parts(model, one)) for one in given]
    answers, start = {}, threading.Barrier(8)

    def work(number: Any) -> None:
        start.wait()
        answers[number] = [weights(capture.record_parts(model, given[number])) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, alone in enumerate(expected):
        for answer in answers[number]:
            for one, other in zip(alone, answer, strict=True):
                np.testing.assert_array_equal(one, other)


def weights(samples: Any) -> list[Any]:
    """Return the maps of all samples, in order."""
    records = [record for parts in samples for part in parts.values() for record in part]
    return [record.weights(head) for record in records for head in range(record.heads)]


def test_outside_a_recording_the_model_answers_as_with_plain_attention() -> None:
    for row in (
        named("BERT"),
        named("Llama"),
        named("T5"),
    ):
        ours, plain = build(row, capture.NAME), build(row, "sdpa")
        given = inputs(row, (5, 9))
        capture.prepare(ours)
        with torch.inference_mode():
            one, other = ours(**given).last_hidden_state, plain(**given).last_hidden_state
            with capture.record_attention():
                noted = ours(**given).last_hidden_state
        real = given["decoder_attention_mask" if row.kind == "encoder-decoder" else "attention_mask"].bool()
        torch.testing.assert_close(one[real], other[real], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(noted[real], other[real], atol=1e-5, rtol=1e-4)


def test_the_model_s_output_comes_along() -> None:
    for row in (named("BERT"), named("MPNet")):
        model, given = build(row, capture.NAME), inputs(row)
        capture.prepare(model)
        with torch.inference_mode():
            expected = build(row, "eager")(**given).last_hidden_state
        torch.testing.assert_close(
            capture.record(model, given).output.last_hidden_state, expected, atol=1e-5, rtol=1e-4
        )


def test_heads_that_share_keys_have_their_shapes() -> None:
    record = recorded(named("Llama"), inputs(named("Llama"), (5,)))[0]["decoder"][0]
    assert (record.query.shape, record.key.shape, record.value.shape) == ((4, 5, 6), (2, 5, 6), (2, 5, 6))


def test_windows_become_rules() -> None:
    longer = inputs(named("Mistral"), (5, 9))
    for record in recorded(named("Mistral"), longer)[1]["decoder"]:
        assert (record.mask.causal, record.mask.left, record.mask.allowed) == (True, 3, None)
    masks = [record.mask for record in recorded(named("ModernBERT"), longer)[1]["encoder"]]
    assert [(mask.left, mask.right, mask.allowed) for mask in masks] == [(None, None, None), (2, 2, None), (2, 2, None)]


@loop_over("kind", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
@loop_over("lengths", [(33,), (5, 9)], ids=["alone", "padded"])
@loop_over("name", ["BERT", "Llama", "T5", "Gemma 2"])
def test_half_precision_is_recorded_in_full(name: str, lengths: Any, kind: Any) -> None:
    row = named(name)
    model = build(row, capture.NAME).to(kind)
    capture.prepare(model)
    for parts in capture.record_parts(model, inputs(row, lengths)):
        for records in parts.values():
            for record in records:
                assert {array.dtype for array in record.arrays()} <= {np.dtype(np.float32), np.dtype(bool)}
                np.testing.assert_allclose(record.weights(1).sum(axis=1), 1, rtol=0, atol=1e-6)


def test_text_and_picture_of_one_model_are_kept_apart() -> None:
    """A picture is never padded to the length of the texts in its batch."""
    config = {"text_config": CLIP_TEXT, "vision_config": VISION, "projection_dim": 8}
    row = Architecture("CLIP", "clip", "encoder", config)
    given = inputs(named("CLIP, text"), (7, 10)) | inputs(named("CLIP, vision"), (7, 10))
    for tokens, parts in zip((7, 10), recorded_any(row, given), strict=True):
        assert [record.keys for record in parts["encoder"]] == [10, 10]  # There are 9 patches and a class token.
        assert [record.keys for record in parts["decoder"]] == [tokens, tokens]


def recorded_any(row: Architecture, given: Any) -> Any:
    """Return the records of a row outside the tables."""
    model = build(row, capture.NAME)
    capture.prepare(model)
    return capture.record_parts(model, given)


GRANITE = {**GROUPED, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}


@pytest.mark.parametrize(
    "row",
    [
        Architecture("Granite SWA", "granite_swa", "decoder", GRANITE),
        Architecture(
            "Granite MoE SWA",
            "granitemoe_swa",
            "decoder",
            {**GRANITE, "num_local_experts": 2, "num_experts_per_tok": 1},
        ),
    ],
    ids=lambda row: row.name,
)
def test_weights_with_sinks_are_those_of_the_output(row: Architecture) -> None:
    """Granite's eager attention reports its weights without the sink's share; its output includes the sink."""
    model, given, mixed = build(row, capture.NAME), inputs(row), []
    capture.prepare(model)
    for layer in model.layers:
        layer.self_attn.o_proj.register_forward_pre_hook(lambda _module, args: mixed.append(args[0][0]))
    mixed.clear()
    records = capture.record_parts(model, given)[0]["decoder"]
    reported = eager(row, given)["decoder"]
    for record, output, before in zip(records, mixed, reported, strict=True):
        assert isinstance(record, Record)
        weights = np.stack([record.weights(head) for head in range(record.heads)])
        shares = np.stack([record.row_sums(head) for head in range(record.heads)])
        values = np.stack([record.value[record.kv_head(head)] for head in range(record.heads)])
        np.testing.assert_allclose((weights @ values).transpose(1, 0, 2).reshape(output.shape), output, atol=1e-5)
        np.testing.assert_allclose(weights, before[0].numpy() * shares[..., None], atol=TOLERANCE)
        assert shares.min() < 0.9, "the sinks take something"
