"""Progress of a long forward pass, and its cancellation between layers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.asking import asked, notes, press, says
from tests.support.words import english
from ui import streamlit_internals
from ui.run import progress, traces
from ui.state.view_state import ViewState


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts of the progress bar, which is shown from the first layer."""
    said: list[str] = []
    drawn = progress.PassProgress._draw_bar  # noqa: SLF001

    def noting(followed: progress.PassProgress) -> Any:
        bar = drawn(followed)

        def progress(share: float, text: str) -> None:
            said.append(text)
            bar.progress(share, text=text)

        return SimpleNamespace(progress=progress)

    monkeypatch.setattr(progress.PassProgress, "_draw_bar", noting)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    return said


@pytest.mark.slow
def test_a_pass_tells_its_layers(told: list[str]) -> None:
    page = asked("explore", text="a text whose layers are counted")
    assert not page.exception
    assert [said.rpartition(": ")[2] for said in told if " of " in said] == [f"{done} of 6" for done in range(6)]
    assert "Stop" not in [button.label for button in page.button], "nothing to stop any more"


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_reader_stops_a_pass_and_has_it_read_again(
    lang: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"a text that is stopped in {lang}"
    with monkeypatch.context() as patch:
        patch.setattr(streamlit_internals, "is_pressed", lambda _key: len(told) == 3)
        page = asked("explore", text=text, lang=lang)
    assert len(told) == 3
    assert not page.exception
    if lang == "zh":
        assert english(page, text) == []
        return
    says(page, "Stopped.")
    press(page, "Run now")
    assert "Stopped." not in notes(page)
    assert len(told) > 6


def test_a_long_text_is_left_to_the_page_which_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "get_backend", None)  # Any use of the backend raises.
    assert traces.what_stays(ViewState(text="a cat"), ViewState(text="a cat " * 1000)) == ({}, [])
