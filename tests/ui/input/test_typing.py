"""Texts that are read while the visitor types: no step of the history, and edits of the text before the typing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from ui.input import composing
from ui.state import session
from ui.state.view_state import ViewState, to_query

pytestmark = pytest.mark.usefixtures("written")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Return the addresses that are written."""
    found: list[dict[str, str]] = []
    monkeypatch.setattr(st, "session_state", {session.CHOICE: ViewState(text="One cat."), session.VIEW: "explore"})
    monkeypatch.setattr(session, "_with_saved_revision", lambda choice: choice)
    monkeypatch.setattr(session, "_write", lambda: found.append(to_query(session.get_view_state())))
    monkeypatch.setattr(composing, "get_last_view", lambda _trace: {"layer": 3, "head": 1})
    return found


def submit(text: str, live: bool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Submit a text, and return the texts of which it counts as an edit."""
    origins: list[str] = []

    def stays(before: ViewState, _after: ViewState) -> tuple[dict[str, Any], list[str]]:
        origins.append(f"{before.text} {before.layer}")
        return {}, []

    monkeypatch.setattr(composing, "what_stays", stays)
    value = {"text": text, "pair": "", "target": "", "live": "1" if live else ""}
    st.session_state[composing.KEY] = SimpleNamespace(submitted=value)
    composing._on_submit()  # noqa: SLF001
    return origins


def test_a_burst_of_typing_is_one_step(written: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert submit("One do", True, monkeypatch) == ["One cat. 3"]
    assert submit("One dog.", True, monkeypatch) == ["One cat. 3"]  # Not an edit of the unfinished text.
    assert written == []
    assert session.get_view_state().text == "One dog."
    submit("One dog.", False, monkeypatch)
    assert written == [{"text": "One dog."}]
    assert session.typing_origin() is None
    submit("One dog.", False, monkeypatch)
    assert len(written) == 1


def test_a_change_of_another_control_ends_the_burst(
    written: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit("Two", True, monkeypatch)
    session.set_view_state(layer=2, head=0)
    assert written == [{"text": "Two", "layer": "2", "head": "0"}]
    assert session.typing_origin() is None


def test_a_text_without_the_mark_is_written_at_once(
    written: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert submit("Three", False, monkeypatch) == ["One cat. None"]
    assert written == [{"text": "Three"}]
