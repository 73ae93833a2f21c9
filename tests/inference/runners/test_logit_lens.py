"""The logit lens: the last row is the model's own answer, the rest equals the head applied by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from inference import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from inference.tasks.predictions import Layers, Lens, MaskedWords
from tests.support.cases import loop_over
from tests.support.tinyheads import KINDS, save

TEXT = "The [MASK] was it."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lens")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def ask(backend: LocalBackend, root: Path, name: str, **more: Any) -> Layers:
    folder = root / name.replace(" ", "-")
    if not folder.exists():
        save(folder, name)
    return backend.predict(Lens(**{"model": str(folder), "text": TEXT, **more}))


@pytest.mark.slow
@loop_over("name", KINDS)
def test_the_last_row_is_the_models_own_answer(backend: LocalBackend, root: Path, name: str) -> None:
    found = ask(backend, root, name, top=4)
    own = backend.predict(MaskedWords(model=str(root / name.replace(" ", "-")), text=TEXT, top=4)).blanks[0]
    assert [guess.token for guess in found.guesses[-1]] == [guess.token for guess in own.guesses]
    for guess, other in zip(found.guesses[-1], own.guesses, strict=True):
        assert guess.probability == pytest.approx(other.probability, abs=1e-5)
    assert found.followed[0].token == own.guesses[0].token
    assert len(found.guesses) == (4 if name == "ModernBERT" else 3), "the embedding and each layer"
    assert found.normed == (name in ("ModernBERT", "ESM"))


def test_rows_by_hand_for_bert(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, "BERT", tokens=(8, 5, 7), top=200)
    network, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(root / "BERT"),
        AutoTokenizer.from_pretrained(root / "BERT"),
    )
    with torch.inference_mode():
        hidden = network(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True).hidden_states
        rows = torch.stack([network.cls(state[0, 2]).softmax(-1) for state in hidden])
    np.testing.assert_allclose(found.probabilities, rows[:, [8, 5, 7]].numpy(), atol=1e-5)
    for row, guesses in zip(rows, found.guesses, strict=True):
        order = [guess.token for guess in guesses]
        assert order == row.argsort(descending=True).tolist() or sorted(order) == list(range(len(order)))
        assert guesses[0].rank == 1
    place = [guess.token for guess in found.guesses[1]].index(8) + 1
    assert found.ranks[1, 0] == place
    assert [guess.token for guess in found.followed] == [8, 5, 7]


def test_a_closing_norm_comes_before_the_head(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, "ModernBERT")
    folder = root / "ModernBERT"
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    given = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    at = given.input_ids[0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        hidden = network(**given, output_hidden_states=True).hidden_states[1][0, at]
        row = network.decoder(network.head(network.model.final_norm(hidden))).softmax(-1)
    assert found.guesses[1][0].probability == pytest.approx(float(row.max()), abs=1e-5)


def test_pieces_that_are_not_there_are_left_out(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, root, "BERT", tokens=(10**6, -5, 7))
    assert [guess.token for guess in found.followed] == [7]


def test_a_blank_that_is_not_there(backend: LocalBackend, root: Path) -> None:
    with pytest.raises(UserError, match=r"blank 3\b.* has 1\b"):
        ask(backend, root, "BERT", blank=3)
    with pytest.raises(UserError, match="is hidden"):
        ask(backend, root, "BERT", text="The cat.")


def test_states_that_are_not_the_answers_are_refused(
    backend: LocalBackend, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inference.runners import logit_lens

    real = logit_lens.through_head
    monkeypatch.setattr(logit_lens, "through_head", lambda *given: real(*given) + 1)
    with pytest.raises(UserError, match="its hidden"):
        ask(backend, root, "BERT", text="The [MASK] sat.")
