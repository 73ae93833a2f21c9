"""Random weights: reproducible, different from the trained weights, no effect on global generators."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from inference import LocalBackend
from inference.settings import Settings
from inference.task_heads import RANDOM
from inference.tasks.heads import LinksQuestion, RandomLinksQuestion
from tests.probing.test_score import CORPUS
from tests.support.tinymodels import save


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("models")
    for kind in ("bert", "t5"):
        save(root / kind, kind)
    return Settings(model_folders=(root,))


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_random_weights_are_the_same_each_time_and_not_the_models(settings: Settings, kind: str) -> None:
    one, other = LocalBackend(settings), LocalBackend(settings)
    random = one.inspect(RandomLinksQuestion(f"./{kind}", items=CORPUS.items))
    trained = one.inspect(LinksQuestion(f"./{kind}", items=CORPUS.items))
    assert random.found.shape == trained.found.shape
    assert (random.found != trained.found).any()
    again = other.inspect(RandomLinksQuestion(f"./{kind}", items=CORPUS.items))
    np.testing.assert_array_equal(again.found, random.found)


def test_they_are_as_an_untrained_model_has_them(settings: Settings) -> None:
    backend = LocalBackend(settings)
    trained, random = (backend.loaded("./bert", None, head).model for head in ("", RANDOM))
    assert type(trained) is type(random)
    sizes = {name: tuple(weight.shape) for name, weight in trained.named_parameters()}
    assert {name: tuple(weight.shape) for name, weight in random.named_parameters()} == sizes
    weight = random.get_parameter("encoder.layer.0.attention.self.query.weight")
    assert 0.5 < float(weight.std() / random.config.initializer_range) < 2


def test_other_random_numbers_go_on_as_if_nothing_was(settings: Settings) -> None:
    before = torch.random.get_rng_state()
    LocalBackend(settings).inspect(RandomLinksQuestion("./bert", items=CORPUS.items))
    assert torch.equal(before, torch.random.get_rng_state())
