"""A file of signed values: Explore shows it, and other pages state that they need attention weights."""

from __future__ import annotations

import pytest

import headlight
from attention.storage import dump
from tests.support.asking import asked, notes
from tests.support.words import english
from ui.run.services import get_trace_store

MAPS = [[[[0.25, -1.0], [-0.5, 0.0]], [[0.0, 0.1], [0.0, 0.0]]]]
SAID = "This needs weights whose rows sum to one"


@pytest.fixture
def opened() -> str:
    return get_trace_store().open(dump(headlight.view(MAPS, ["a", "cat"], signed=True).trace)).id


@pytest.mark.slow
def test_the_microscope_shows_it(opened: str) -> None:
    page = asked("explore", opened=opened)
    assert not page.exception
    assert notes(page, "refusal") == []
    (said,) = (note for note in notes(page) if "signed numbers" in note)
    assert said.startswith("These maps hold signed")
    assert "rows need not" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["roles", "step_by_step"])
def test_other_pages_need_attention_weights(name: str, opened: str) -> None:
    page = asked(name, opened=opened)
    assert not page.exception
    assert SAID in " ".join(notes(page, "refusal"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explore", "roles"])
def test_in_chinese_too(name: str, opened: str) -> None:
    page = asked(name, lang="zh", opened=opened)
    assert not page.exception
    assert english(page, "a cat") == []
