"""Influence of each word on a word's vector, against derivatives, masks and hidden states of torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from attention.edits import ZeroValue
from inference import LocalBackend, UserError
from inference.record import capture
from inference.record.edit_hooks import apply_edits
from inference.runners import edit_batches, influence, word_influence
from inference.settings import Settings
from inference.tasks.attribution import AnyFocus, FlowToWord, WithoutWords, WordGradients, WordPath, ZeroedValues
from tests.support.architectures import RECORDED, Architecture, build, inputs
from tests.support.cases import loop_over
from tests.support.tinymodels import save

capture.install()

TEXT = "the animal was a cat"
FOCUS = (2, 3)
WORDS = tuple((at, at + 1) for at in range(1, 6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save(folder / "bert", "bert", initializer_range=0.5)
    for kind in ("gpt2", "deberta", "t5"):
        save(folder / kind, kind)
    return folder


@pytest.fixture(scope="module")
def backend(folder: Path) -> LocalBackend:
    return LocalBackend(replace(Settings(), model_folders=(folder,)))


@pytest.fixture(scope="module")
def plain(backend: LocalBackend, folder: Path) -> Any:
    """Return the same weights as transformers loads them, and the ids of the text."""
    loaded = backend.loaded(str(folder / "bert"), None)
    ids = torch.tensor([loaded.reader.read(TEXT, None, loaded.limit, None).ids])
    return AutoModel.from_pretrained(folder / "bert").eval(), ids


def ask(backend: LocalBackend, folder: Path, kind: Any, name: str = "bert", **more: Any) -> Any:
    return backend.inspect(kind(**{"model": str(folder / name), "text": TEXT, "focus": FOCUS, **more})).values


def test_gradients_equal_torch_s_jacobian_when_there_are_as_many_directions_as_channels(
    backend: LocalBackend, folder: Path, plain: Any
) -> None:
    model, ids = plain
    vectors = model.embeddings.word_embeddings(ids).detach()
    jacobian = torch.autograd.functional.jacobian(
        lambda given: model(inputs_embeds=given).last_hidden_state[0, 2], vectors
    )  # The shape is (channel, 1, token, channel).
    found = ask(backend, folder, WordGradients)
    np.testing.assert_allclose(found, jacobian.square().sum(dim=(0, 1, 3)).sqrt(), rtol=1e-3)


class Mixing(torch.nn.Module):
    """A linear model: each output vector is a mixture of all embeddings, times a matrix."""

    def __init__(self, mix: Any, matrix: Any) -> None:
        super().__init__()
        self.table, self.mix, self.matrix = torch.nn.Embedding(9, matrix.shape[0]), mix, matrix
        self.requires_grad_(False)

    def get_input_embeddings(self) -> Any:
        return self.table

    def forward(self, input_ids: Any) -> Any:
        return type("Output", (), {"last_hidden_state": self.mix @ self.table(input_ids) @ self.matrix})()


def test_gradients_of_a_linear_model_are_its_weights() -> None:
    generator = torch.Generator().manual_seed(0)
    mix, matrix = torch.randn(4, 4, generator=generator), torch.randn(3, 5, generator=generator)
    found = word_influence.gradients(Mixing(mix, matrix), {"input_ids": torch.arange(4)[None]}, (1, 2), 32)
    np.testing.assert_allclose(found, mix[1].abs() * matrix.norm(), rtol=1e-4)
    both = word_influence.gradients(Mixing(mix, matrix), {"input_ids": torch.arange(4)[None]}, (1, 3), 32)
    np.testing.assert_allclose(both, mix[1:3].mean(0).abs() * matrix.norm(), rtol=1e-4)


CAPPED_OR_SINKING = [row for row in RECORDED if row.model_type in ("gemma2", "gpt_oss")]


@pytest.mark.parametrize("row", CAPPED_OR_SINKING, ids=[row.name for row in CAPPED_OR_SINKING])
def test_gradients_pass_through_soft_caps_and_sinks(row: Architecture) -> None:
    """Gradients of the formula for soft caps and sinks equal those of the architecture's own code."""
    ours, plain, given = build(row, capture.NAME), build(row, "eager").requires_grad_(False), inputs(row, (7,))
    assert capture.prepare(ours)
    plain.config.use_cache = False
    found, expected = (word_influence.gradients(model, given, (5, 6), 24) for model in (ours, plain))
    assert (found[:6] > 0).all()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


def test_leaving_a_word_out_equals_masking_it(backend: LocalBackend, folder: Path, plain: Any) -> None:
    model, ids = plain
    found = ask(backend, folder, WithoutWords, words=WORDS)
    with torch.inference_mode():
        whole = model(ids).last_hidden_state[0, 2]
        for word, value in zip(WORDS, found, strict=True):
            mask = torch.ones_like(ids)
            mask[0, slice(*word)] = 0
            without = model(ids, attention_mask=mask).last_hidden_state[0, 2]
            assert value == pytest.approx(float(1 - torch.cosine_similarity(whole, without, dim=0)), abs=1e-5)
    assert found.max() > 1e-3


