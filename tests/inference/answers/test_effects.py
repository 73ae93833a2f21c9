"""One answer under many sets of edits: each equals a pass of its own, whatever shares its batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, BertConfig, BertForPreTraining

from attention.edits import Ablate, Cut, Uniform
from inference import LocalBackend, Refusal, TraceRequest
from inference.answers import effects, many_sets
from inference.questions.effects import BlankEffects, FollowsEffects, NextTokenEffects, VectorEffects
from inference.settings import Settings
from tests.support.present import present
from tests.support.tinymodels import save, wordpiece

TEXT = "the animal was a cat"
SETS = ((), (Ablate(0, 1),), (Uniform(1, 2),), (Cut(1, 0, 2, 3),), (Ablate(0, 0), Ablate(0, 1), Ablate(0, 2)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save(folder / "gpt2", "gpt2")
    wordpiece(folder / "bert")
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForPreTraining(BertConfig(vocab_size=120, initializer_range=0.5, **sizes)).save_pretrained(folder / "bert")
    return folder


@pytest.fixture(scope="module")
def backend(folder: Path) -> LocalBackend:
    return LocalBackend(replace(Settings(), model_folders=(folder,)))


def test_the_sentence_vector_is_the_mean_of_the_last_layer(backend: LocalBackend) -> None:
    found = backend.inspect(VectorEffects(text=TEXT, edits=SETS))
    assert found.values.shape == (len(SETS), 384)
    loaded = backend.loaded("all-MiniLM-L6-v2", None)
    ids = torch.tensor([present(found.row).ids])
    with torch.inference_mode():
        last = loaded.model(input_ids=ids).last_hidden_state[0]
    np.testing.assert_allclose(found.values[0], last.mean(0), atol=1e-5)
    assert len(np.unique(found.values.round(4), axis=0)) == len(SETS), "every edit changes something"


@pytest.mark.parametrize("most", [1, 30, 4096])
def test_results_do_not_depend_on_what_shares_a_batch(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    expected = [backend.inspect(VectorEffects(text=TEXT, edits=(mine,))).values[0] for mine in SETS]
    monkeypatch.setattr(many_sets, "MOST_TOKENS", most)
    found = effects.answer(backend.loaded("all-MiniLM-L6-v2", None), VectorEffects(text=TEXT, edits=SETS))
    np.testing.assert_allclose(found.values, expected, atol=1e-5)


def test_the_traces_of_edited_requests_show_later_heads_change(backend: LocalBackend) -> None:
    plain, edited = backend.traces([TraceRequest(text=TEXT), TraceRequest(text=TEXT, edits=(Ablate(0, 1),))])
    assert plain.id != edited.id
    np.testing.assert_allclose(edited.weights(0, 3), plain.weights(0, 3), atol=1e-6)
    assert np.abs(edited.weights(1, 3) - plain.weights(1, 3)).max() > 1e-4


def test_words_for_a_blank_equal_the_model_s_own_logits(backend: LocalBackend, folder: Path) -> None:
    question = BlankEffects(str(folder / "bert"), text="the [MASK] was a cat", words=("animal", "street"), edits=SETS)
    found = backend.predict(question)
    model = AutoModelForMaskedLM.from_pretrained(folder / "bert")
    at = present(found.row).ids.index(4)
    with torch.inference_mode():
        logs = model(input_ids=torch.tensor([present(found.row).ids])).logits[0, at].log_softmax(-1)
    vocabulary = backend.loaded(str(folder / "bert"), None, "masked").reader.tokenizer.get_vocab()
    np.testing.assert_allclose(found.values[0], logs[[vocabulary["animal"], vocabulary["street"]]], atol=1e-5)
    assert found.top[0][0][1] == pytest.approx(float(logs.max().exp()), abs=1e-5)
    assert np.abs(found.values[1:] - found.values[0]).max() > 1e-4


def test_the_two_answers_about_a_pair_sum_to_one(backend: LocalBackend, folder: Path) -> None:
    found = backend.predict(FollowsEffects(str(folder / "bert"), text="the cat", pair="it was", edits=SETS))
    np.testing.assert_allclose(np.exp(found.values).sum(1), 1, atol=1e-6)
    assert np.ptp(found.values[:, 0]) > 1e-4


def test_the_next_token_s_probabilities_change_with_a_head(backend: LocalBackend, folder: Path) -> None:
    found = backend.predict(NextTokenEffects(str(folder / "gpt2"), text="the animal", words=("was",), edits=SETS[:3]))
    assert found.values.shape == (3, 1)
    assert len(set(found.values[:, 0].round(5))) == 3
    assert sum(probability for _, probability in found.top[0]) < 1


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (VectorEffects(text=TEXT, edits=((Ablate(6, 0),),)), "has 6 layers of 12 heads"),
        (VectorEffects(text=TEXT, edits=((Cut(0, 0, 1, 99),),)), "names a token that is not there"),
        (VectorEffects(text=TEXT, edits=((),) * 2049), "at most 2048"),
        (BlankEffects(text="the [MASK]", words=("cat",)), "no head that guesses masked words"),
        (FollowsEffects(text="one", pair="two"), "no head that judges"),
        (NextTokenEffects(text="one"), "no head that continues"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(backend: LocalBackend, question: Any, sentence: str) -> None:
    ask = backend.inspect if isinstance(question, VectorEffects) else backend.predict
    with pytest.raises(Refusal, match=sentence):
        ask(question)


def test_a_word_of_several_pieces_is_refused(backend: LocalBackend, folder: Path) -> None:
    with pytest.raises(Refusal, match="is 4 pieces"):
        backend.predict(BlankEffects(str(folder / "bert"), text="the [MASK]", words=("zxqv",)))
