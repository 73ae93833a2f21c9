"""Passes with dropout: reproducible by seed, and all equal without dropout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from inference import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from inference.tasks.anatomy import Dropout
from inference.tasks.predictions import MaskedWords
from tests.support.tinyheads import save

TEXT = "the cat [MASK] it ."
KINDS = ("BERT", "DistilBERT", "RoBERTa", "ModernBERT")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dropout")
    for kind in KINDS:
        save(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def backend(models: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(models,), offline=True, cache=models / "cache"))


@pytest.mark.parametrize("kind", KINDS)
def test_without_dropout_every_pass_is_the_same(backend: LocalBackend, models: Path, kind: str) -> None:
    asked = Dropout(model=str(models / kind), text=TEXT, share=0, passes=3)
    found = backend.predict(asked)
    assert len(set(found.probabilities.tolist())) == 1
    assert found.likeliest == (found.undropped.piece,) * 3
    assert found.probabilities == pytest.approx(found.undropped.probability, rel=1e-5)
    assert found.cosines == pytest.approx(1, abs=1e-6)


def test_dropout_is_drawn_from_the_seed(backend: LocalBackend, models: Path) -> None:
    asked = Dropout(model=str(models / "BERT"), text=TEXT, share=30, passes=4)
    found = backend.predict(asked)
    assert len(set(found.probabilities.tolist())) == 4
    assert (found.cosines < 1 - 1e-4).all()
    torch.manual_seed(7)  # The global generator has no effect.
    again = LocalBackend(backend.settings).predict(asked)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)
    other = backend.predict(Dropout(model=asked.model, text=TEXT, share=30, passes=4, seed=1))
    assert set(other.probabilities.tolist()).isdisjoint(found.probabilities.tolist())


def test_more_dropped_is_further_away(backend: LocalBackend, models: Path) -> None:
    means = [
        float(backend.predict(Dropout(model=str(models / "BERT"), text=TEXT, share=share, passes=32)).cosines.mean())
        for share in (2, 20, 80)
    ]
    assert means[0] > means[1] > means[2]


def test_others_read_with_the_model_as_it_was(models: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(models,), offline=True, cache=models / "cache"))
    model = str(models / "BERT")
    before = backend.predict(MaskedWords(model=model, text=TEXT))
    backend.predict(Dropout(model=model, text=TEXT, share=50))
    loaded = backend.loaded(model, None, MaskedWords.HEAD)
    assert not any(module.training for module in loaded.model.modules())
    after = backend.predict(MaskedWords(model=model, text=TEXT, top=9))
    assert after.blanks[0].guesses[0] == before.blanks[0].guesses[0]


def test_attention_weights_are_dropped_too(backend: LocalBackend, models: Path) -> None:
    """Dropout is applied to the attention weights of eager attention, as well as to vectors."""
    from inference.anatomy.positions import shared_copy
    from inference.runners.anatomy import DropoutMode

    loaded = backend.loaded(str(models / "BERT"), None, MaskedWords.HEAD)
    twin = shared_copy(loaded.model)
    twin.set_attn_implementation("eager")
    twin.train()
    shapes = []

    class Counted(DropoutMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            if func is torch.nn.functional.dropout:
                shapes.append(tuple(args[0].shape))
            return super().__torch_function__(func, types, args, kwargs)

    with Counted(0.1, 0), torch.inference_mode():
        twin(input_ids=torch.tensor([[2, 5, 4, 3]]))
    assert shapes == [(1, 4, 24), *[(1, 3, 4, 4), (1, 4, 24), (1, 4, 24)] * 2]


@pytest.mark.parametrize("more", [{"share": 91}, {"share": -1}, {"passes": 0}, {"passes": 33}])
def test_what_cannot_be_made_is_refused(backend: LocalBackend, models: Path, more: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="1 to 32 passes with 0 to 90%"):
        backend.predict(Dropout(model=str(models / "BERT"), text=TEXT, **more))


def test_a_text_without_a_blank_is_refused(backend: LocalBackend, models: Path) -> None:
    with pytest.raises(UserError):
        backend.predict(Dropout(model=str(models / "BERT"), text="the cat was it ."))
