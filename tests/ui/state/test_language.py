"""The language of a session: from its link, the reader's choice, or the browser."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, go
from tests.support.words import said
from ui.state import language


def test_english_is_spoken_first() -> None:
    assert asked("by_hand").selectbox(key="picked_language").value == "en"


@pytest.mark.slow
def test_a_link_says_which_language_and_it_stays() -> None:
    page = asked("by_hand", lang="zh")
    assert page.selectbox(key="picked_language").value == "zh"
    assert page.query_params["lang"] == "zh"
    go(page, "lessons")
    assert page.query_params["lang"] == "zh"


def test_what_is_picked_goes_into_the_address() -> None:
    page = asked("by_hand")
    assert "lang" not in page.query_params
    page.selectbox(key="picked_language").select("zh").run()
    assert page.query_params["lang"] == "zh"


def test_a_language_that_is_not_spoken_is_passed_over() -> None:
    page = asked("by_hand", lang="<b>xx</b>")
    assert page.selectbox(key="picked_language").value == "en"
    assert not page.exception


@pytest.mark.slow
def test_the_document_says_which_language_it_is_in() -> None:
    assert "en" in set(said(asked("by_hand")))
    assert "zh-Hans" in set(said(asked("by_hand", lang="zh")))


def test_the_session_is_asked_once_in_a_run_and_again_when_another_is_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[str] = []

    class State(dict[str, str]):
        def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
            asked_for.append(key)
            return super().get(key, default)

    state, run = State({language.LANGUAGE: "zh"}), object()
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr(language, "script_run", lambda: run)
    assert [language.session_language() for _ in range(3)] == ["zh"] * 3
    assert len(asked_for) == 1
    language.set_language("en")
    assert language.session_language() == "en"
    monkeypatch.setattr(language, "script_run", lambda: None)
    assert language.session_language() == "en", "it serves nobody"
