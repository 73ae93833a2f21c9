"""The Generate page with every decoder architecture: generation, attention notes and maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference import LocalBackend
from inference.tasks.decoding import NextToken
from tests.support.asking import allowed, asked, notes, press
from tests.support.decoders import DECODERS, save_decoder
from ui.pages.generate.step_attention import NO_STEPS

TEXT = "The cat sat on the mat, and the dog"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which each test saves a model."""
    return tmp_path_factory.mktemp("families")


@pytest.fixture(scope="module")
def backend(root: Path) -> Iterator[LocalBackend]:
    with allowed(root) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_writes_and_is_looked_at(root: Path, backend: LocalBackend, name: str) -> None:
    folder = str(save_decoder(root / re.sub(r"\W+", "-", name), name))
    first = backend.predict(NextToken(model=folder, text=TEXT, top=100))
    page = asked("generate", model=folder, text=TEXT, show="looks")
    press(page, "Next token")
    assert page.query_params["written"] == str(first.greedy.token)
    second = backend.predict(NextToken(model=folder, text=TEXT, top=100, written=(first.greedy.token,)))
    if second.looks is None:
        assert str(NO_STEPS) in notes(page)
    else:
        assert any("attends back" in note for note in notes(page))
        assert page.get("plotly_chart")
    assert not page.exception
    assert notes(page, "refusal") == []
