"""Terms of a score between two tokens of a picture, for every family of vision models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inference import LocalBackend, TraceRequest, UserError
from inference.runners import score_decomposition
from inference.settings import Settings
from inference.tasks.score_decomposition import PictureScoreRequest
from tests.support.cases import loop_over
from tests.support.picturemodels import SIGHTS, Sight, picture, save, sight


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def backend(models: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(models,)))


def folder_of(models: Path, row: Sight) -> str:
    folder = models / row.model_type
    if not folder.exists():
        save(row, folder)
    return str(folder)


@pytest.mark.slow
@loop_over("row", SIGHTS, ids=[row.name for row in SIGHTS])
def test_the_terms_sum_to_the_score_of_the_trace(backend: LocalBackend, models: Path, row: Sight) -> None:
    model = folder_of(models, row)
    trace = backend.trace(TraceRequest(model, picture=picture()))
    asked = PictureScoreRequest(model, picture=picture(), layer=1, head=2, query_token=5, key_token=3, checks=1)
    found = backend.inspect(asked)
    scores = trace.scores(1, 2)[5]
    assert found.score == pytest.approx(float(scores[3]), abs=1e-4)
    assert found.mean_over_keys == pytest.approx(float(scores.mean()), abs=1e-4)
    assert found.terms.total == pytest.approx(found.score, abs=1e-4 * max(1, abs(found.score)))
    assert {"token", "head 0-0", "ffn 0"} <= set(found.terms.key_sources)
    assert len(found.checks) == 4
    np.testing.assert_allclose(found.terms.excess_terms.sum(), found.score - found.mean_over_keys, atol=1e-4)


def test_a_request_that_cannot_be_answered_is_refused(
    backend: LocalBackend, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = folder_of(models, sight("ViT"))
    shown = PictureScoreRequest(model, picture=picture(), layer=1, query_token=5, key_token=3)
    for wrong in (
        PictureScoreRequest(picture=picture()),  # a model of texts
        PictureScoreRequest(model),
        PictureScoreRequest(model, picture=picture(), layer=2),
        PictureScoreRequest(model, picture=picture(), key_token=99),
    ):
        with pytest.raises(UserError):
            backend.inspect(wrong)
    monkeypatch.setattr(score_decomposition, "LONGEST", 36)  # the picture has 37 tokens
    with pytest.raises(UserError, match="37"):
        backend.inspect(shown)
