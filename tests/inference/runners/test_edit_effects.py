"""Answers under many sets of edits, equal to separate passes for any batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, BertConfig, BertForPreTraining

from attention.edits import Ablate, MaskEdge, PatchResidual, Uniform
from inference import LocalBackend, TraceRequest, UserError
from inference.runners import edit_batches, edit_effects
from inference.settings import Settings
from inference.task_heads import CAUSAL, MASKED
from inference.tasks.edit_effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    FollowsEffects,
    NextTokenEffects,
    VectorEffects,
    WrittenEffects,
)
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.tinymodels import save, wordpiece

TEXT = "the animal was a cat"
SETS = ((), (Ablate(0, 1),), (Uniform(1, 2),), (MaskEdge(1, 0, 2, 3),), (Ablate(0, 0), Ablate(0, 1), Ablate(0, 2)))


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


@pytest.mark.slow
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
    monkeypatch.setattr(edit_batches, "MOST_TOKENS", most)
    found = edit_effects.answer(backend.loaded("all-MiniLM-L6-v2", None), VectorEffects(text=TEXT, edits=SETS))
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


@loop_over(
    ("question", "sentence"),
    [
        (VectorEffects(text=TEXT, edits=((Ablate(6, 0),),)), "has 6 layers of 12 heads"),
        (VectorEffects(text=TEXT, edits=((MaskEdge(0, 0, 1, 99),),)), "no token 99"),
        (VectorEffects(text=TEXT, edits=((),) * 2049), r"2049 .* 2048\b"),
        (BlankEffects(text="the [MASK]", words=("cat",)), "no masked-word head"),
        (FollowsEffects(text="one", pair="two"), "no next-sentence head"),
        (NextTokenEffects(text="one"), "no next-word head"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(backend: LocalBackend, question: Any, sentence: str) -> None:
    ask = backend.inspect if isinstance(question, VectorEffects) else backend.predict
    with pytest.raises(UserError, match=sentence):
        ask(question)


def test_a_word_of_several_pieces_is_refused(backend: LocalBackend, folder: Path) -> None:
    with pytest.raises(UserError, match=r"“zxqv” .* 4\b"):
        backend.predict(BlankEffects(str(folder / "bert"), text="the [MASK]", words=("zxqv",)))


# -- Activation patching from another text


OTHER = "the animal a was cat"


def whole(tokens: int, part: str = "") -> tuple[PatchResidual, ...]:
    return (PatchResidual(0, tuple((at, at) for at in range(tokens)), part),)


def test_all_that_enters_the_first_layer_gives_the_other_text_s_answer(backend: LocalBackend, folder: Path) -> None:
    bert, gpt2 = str(folder / "bert"), str(folder / "gpt2")
    hidden = ((0, 4, 10),)
    questions: list[tuple[AnyEffects, AnyEffects]] = [
        (VectorEffects(text=TEXT), VectorEffects(text=OTHER)),
        (BlankEffects(bert, text=TEXT, hidden=hidden, words=("cat", "the")),
         BlankEffects(bert, text=OTHER, hidden=hidden, words=("cat", "the"))),
        (NextTokenEffects(gpt2, text=TEXT, words=("a", "b")), NextTokenEffects(gpt2, text=OTHER, words=("a", "b"))),
    ]  # fmt: skip

    def ask(question: AnyEffects) -> Effect:
        return backend.inspect(question) if isinstance(question, VectorEffects) else backend.predict(question)

    for here, there in questions:
        other = ask(there)
        tokens = len(present(other.row))
        taken = ask(replace(here, edits=((), whole(tokens)), other=there))  # type: ignore[arg-type]  # same type
        np.testing.assert_allclose(taken.values[1], other.values[0], atol=2e-6)
        np.testing.assert_allclose(taken.values[0], ask(here).values[0], atol=2e-6)
        assert [name for name, _ in (taken.top or ((),))[-1]] == [name for name, _ in (other.top or ((),))[0]]
        assert np.abs(taken.values[1] - taken.values[0]).max() > 1e-4


@pytest.mark.slow
def test_a_translation_goes_on_as_the_other_text_s_does(backend: LocalBackend) -> None:
    loaded = backend.loaded("headlight-en-fr", None)
    texts = "The cat sleeps.", "The dog sleeps."
    rows = [present(backend.trace(TraceRequest("headlight-en-fr", text=text)).target).ids[1:] for text in texts]
    at = next(at for at, pair in enumerate(zip(*rows, strict=False)) if pair[0] != pair[1])
    written, words = tuple(rows[0][:at]), (rows[0][at], rows[1][at])
    here, there = (WrittenEffects("headlight-en-fr", text=text, written=written, words=words) for text in texts)
    before, after = backend.predict(here), backend.predict(there)
    assert before.values[0, 0] > before.values[0, 1]
    assert after.values[0, 0] < after.values[0, 1]
    tokens = len(loaded.reader.read(texts[0], None, 99, None).ids)
    taken = backend.predict(replace(here, edits=((), whole(tokens, "encoder"), (Ablate(0, 0, "cross"),)), other=there))
    np.testing.assert_allclose(taken.values[:2], [before.values[0], after.values[0]], atol=1e-5)
    assert np.abs(taken.values[2] - before.values[0]).max() > 1e-4
    start = loaded.model.config.decoder_start_token_id
    ids = torch.tensor([loaded.reader.read(texts[0], None, 99, None).ids])
    with torch.inference_mode():
        logits = loaded.model(input_ids=ids, decoder_input_ids=torch.tensor([[start, *written]])).logits
    np.testing.assert_allclose(before.values[0], logits[0, -1].log_softmax(-1)[list(words)], atol=1e-5)


def test_taking_without_another_text_is_refused(backend: LocalBackend) -> None:
    with pytest.raises(UserError, match="text came"):
        backend.inspect(VectorEffects(text=TEXT, edits=(whole(3),)))
    take = PatchResidual(0, ((90, 0),))
    with pytest.raises(UserError, match="Token 90 of the"):
        backend.inspect(VectorEffects(text=TEXT, edits=((take,),), other=VectorEffects(text=OTHER)))


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_head_read_at_one_token_says_what_it_says_of_all(backend: LocalBackend, folder: Path, kind: str) -> None:
    head = "masked" if kind == "bert" else "causal"
    model = backend.loaded(str(folder / kind), None, {"masked": MASKED, "causal": CAUSAL}[head]).model
    ids = torch.arange(5, 11)[None]
    with torch.inference_mode():
        every = model(input_ids=ids).logits
        with edit_batches.reading_one(model, 3):
            one = model(input_ids=ids).logits
        again = model(input_ids=ids).logits
    assert edit_batches.can_read_one(model)
    assert one.shape[1] == 1
    torch.testing.assert_close(one[:, 0], every[:, 3], atol=1e-5, rtol=0)
    assert torch.equal(again, every)
