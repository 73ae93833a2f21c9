"""The pronoun head of a model: stored results equal the models', and belong to exactly their weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attention.trace import ModelId
from i18n import translate
from i18n.translation import use_language
from inference import LocalBackend
from inference.settings import Settings
from probing.pronoun_heads import PronounHeadScore, best_pronoun_head, measure_pronoun_head, store, stored_pronoun_head
from probing.score import HitCounts

ENCODERS = ("all-MiniLM-L6-v2", "headlight-bert")


@pytest.mark.slow
@pytest.mark.parametrize("model", ENCODERS)
def test_a_stored_head_is_the_one_that_the_model_gives(model: str) -> None:
    backend = LocalBackend(Settings(offline=True))
    found = measure_pronoun_head(backend, model)
    stored = stored_pronoun_head(backend.identity(model))
    assert found is not None
    assert stored is not None
    assert replace(found, p=stored.p) == stored
    np.testing.assert_allclose(found.p, stored.p, rtol=1e-9)
    assert 0 < stored.links <= 20  # half of the 40 sentences
    hits = np.array(stored.hits)
    assert hits.shape == (6, 12)
    assert hits[stored.layer, stored.head] * 100 / stored.links == stored.accuracy
    assert 0 <= hits.min() <= hits.max() <= stored.links
    assert stored.low < stored.accuracy < stored.high


def test_other_weights_have_no_stored_head(tmp_path: Path) -> None:
    head = PronounHeadScore(1, 3, 90.0, 70.0, 97.0, 20, "earlier candidate", 60.0, 0.1, ((1, 2, 3, 18),))
    model = ModelId("mine", None, "encoder", "BertModel", "abc")
    store({model: head}, tmp_path / "heads.json")
    found = stored_pronoun_head(model, tmp_path / "heads.json")
    assert found == head
    assert stored_pronoun_head(replace(model, weights="abd"), tmp_path / "heads.json") is None
    assert stored_pronoun_head(replace(model, weights=None), tmp_path / "heads.json") is None
    assert stored_pronoun_head(model, tmp_path / "missing.json") is None
    assert found is not None
    with use_language("zh"):
        assert translate(found.rule) != "earlier candidate"


def test_without_links_there_is_no_head() -> None:
    assert best_pronoun_head(HitCounts()) is None
