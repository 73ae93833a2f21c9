"""Surprisal of texts: equal to separate passes, with sums checked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from attention.tokens import bits, pseudo_perplexity, sum_over_words
from inference import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from inference.tasks.predictions import SurprisalRequest
from tests.support.tinyheads import save

TEXT = "The animal was playing."  # [CLS] the animal was play ##ing . [SEP]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("surprise")
    save(root / "BERT", "BERT")
    return root


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def one_by_one(folder: Path, hidden: list[list[int]]) -> list[float]:
    """Return the log-probability of the first hidden token of each list, each from a separate pass."""
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    found = []
    for places in hidden:
        given = ids.clone()
        given[0, places] = tokenizer.mask_token_id
        with torch.inference_mode():
            found.append(float(network(given).logits[0, places[0]].log_softmax(-1)[ids[0, places[0]]]))
    return found


def test_equals_one_text_at_a_time_with_the_rest_of_the_word_hidden(backend: LocalBackend, root: Path) -> None:
    found = backend.predict(SurprisalRequest(model=str(root / "BERT"), text=TEXT, stop=99))
    assert found.row.pieces == ("[CLS]", "the", "animal", "was", "play", "ing", ".", "[SEP]")
    assert found.places == (1, 2, 3, 4, 5, 6)
    assert found.total == 6
    expected = one_by_one(root / "BERT", [[1], [2], [3], [4, 5], [5], [6]])
    np.testing.assert_allclose(found.log_probabilities, expected, atol=1e-5)
    assert not found.log_probabilities.flags.writeable


def test_parts_are_the_whole(backend: LocalBackend, root: Path) -> None:
    whole = backend.predict(SurprisalRequest(model=str(root / "BERT"), text=TEXT, stop=6)).log_probabilities
    parts = [
        backend.predict(SurprisalRequest(model=str(root / "BERT"), text=TEXT, start=at, stop=at + 4))
        for at in (0, 4, 8)
    ]
    np.testing.assert_allclose(np.concatenate([part.log_probabilities for part in parts]), whole, atol=1e-5)
    assert parts[2].places == ()


def test_typed_blanks_are_read_and_not_scored(backend: LocalBackend, root: Path) -> None:
    found = backend.predict(
        SurprisalRequest(model=str(root / "BERT"), text="The [MASK] sat", pair="on [MASK] it", stop=99)
    )
    scored = [found.row.pieces[at] for at in found.places]
    assert "".join(scored) == "thesatonit"
    with pytest.raises(UserError, match="only blanks"):
        backend.predict(SurprisalRequest(model=str(root / "BERT"), text="[MASK] [MASK]", stop=9))


def test_words_of_two_texts_are_not_one_word(backend: LocalBackend, root: Path) -> None:
    """Word numbers of a text and of its pair are counted as different words."""
    found = backend.predict(SurprisalRequest(model=str(root / "BERT"), text="play", pair="playing", stop=99))
    words = [(found.row.segments[at], found.row.words[at]) for at in found.places]
    assert len(set(words)) == 2


def test_bits_words_and_perplexity_by_hand() -> None:
    logs = np.log(np.array([0.5, 0.25, 0.125, 1.0], np.float32))
    np.testing.assert_allclose(bits(logs), [1, 2, 3, 0], atol=1e-6)
    runs, sums = sum_over_words(logs, [0, 0, None, 0])
    assert runs == [(0, 2), (2, 3), (3, 4)]
    np.testing.assert_allclose(np.exp(sums), [0.125, 0.125, 1.0], atol=1e-6)
    assert pseudo_perplexity(logs) == pytest.approx(2 ** (6 / 4), rel=1e-6)
    assert sum_over_words(np.zeros(0, np.float32), [])[0] == []
    with pytest.raises(ValueError, match="0 logarithms came"):
        pseudo_perplexity(np.zeros(0, np.float32))
