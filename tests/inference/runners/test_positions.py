"""Positional encodings that are reported for a model, equal to those in its computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from attention.positions import alibi_slopes, frequencies, t5_buckets
from attention.record import Record
from inference import LocalBackend, TraceRequest
from inference.anatomy.positions import slopes
from inference.record import capture
from inference.runners.positions import _sines
from inference.settings import Settings
from inference.tasks.positions import PositionsRequest
from tests.support.architectures import Architecture, build, named
from tests.support.cases import loop_over
from tests.support.positionmodels import save
from tests.support.present import present
from ui.pages.positions.distances import by_offset

KINDS = ("roberta", "t5", "marian", "llama", "modernbert", "bloom")
capture.install()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def local(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(folder,), cache=tmp_path_factory.mktemp("cache")))


def held(local: LocalBackend, folder: Path, kind: str) -> Any:
    return local.inspect(PositionsRequest(model=str(folder / kind)))


@pytest.mark.slow
def test_the_embedded_model_has_learned_vectors_and_an_end(local: LocalBackend) -> None:
    found = local.inspect(PositionsRequest())
    (table,) = found.tables
    assert (table.path, table.vectors.shape, table.layout) == ("embeddings.position_embeddings", (512, 384), "")
    assert table.error is None
    assert not table.vectors.flags.writeable
    weights = local.loaded("all-MiniLM-L6-v2", None).model.embeddings.position_embeddings.weight
    np.testing.assert_array_equal(table.vectors, weights.numpy())
    assert (found.rotary, found.biases, found.slopes, found.others) == ((), (), None, ())
    assert found.trained == 512
    assert "all-MiniLM-L6-v2 reads at most 512" in found.refusal


def test_rows_that_stand_for_padding_are_left_out(local: LocalBackend, folder: Path) -> None:
    found = held(local, folder, "roberta")
    weights = local.loaded(str(folder / "roberta"), None).model.embeddings.position_embeddings.weight
    np.testing.assert_array_equal(found.tables[0].vectors, weights.numpy()[2:])
    assert found.trained == 40


def test_a_translation_model_s_sines_are_the_paper_s(local: LocalBackend, folder: Path) -> None:
    (table,) = held(local, folder, "marian").tables
    assert (table.path, table.layout) == ("encoder.embed_positions", "halves")
    assert table.error < 1e-6


def test_a_table_stated_to_be_sines_of_another_spacing_says_how_far_off_it_is() -> None:
    model = build(named("M2M100"), "eager")
    weights = model.encoder.embed_positions.weights.numpy()[1:]
    layout, error = _sines(weights, stated=True)
    assert layout == "other"
    assert present(error) > 0.1
    assert _sines(weights, stated=False) == ("", None)


def test_t5_s_bias_is_what_was_added_to_the_scores(local: LocalBackend, folder: Path) -> None:
    found = held(local, folder, "t5")
    (bias,) = found.biases
    assert (bias.values.shape, bias.farthest, bias.both_ways) == ((32, 3), 128, True)
    assert (found.trained, found.refusal) == (None, "")
    text = "the cat was playing and the animal was on the street; " * 6
    record = local.trace(TraceRequest(model=str(folder / "t5"), text=text, target="the cat")).records("encoder")[0]
    assert isinstance(record, Record)
    tokens = record.queries
    assert tokens > 140, "longer than the farthest bucket"
    values = by_offset(bias, np.arange(1 - tokens, tokens))
    offsets = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    assert record.bias is not None
    np.testing.assert_allclose(record.bias, values[:, offsets + tokens - 1], atol=1e-6)


@loop_over(("buckets", "farthest"), [(32, 128), (32, 20), (8, 64)])
@loop_over("both_ways", [True, False])
def test_buckets_are_those_of_the_model_s_code(buckets: int, farthest: int, both_ways: bool) -> None:
    offsets = np.arange(-400, 401)
    bucket = T5Attention._relative_position_bucket  # noqa: SLF001  # no public way
    theirs = bucket(torch.tensor(offsets), both_ways, buckets, farthest)
    np.testing.assert_array_equal(t5_buckets(offsets, buckets, farthest, both_ways), theirs.numpy())


def test_rotary_angles_are_those_that_turned_queries_and_keys(local: LocalBackend, folder: Path) -> None:
    """With a repeated token, the score at (i, j) is that of the first query and key, rotated by i - j positions."""
    (rotary,) = held(local, folder, "llama").rotary
    np.testing.assert_allclose(rotary.frequencies, frequencies(8, rotary.theta), rtol=1e-6)
    assert (rotary.layers, rotary.scaling, rotary.width) == ("", "default", 8)
    trace = local.trace(TraceRequest(model=str(folder / "llama"), text="!" * 12))
    assert len(set(trace.source.ids)) == 1
    for head in range(3):
        query, key = trace.query(0, head), trace.key(0, head)
        pairs = (query[0, :4] + 1j * query[0, 4:]) * (key[0, :4] + 1j * key[0, 4:]).conj()
        for i, j in [(0, 0), (5, 2), (11, 0), (7, 6)]:
            turned = (pairs * np.exp(1j * (i - j) * rotary.frequencies)).real.sum()
            assert query[i] @ key[j] == pytest.approx(turned, abs=1e-4)


def test_layers_of_two_kinds_turn_by_two_sets_of_angles(local: LocalBackend, folder: Path) -> None:
    full, sliding = held(local, folder, "modernbert").rotary
    assert (full.layers, sliding.layers) == ("full_attention", "sliding_attention")
    for rotary in (full, sliding):
        np.testing.assert_allclose(rotary.frequencies, frequencies(8, rotary.theta), rtol=1e-6)
    assert full.theta > sliding.theta


def test_bloom_s_slopes(local: LocalBackend, folder: Path) -> None:
    found = held(local, folder, "bloom")
    np.testing.assert_allclose(found.slopes, alibi_slopes(3), rtol=1e-6)
    assert (found.tables, found.rotary, found.kind) == ((), (), "decoder")


@loop_over("heads", [1, 4, 6, 12, 16, 25])
def test_slopes_are_those_of_the_models_code(heads: int) -> None:
    sizes = {"hidden_size": 6 * heads, "n_layer": 1, "n_head": heads, "vocab_size": 40}
    bloom = build(Architecture("BLOOM", "bloom", "decoder", sizes), "eager")
    np.testing.assert_allclose(present(slopes(bloom)).numpy(), alibi_slopes(heads), rtol=1e-5)


def test_slopes_of_others() -> None:
    mpt = build(named("MPT"), "eager")
    assert present(slopes(mpt)).tolist() == pytest.approx([2**-4, 2**-8, 2**-2])  # Three heads in MPT's order.
    falcon = named("Falcon")
    assert slopes(build(falcon, "eager")) is None
    with_alibi = Architecture("Falcon", "falcon", "decoder", {**falcon.config, "alibi": True})
    found = present(slopes(build(with_alibi, "eager"))).numpy()
    np.testing.assert_allclose(found, alibi_slopes(3) / 8**0.5, rtol=1e-2)  # Falcon rounds its slopes to bfloat16.
    assert slopes(build(named("BERT"), "eager")) is None
