"""Occlusion against separate passes, and integrated gradients that add up to the whole difference."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from inference import LocalBackend
from inference.errors import UserError
from inference.record.patching import replacing_output
from inference.settings import Settings
from inference.tasks.attribution import Gradients, OcclusionRequest
from inference.tasks.predictions import MaskedWords
from tests.support.tinyheads import KINDS, save

TEXT = "The animal was [MASK] playing."  # [CLS] the animal was [MASK] play ##ing . [SEP]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("importance")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def model(root: Path, name: str = "BERT") -> str:
    folder = root / name.replace(" ", "-")
    return str(folder if folder.exists() else save(folder, name))


def test_leaving_out_is_hiding_and_asking_again(backend: LocalBackend, root: Path) -> None:
    found = backend.predict(OcclusionRequest(model=model(root), text=TEXT, token=7, stop=99))
    assert found.runs == ((1, 2), (2, 3), (3, 4), (5, 7), (7, 8))
    assert found.total == 5
    assert found.row.pieces[5:7] == ("play", "ing")

    def street(*hidden: tuple[int, int, int]) -> float:
        asked = MaskedWords(model=model(root), text=TEXT, hidden=hidden, top=1000)
        blank = next(b for b in backend.predict(asked).blanks if b.position == 4)
        return log(next(guess.probability for guess in blank.guesses if guess.token == 7))

    spans = [(0, 0, 3), (0, 4, 10), (0, 11, 14), (0, 22, 29), (0, 29, 30)]
    np.testing.assert_allclose(found.drops, [street() - street(span) for span in spans], atol=1e-5)
    assert found.guess.probability == pytest.approx(np.exp(street()), abs=1e-6)


def test_parts_are_the_whole_and_without_a_piece_the_likeliest_is_meant(backend: LocalBackend, root: Path) -> None:
    whole = backend.predict(OcclusionRequest(model=model(root), text=TEXT, stop=99))
    parts = [
        backend.predict(OcclusionRequest(model=model(root), text=TEXT, start=at, stop=at + 2)) for at in (0, 2, 4, 6)
    ]
    np.testing.assert_allclose(np.concatenate([part.drops for part in parts]), whole.drops, atol=1e-5)
    assert sum((part.runs for part in parts), ()) == whole.runs
    assert whole.guess.rank == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_gradients_add_up_to_the_way_from_nothing_known_to_the_text(
    backend: LocalBackend, root: Path, name: str
) -> None:
    text = "The cat was [MASK]."
    whole = Gradients(model=model(root, name), text=text, token=9, parts=3, steps=16)
    parts = [backend.predict(replace(whole, part=part)) for part in range(3)]
    values = np.sum([part.values for part in parts], axis=0)
    assert values.sum() == pytest.approx(parts[-1].end - parts[0].start, abs=2e-3)
    assert sum(part.delta for part in parts) == pytest.approx(values.sum() - parts[-1].end + parts[0].start, abs=1e-4)
    for one, other in pairwise(parts):
        assert one.end == pytest.approx(other.start, abs=1e-5)

    row = parts[0].row
    words = [at for at in range(len(row)) if row.words[at] is not None and row.ids[at] != mask_id(root, name)]
    assert parts[-1].end == pytest.approx(told(root, name, text, []), abs=1e-5)
    if name != "ESM":  # ESM scales by its number of mask ids, but only embeddings follow the path.
        assert parts[0].start == pytest.approx(told(root, name, text, words), abs=1e-5)
    assert np.flatnonzero(values).tolist() == words


def mask_id(root: Path, name: str) -> int:
    return int(AutoTokenizer.from_pretrained(model(root, name)).mask_token_id)


def told(root: Path, name: str, text: str, hidden: list[int]) -> float:
    """Return the model's own log-probability of token 9 in the blank, with the tokens in ``hidden`` masked."""
    folder = model(root, name)
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text.replace("[MASK]", tokenizer.mask_token), return_tensors="pt").input_ids
    at = ids[0].tolist().index(tokenizer.mask_token_id)
    ids[0, hidden] = tokenizer.mask_token_id
    with torch.inference_mode():
        return float(network(ids).logits[0, at].log_softmax(-1)[9])


def test_a_model_that_only_adds_gives_the_products() -> None:
    """If the answer is linear in the embeddings, a share is the change of an embedding times the gradient."""
    from inference.runners.word_influence import _attribute

    class Adder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(5, 3)

        def get_input_embeddings(self) -> torch.nn.Embedding:
            return self.words

        def forward(self, input_ids: torch.Tensor) -> object:
            summed = (self.words(input_ids) * torch.tensor([1.0, 2.0, -1.0])).sum((1, 2))
            logits = torch.stack([summed, torch.zeros_like(summed)], -1)[:, None].expand(-1, 4, -1)
            return type("Out", (), {"logits": logits})()

    torch.manual_seed(0)
    adder, ids = Adder().requires_grad_(False), torch.tensor([[0, 1, 2, 3]])
    first, last = torch.zeros(1, 4, 3), adder.words(ids)
    values, delta, (start, end) = _attribute(adder, {"input_ids": ids}, first, last, 1, 0, 50)
    assert abs(delta) < 1e-4
    assert start == pytest.approx(log(0.5), abs=1e-6)
    shares = values.sum(-1)[0]
    products = (last * torch.tensor([1.0, 2.0, -1.0])).sum(-1)[0]
    np.testing.assert_allclose(shares / shares.sum(), products / products.sum(), atol=1e-4)
    assert float(shares.sum()) == pytest.approx(end - start, abs=1e-4)


def test_what_one_thread_swaps_another_does_not_see() -> None:
    module, seen = torch.nn.Identity(), []
    with replacing_output(module, lambda _module, output: output + 1):
        other = threading.Thread(target=lambda: seen.append(float(module(torch.zeros(())))))
        other.start()
        other.join()
        seen.append(float(module(torch.zeros(()))))
    seen.append(float(module(torch.zeros(()))))
    assert seen == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (OcclusionRequest(text="The cat."), "No word is hidden"),
        (OcclusionRequest(text=TEXT, blank=1), "There is no blank 1; the text has 1"),
        (OcclusionRequest(text=TEXT, token=10**6), r"token 1000000\b.* 0 to 101\b"),
        (Gradients(text=TEXT, part=2, parts=2), "Part 2 of 2"),
        (Gradients(text=TEXT, steps=0), "0 of 1 .* 0 steps"),
    ],
)
def test_odd_questions(backend: LocalBackend, root: Path, question: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        backend.predict(replace(question, model=model(root)))


def test_leaving_out_where_nothing_is_left(backend: LocalBackend, root: Path) -> None:
    found = backend.predict(OcclusionRequest(model=model(root), text="[MASK]", stop=9))
    assert (found.runs, found.total) == ((), 0)
    along = backend.predict(Gradients(model=model(root), text="[MASK]"))
    assert along.values.tolist() == [0.0, 0.0, 0.0]