def test_leaving_nothing_out_changes_nothing(backend: LocalBackend, folder: Path) -> None:
    found = ask(backend, folder, WithoutWords, words=((3, 3), (1, 3)))
    assert found[0] == pytest.approx(0, abs=1e-6)
    assert found[1] > 1e-4, "a word of two pieces goes as a whole"


@pytest.mark.parametrize("layer", [0, 1])
def test_zeroed_values_equal_the_layer_s_hidden_states(backend: LocalBackend, folder: Path, layer: int) -> None:
    found = ask(backend, folder, ZeroedValues, layer=layer)
    model = backend.loaded(str(folder / "bert"), None).model
    ids = torch.tensor([backend.loaded(str(folder / "bert"), None).reader.read(TEXT, None, 40, None).ids])
    with torch.inference_mode():
        whole = model(ids, output_hidden_states=True).hidden_states[layer + 1][0]
        for key in range(ids.shape[1]):
            with apply_edits(model, [[ZeroValue(layer, key)]]):
                zeroed = model(ids, output_hidden_states=True).hidden_states[layer + 1][0]
            np.testing.assert_allclose(found[:, key], 1 - torch.cosine_similarity(whole, zeroed, dim=1), atol=1e-5)
    assert found.max() > 1e-3


def test_the_value_of_a_key_that_nobody_looks_at_does_not_matter(backend: LocalBackend, folder: Path) -> None:
    found = ask(backend, folder, ZeroedValues, "gpt2", layer=1)
    above = np.triu(np.ones_like(found, bool), 1)
    assert above.any()
    np.testing.assert_allclose(found[above], 0, atol=1e-6)
    assert found[~above].max() > 1e-6


@pytest.mark.slow
def test_the_path_s_shares_sum_to_what_it_rises(backend: LocalBackend, folder: Path, plain: Any) -> None:
    model, ids = plain
    told = backend.inspect(WordPath(str(folder / "bert"), text=TEXT, focus=FOCUS, steps=128))
    with torch.inference_mode():
        vectors = model.embeddings.word_embeddings(ids)
        last, first = (model(inputs_embeds=given).last_hidden_state[0, 2] for given in (vectors, 0 * vectors))
    rise = 1 - float(torch.cosine_similarity(first, last, dim=0))
    assert told.values.sum() == pytest.approx(rise, abs=0.02)
    assert told.missed == pytest.approx(float(told.values.sum()) - rise, abs=1e-4)
    assert told.rise == pytest.approx(rise, abs=1e-4)


@pytest.mark.parametrize("most", [1, 15, 4096])
def test_answers_do_not_depend_on_what_shares_a_batch(
    backend: LocalBackend, folder: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    loaded = backend.loaded(str(folder / "bert"), None)
    questions: list[AnyFocus] = [
        WithoutWords(text=TEXT, focus=FOCUS, words=WORDS),
        ZeroedValues(text=TEXT, layer=1),
        WordGradients(text=TEXT, focus=FOCUS),
        WordPath(text=TEXT, focus=FOCUS),
    ]
    expected = [word_influence.answer(loaded, question).values for question in questions]
    for module, name in ((edit_batches, "MOST_TOKENS"), (influence, "BATCH"), (word_influence, "BATCH")):
        monkeypatch.setattr(module, name, most)
    for question, values in zip(questions, expected, strict=True):
        np.testing.assert_allclose(word_influence.answer(loaded, question).values, values, atol=1e-5, rtol=1e-4)


@loop_over(
    ("kind", "more", "sentence"),
    [
        (WordGradients, {"text": "a " * 130, "model": "all-MiniLM-L6-v2"}, "limit here is 128"),
        (WordGradients, {"focus": (3, 99)}, "were asked about"),
        (FlowToWord, {"text": "a " * 60, "model": "all-MiniLM-L6-v2"}, "limit here is 48"),
        (ZeroedValues, {"layer": 2}, "2 layers"),
        (ZeroedValues, {"name": "deberta"}, "own code"),
        (WithoutWords, {"name": "deberta", "words": WORDS}, "own code"),
        (WordGradients, {"name": "t5"}, "reads one text and writes another"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    backend: LocalBackend, folder: Path, kind: Any, more: Any, sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        ask(backend, folder, kind, **more)


def test_a_model_with_maps_only_still_has_gradients(backend: LocalBackend, folder: Path) -> None:
    assert (ask(backend, folder, WordGradients, "deberta") > 0).any()
    assert ask(backend, folder, FlowToWord, "deberta").shape == ask(backend, folder, WordPath, "deberta").shape
