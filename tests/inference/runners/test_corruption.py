"""The 80/10/10 corruption of BERT: the published shares over many seeds, and losses against a plain pass."""

from __future__ import annotations

from collections import Counter
from math import exp
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from inference import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from inference.tasks.predictions import HIDDEN, KEPT, REPLACED, Corruption
from tests.support.cases import draw_seeds
from tests.support.tinyheads import save

TEXT = "the cat was it . " * 6  # Of 30 tokens 4 or 5 are chosen; round(4.5) is 4.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("lesson") / "BERT", "BERT")


@pytest.fixture(scope="module")
def backend(folder: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(folder.parent,), offline=True, cache=folder.parent / "cache"))


@pytest.mark.slow
def test_the_shares_are_the_published_ones(backend: LocalBackend, folder: Path) -> None:
    samples = [backend.predict(Corruption(model=str(folder), text=TEXT, seed=seed)) for seed in range(250)]
    pieces = sum(word is not None for word in samples[0].row.words)
    assert {len(sample.chosen) for sample in samples} == {round(0.15 * pieces)}
    ways = Counter(chosen.how for sample in samples for chosen in sample.chosen)
    total = sum(ways.values())
    # The tolerances are five standard deviations of a share of at least 1,000 draws.
    assert ways[HIDDEN] / total == pytest.approx(0.8, abs=0.06)
    assert ways[REPLACED] / total == pytest.approx(0.1, abs=0.05)
    assert ways[KEPT] / total == pytest.approx(0.1, abs=0.05)
    places = Counter(chosen.position for sample in samples for chosen in sample.chosen)
    assert set(places) == set(range(1, 1 + pieces))


@pytest.mark.slow
@draw_seeds(6)
def test_losses_are_those_of_one_pass(backend: LocalBackend, folder: Path, seed: int) -> None:
    found = backend.predict(Corruption(model=str(folder), text=TEXT, seed=seed))
    network, tokenizer = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    given = tokenizer(TEXT, return_tensors="pt").input_ids
    labels = torch.full_like(given, -100)
    for chosen in found.chosen:
        labels[0, chosen.position] = given[0, chosen.position]
    for chosen in found.chosen:
        piece = chosen.seen.replace("…", "##")
        given[0, chosen.position] = tokenizer.convert_tokens_to_ids(piece)
        stood = found.row.pieces[chosen.position]
        assert (chosen.seen.removeprefix("…") == stood) == (chosen.how == KEPT) or chosen.how == REPLACED
        assert (chosen.seen == "[MASK]") == (chosen.how == HIDDEN)
        assert chosen.probability == pytest.approx(exp(-chosen.loss), rel=1e-5)
    with torch.inference_mode():
        loss = float(network(given, labels=labels).loss)
    assert sum(chosen.loss for chosen in found.chosen) / len(found.chosen) == pytest.approx(loss, abs=1e-5)


def test_the_same_seed_gives_the_same_sample(backend: LocalBackend, folder: Path) -> None:
    again = LocalBackend(backend.settings)
    one, other = (who.predict(Corruption(model=str(folder), text=TEXT, seed=5)) for who in (backend, again))
    assert one == other
    samples = {backend.predict(Corruption(model=str(folder), text=TEXT, seed=seed)).chosen for seed in range(5)}
    assert len(samples) == 5


def test_one_piece_at_least_and_blanks_are_left_alone(backend: LocalBackend, folder: Path) -> None:
    found = backend.predict(Corruption(model=str(folder), text="the [MASK]"))
    assert [chosen.position for chosen in found.chosen] == [1]
    with pytest.raises(UserError, match="only blanks"):
        backend.predict(Corruption(model=str(folder), text="[MASK]"))
