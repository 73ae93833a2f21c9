"""A tiny Marian that writes twelve tokens at most, for the tests of the page Translate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from inference import LocalBackend
from tests.support.serving import Served
from tests.support.tinymodels import save

LONGEST = 12  # tokens that it writes, its start token and its end among them


@dataclass(frozen=True)
class Translator:
    """Where the app answers, its tiny model, and a backend that opens the same."""

    url: str
    model: str
    backend: LocalBackend


def tiny(folder: Path, spread: float = 0.2) -> Path:
    """The model; ``spread`` makes its random weights large, so that its answers differ."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    save(folder, "marian")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder)
        for parameter in model.parameters():
            parameter.data.add_(torch.randn(parameter.shape) * spread)
    model.generation_config.max_length = LONGEST
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def translator(served: Served) -> Translator:
    """The app with one local model."""
    folder = tiny(served.place("translators") / "tiny-marian")
    return Translator(served.url, str(folder), served.backend)
