"""Second texts on the pages of the encoder's two heads, for any model in the sidebar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inference import EMBEDDED
from inference.catalogue.listing import ModelCard
from tests.support.asking import asked, notes
from ui.run import fine_tuning
from viz.components.composer import composer

CARDS = [ModelCard(kind, kind, kind, "", "", None, "") for kind in ("encoder", "decoder", "encoder-decoder")]


def masked_words() -> None:
    from ui.pages.masked_words.page import draw_view
    from ui.state.session import begin, open_view

    begin("fill_in_the_blank")
    open_view("masked_words")
    draw_view()


def next_sentence() -> None:
    from ui.pages.next_sentence.page import draw_view
    from ui.state.session import begin, open_view

    begin("fill_in_the_blank")
    open_view("next_sentence")
    draw_view()


@pytest.mark.parametrize("chosen", [card.id for card in CARDS])
@pytest.mark.parametrize("page", [masked_words, next_sentence])
def test_a_second_text_can_be_typed_whichever_model_is_chosen(
    monkeypatch: pytest.MonkeyPatch, page: Callable[[], None], chosen: str
) -> None:
    boxes: list[dict[str, Any]] = []

    def mount(data: dict[str, Any], _key: str, _on_submit: Callable[[], None]) -> None:
        import streamlit as st

        boxes.append(data)
        st.stop()  # The content below the box needs models.

    monkeypatch.setattr(composer, "mount", mount)
    monkeypatch.setattr(fine_tuning, "cards", lambda *_picked: CARDS)
    app = AppTest.from_function(page)
    app.query_params["model"] = chosen
    app.query_params["pair"] = "It slept."
    app.run()
    assert not app.exception
    [box] = boxes
    assert (box["takesPair"], box["takesTarget"], box["pair"]) == (True, False, "It slept.")


@pytest.mark.slow
def test_underscores_are_a_blank_and_an_automatic_mask_is_named() -> None:
    page = asked("masked_words", text="The capital of France is ___.", model=EMBEDDED)
    told = " ".join(notes(page))
    assert "___" in told
    assert "automatically" not in told
    page = asked("masked_words", text="The capital of France is Paris.", model=EMBEDDED)
    assert any("“Paris”" in note and "automatically" in note for note in notes(page))
