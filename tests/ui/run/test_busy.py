"""An overloaded server: the page shows a message, keeps the text, and tries again."""

from __future__ import annotations

import math

import pytest
from streamlit.testing.v1 import AppTest

from inference.scheduling import BUSY
from tests.support.asking import asked, notes, press
from tests.support.words import english
from ui.run.services import get_backend

TEXT = "Nobody has asked this busy server about a lamp post yet."


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Simulate a long queue of forward passes; return the monkeypatch whose ``undo`` ends it."""
    monkeypatch.setattr(get_backend().forwards.waits, "waiting", 10**6)
    monkeypatch.setattr(get_backend().forwards, "_pace", 1.0)
    assert math.isfinite(get_backend().forwards.expected_wait)
    return monkeypatch


def says_so(page: AppTest) -> bool:
    return any(BUSY in refusal for refusal in notes(page, "refusal"))


@pytest.mark.slow
def test_the_text_is_read_when_it_is_tried_again(crowded: pytest.MonkeyPatch) -> None:
    page = asked("explore", text=TEXT)
    assert not page.exception
    assert says_so(page)
    assert page.query_params["text"] in (TEXT, [TEXT])
    crowded.undo()
    press(page, "Try again")
    assert not page.exception
    assert not says_so(page)
    assert any(component.proto.component_name == "headlight_explore" for component in page.get("bidi_component"))


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_it_is_said_in_chinese() -> None:
    page = asked("explore", lang="zh", text=f"{TEXT} Not even in Chinese.")
    assert not page.exception
    assert english(page, TEXT, "Not even in Chinese.", "it was too tired | too wide") == []
