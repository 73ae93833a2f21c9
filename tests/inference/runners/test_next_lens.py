"""The logit lens for the next token: its last row is the model's own answer, for every architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from attention.edits import Ablate
from inference import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from inference.task_heads import CAUSAL, WHAT
from inference.tasks.decoding import NextToken
from inference.tasks.predictions import NextLens
from tests.support.cases import loop_over
from tests.support.decoders import DECODERS, save_decoder
from tests.support.tinymodels import save

TEXT = "The animal was"
WRITTEN = (5, 300)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("next-lens")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


@pytest.mark.slow
@loop_over("name", DECODERS)
@loop_over("written", [(), WRITTEN])
def test_the_last_row_is_what_comes_next(
    backend: LocalBackend, root: Path, name: str, written: tuple[int, ...]
) -> None:
    model = str(save_decoder(root / name, name))
    found = backend.predict(NextLens(model=model, text=TEXT, written=written, top=4))
    own = backend.predict(NextToken(model=model, text=TEXT, written=written, top=4)).candidates
    assert [guess.token for guess in found.guesses[-1]] == [one.token for one in own]
    assert [guess.piece for guess in found.guesses[-1]] == [one.piece for one in own]
    for guess, other in zip(found.guesses[-1], own, strict=True):
        assert guess.probability == pytest.approx(other.probability, abs=1e-5)
    assert found.probabilities.shape == (3, 1), "the embedding and two layers; the likeliest is followed"
    assert not found.probabilities.flags.writeable


def test_rows_by_hand_for_gpt2(backend: LocalBackend, root: Path) -> None:
    folder = save_decoder(root / "GPT-2", "GPT-2")
    found = backend.predict(NextLens(model=str(folder), text=TEXT, written=WRITTEN, tokens=(8, 5, 10**6), top=3))
    network, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = torch.tensor([[*tokenizer(TEXT).input_ids, *WRITTEN]])
    with torch.inference_mode():
        hidden = network(input_ids=ids, output_hidden_states=True).hidden_states
        normed = [network.transformer.ln_f(state[0, -1]) for state in hidden[:-1]] + [hidden[-1][0, -1]]
        rows = torch.stack([network.lm_head(state).softmax(-1) for state in normed])
    assert found.normed
    np.testing.assert_allclose(found.probabilities, rows[:, [8, 5]].numpy(), atol=1e-6)
    assert [guess.token for guess in found.followed] == [8, 5]
    np.testing.assert_array_equal(found.ranks[:, 0], 1 + (rows > rows[:, 8:9]).sum(-1).numpy())


def test_an_edit_changes_the_rows_after_it_and_the_last_is_still_the_answer(backend: LocalBackend, root: Path) -> None:
    model = str(save_decoder(root / "Llama", "Llama"))
    edits = (Ablate(1, 2),)
    plain = backend.predict(NextLens(model=model, text=TEXT, tokens=(7,)))
    edited = backend.predict(NextLens(model=model, text=TEXT, tokens=(7,), edits=edits))
    own = backend.predict(NextToken(model=model, text=TEXT, also=(7,), edits=edits)).candidates
    np.testing.assert_allclose(edited.probabilities[:2], plain.probabilities[:2], atol=1e-7)
    assert edited.probabilities[2, 0] != pytest.approx(plain.probabilities[2, 0], rel=1e-3)
    [same] = [one.probability for one in own if one.token == 7]
    assert edited.probabilities[2, 0] == pytest.approx(same, abs=1e-6)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"text": " "}, "The text is empty"),
        ({"written": (10**6,)}, "no token 1000000"),
        ({"text": TEXT * 40}, "reads at most"),
    ],
)
def test_what_cannot_be_read_is_refused(backend: LocalBackend, root: Path, more: dict[str, Any], sentence: str) -> None:
    model = str(save_decoder(root / "GPT-2", "GPT-2"))
    with pytest.raises(UserError, match=sentence):
        backend.predict(NextLens(**{"model": model, "text": TEXT, **more}))


def test_an_encoder_has_nothing_to_continue_with(backend: LocalBackend, root: Path) -> None:
    save(root / "bert", "bert")
    with pytest.raises(UserError, match=f"bert has {WHAT[CAUSAL]}"):
        backend.predict(NextLens(model=str(root / "bert"), text=TEXT))
