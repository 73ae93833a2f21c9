"""A tiny BERT with both pre-training heads, for the browser tests of the pages that predict."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from inference import LocalBackend
from tests.support.serving import Served
from tests.support.tinyheads import save

BARE = "all-MiniLM-L6-v2"  # This model has neither head.


@dataclass(frozen=True)
class Predictor:
    """The app's address, its tiny model, and a backend that opens the same model."""

    url: str
    model: str
    backend: LocalBackend


@pytest.fixture(scope="session")
def predictor(served: Served) -> Predictor:
    """Return the app with a local model."""
    folder = save(served.place("predictors") / "tiny-bert", "BERT", head=2)
    return Predictor(served.url, str(folder), served.backend)
