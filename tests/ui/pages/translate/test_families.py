"""The Translate page with every encoder-decoder architecture: generation, alignment and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference import LocalBackend
from inference.tasks.decoding import NextTarget
from tests.support.asking import allowed, asked, choose, notes
from tests.support.translatorfamilies import TRANSLATORS, save_translator
from ui.pages.translate.word_alignment import MATRIX

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which each test saves a model."""
    return tmp_path_factory.mktemp("families")


@pytest.fixture(scope="module")
def backend(root: Path) -> Iterator[LocalBackend]:
    with allowed(root) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_translator_writes_and_is_aligned(root: Path, backend: LocalBackend, name: str) -> None:
    folder = str(save_translator(root / re.sub(r"\W+", "-", name), name))
    first = backend.predict(NextTarget(folder, text=TEXT))
    page = asked("translate", model=folder, text=TEXT, step=0)
    assert any("Before writing “" in note for note in notes(page))
    assert page.get_by_key(MATRIX).type == "plotly_chart"
    choose(page, "View", "step")
    assert any(f"“{first.candidates[0].piece}” is likeliest" in note for note in notes(page))
    assert not page.exception
    assert notes(page, "refusal") == []
