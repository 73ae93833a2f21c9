"""An app of its own with a tiny BERT that has both heads, for the browser tests of the pages that predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from inference import LocalBackend
from tests.support.serving import serving
from tests.support.tinyheads import save

BARE = "all-MiniLM-L6-v2"  # a model without either head


@dataclass(frozen=True)
class Predictor:
    """Where the app answers, its tiny model, and a backend that opens the same."""

    url: str
    model: str
    backend: LocalBackend


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Predictor]:
    """The app with one local model; its log must be clean in the end."""
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    with serving(root) as served:
        yield Predictor(served.url, str(folder), served.backend)
