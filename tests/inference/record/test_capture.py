"""The law of the house: weights computed from what is recorded equal eager attention, for every architecture."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from attention.record import MapRecord, Record
from inference.files import embedded
from inference.record import capture
from tests.support.architectures import CLIP_TEXT, MAPS_ONLY, RECORDED, VISION, Architecture, build, inputs, named
from tests.support.traces import by_hand

capture.install()
EVERY = RECORDED + MAPS_ONLY
IDS = [row.name for row in EVERY]
TEXTS = ("encoder", "decoder", "encoder-decoder")
PADDED = [row for row in EVERY if row.kind in TEXTS]
TOLERANCE = 3e-6


def eager(row: Architecture, given: Any) -> Any:
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


def recorded(row: Architecture, given: Any, **lengths: Any) -> Any:
    """Our records of the same weights."""
    model = build(row, capture.NAME)
    assert capture.prepare(model) == (row in RECORDED)
    return capture.record_parts(model, given, **lengths)


def compare(row: Architecture, given: Any, found: Any) -> None:
    """Every record against eager, on each sample's real tokens."""
    expected = eager(row, given)
    for sample, parts in enumerate(found):
        assert set(parts) == set(expected)
        for part, records in parts.items():
            for record, whole in zip(records, expected[part], strict=True):
                if row.model_type in ("longformer", "led") and part == "encoder":
                    continue  # reported as bands; tests/inference/record/test_bands.py compares them with the formula
                real = whole[sample].numpy()
                rows = places(given, row, "target" if part != "encoder" else "source", sample, real.shape[1])
                cols = places(given, row, "target" if part == "decoder" else "source", sample, real.shape[2])
                ours = np.stack([record.weights(head) for head in range(record.heads)])
                np.testing.assert_allclose(ours, real[:, rows][:, :, cols], atol=TOLERANCE)
                last = ours[:, -1][ours[:, -1] > 0]
                assert np.ptp(last) > 0.02, "random weights must not give uniform attention"


def places(given: Any, row: Architecture, side: Any, sample: Any, length: int) -> Any:
    """Where the sample's real tokens stand, by the attention masks that the model was given."""
    two = row.kind in ("encoder-decoder", "sound")
    names = {
        "source": "attention_mask" if row.kind != "cross" else "",
        "target": "decoder_attention_mask" if two else "attention_mask",
    }
    mask = given.get(names[side])
    return np.arange(length) if mask is None else mask[sample].nonzero().flatten().numpy()


@pytest.mark.parametrize("row", EVERY, ids=IDS)
def test_weights_equal_eager_attention(row: Any) -> None:
    given = inputs(row)
    found = recorded(row, given)
    compare(row, given, found)
    for records in found[0].values():
        for record in records:
            assert isinstance(record, Record if row in RECORDED else MapRecord)
            assert all(array.dtype in (np.float32, bool) and not array.flags.writeable for array in record.arrays())
            sums = np.stack([record.weights(head).sum(axis=1) for head in range(record.heads)])
            given_away = np.stack([record.given(head) for head in range(record.heads)])  # less than one with sinks only
            np.testing.assert_allclose(sums, given_away, rtol=0, atol=1e-6)
            assert row.model_type == "gpt_oss" or np.allclose(sums, 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize("row", RECORDED, ids=[row.name for row in RECORDED])
def test_no_weight_is_further_from_float64_than_eager_s(row: Architecture, size: float) -> None:
    """Of the same queries and keys, with scores as they are and with large ones."""
    for records in recorded(row, inputs(row, (5, 9)))[0].values():
        for found in records:
            record = replace(found, query=found.query * np.float32(size))
            for head in range(record.heads):
                exact = by_hand(record, head)
                ours, other = (np.abs(weights - exact) for weights in (record.weights(head), in_float32(record, head)))
                assert (ours <= other + 1e-12).all()


def in_float32(record: Any, head: int) -> Any:
    """Eager attention of a record's queries and keys, in torch's float32, (query, key)."""
    query, key = (torch.tensor(vectors) for vectors in (record.query[head], record.key[record.kv_head(head)]))
    scores = query @ key.T * record.scale
    if record.softcap is not None:
        scores = torch.tanh(scores / record.softcap) * record.softcap
    if record.bias is not None:
        scores = scores + torch.tensor(record.bias[head % len(record.bias)])
    allowed = record.mask.block(slice(None), slice(None))
    if allowed is not None:
        scores = scores.masked_fill(~torch.tensor(allowed), -torch.inf)
    if record.sinks is None:
        return scores.softmax(-1).numpy()
    sink = torch.full((len(scores), 1), float(record.sinks[head]))
    return torch.cat([scores, sink], dim=-1).softmax(-1)[:, :-1].numpy()


@pytest.mark.parametrize("text", ["word " * 400, "The animal did not cross the street because it was too tired."])
def test_a_real_model_s_maps_are_no_further_from_float64_than_eager_s(text: str) -> None:
    """The whole model in float64, so that what the layers below round is in both distances."""
    folder, implementations = str(embedded.folder()), {"ours": capture.NAME, "eager": "eager", "exact": "eager"}
    given = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", return_token_type_ids=False)
    maps = {}
    for name, implementation in implementations.items():
        kind = torch.float64 if name == "exact" else torch.float32
        model = AutoModel.from_pretrained(folder, attn_implementation=implementation, dtype=kind)
        if name == "ours":
            assert capture.prepare(model)
            maps[name] = np.stack(weights(capture.record_parts(model, dict(given))))
        else:
            with torch.inference_mode():
                maps[name] = torch.cat(model.eval()(**given, output_attentions=True).attentions, dim=1)[0].numpy()
    ours, other = (np.abs(maps[name] - maps["exact"]).max() for name in ("ours", "eager"))
    assert ours <= other
    np.testing.assert_allclose(maps["ours"].sum(axis=-1), 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("lengths", [(7,), (5, 9)], ids=["alone", "padded"])
@pytest.mark.parametrize("row", RECORDED, ids=[row.name for row in RECORDED])
def test_what_is_recorded_fits_together(row: Architecture, lengths: Any) -> None:
    """Vectors, mask, bias and sums have the sizes of this attention; the sums are those of the scores."""
    for records in recorded(row, inputs(row, lengths))[0].values():
        for record in records:
            heads, queries, channels = record.query.shape
            kv_heads, keys, _ = record.key.shape
            assert record.value.shape == (kv_heads, keys, channels)
            assert (record.mask.queries, record.mask.keys) == (queries, keys)
            assert record.bias is None or record.bias.shape in ((1, queries, keys), (heads, queries, keys))
            assert record.lse is not None
            assert record.lse.shape == (heads, queries)
            without = replace(record, lse=None)
            for head in range(heads):
                np.testing.assert_allclose(record.lse[head], without.log_sum_exp(head), atol=1e-5)


SIDES = [(row, side) for row in PADDED for side in ("right", "left")]


@pytest.mark.parametrize(("row", "side"), SIDES, ids=[f"{row.name} {side}" for row, side in SIDES])
def test_padding_is_cut_off_and_changes_nothing(row: Any, side: Any) -> None:
    given = inputs(row, (5, 9), side)
    found = recorded(row, given)
    compare(row, given, found)


@pytest.mark.parametrize("row", PADDED, ids=[row.name for row in PADDED])
def test_a_batch_of_unequal_texts_equals_single_runs(row: Any) -> None:
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
    """Every map of every sample, in order."""
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
            with capture.recording():
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


def test_what_layers_share_is_kept_once() -> None:
    one, other = recorded(named("T5"), inputs(named("T5"), (5, 9)))[1]["encoder"]
    assert one.bias is other.bias
    assert one.mask is other.mask


def memory(array: Any) -> Any:
    """The memory that an array keeps alive: where it is, and its bytes."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    if isinstance(array.base, torch.Tensor):
        storage = array.base.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    return array.ctypes.data, array.nbytes


@pytest.mark.parametrize("name", ["BERT", "GPT-2", "ModernBERT", "Llama", "T5", "MPNet", "XLNet"])
@pytest.mark.parametrize("lengths", [(9,), (3, 33)])
def test_a_sample_holds_little_more_memory_than_it_says(name: str, lengths: Any) -> None:
    """Neither its batch's, nor its padding's, nor that of a projection it was a part of."""
    row = named(name)
    for parts in recorded(row, inputs(row, lengths)):
        for records in parts.values():
            for record in records:
                held = sum(dict(memory(array) for array in record.arrays()).values())
                assert held <= 1.5 * sum(array.nbytes for array in record.arrays())


@pytest.mark.parametrize("name", ["GPT-2", "ModernBERT"])
def test_a_forward_pass_keeps_no_fused_projection(name: str) -> None:
    """While it runs, too: its peak is what is recorded, not three times the values."""
    row = named(name)
    model = build(row, capture.NAME)
    with capture.recording() as tape:
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


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("lengths", [(33,), (5, 9)], ids=["alone", "padded"])
@pytest.mark.parametrize("name", ["BERT", "Llama", "T5", "Gemma 2"])
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
    """A picture is never padded, however long the texts beside it are."""
    config = {"text_config": CLIP_TEXT, "vision_config": VISION, "projection_dim": 8}
    row = Architecture("CLIP", "clip", "encoder", config)
    given = inputs(named("CLIP, text"), (7, 10)) | inputs(named("CLIP, vision"), (7, 10))
    for tokens, parts in zip((7, 10), recorded_any(row, given), strict=True):
        assert [record.keys for record in parts["encoder"]] == [10, 10]  # 9 patches and one for the whole
        assert [record.keys for record in parts["decoder"]] == [tokens, tokens]


def recorded_any(row: Architecture, given: Any) -> Any:
    """Records of a row that is in no table."""
    model = build(row, capture.NAME)
    capture.prepare(model)
    return capture.record_parts(model, given)
