"""Texts of a lesson, and restoration of the reader's own text after the lesson."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lessons.library import come_along
from tests.support.asking import asked, go, press
from ui.state.session import CHOICE

OWN, LATER = "My own words.", "Other words of mine."
NAME = "it_and_animal"
READS = next(at for at, step in enumerate(come_along()[NAME].steps) if step.view is not None and not step.view.yours)


def opened() -> AppTest:
    """Return the page of a reader with a text of their own, at a step that reads another text."""
    page = asked("by_hand", text=OWN, layer=1, head=2)
    go(page, "lessons")
    page.button(key=f"begin_{NAME}").click().run()
    for _step in range(READS):
        press(page, "Next", key="lesson_next")
    assert not page.exception
    return page


def text(page: AppTest) -> str:
    found: str = page.session_state[CHOICE].text
    return found


@pytest.mark.slow
def test_it_comes_back_with_another_page_and_with_the_list() -> None:
    page = opened()
    assert text(page) != OWN
    go(page, "by_hand")
    assert text(page) == OWN
    assert (page.session_state[CHOICE].layer, page.session_state[CHOICE].head) == (1, 2)
    page = opened()
    press(page, "All lessons")
    assert text(page) == OWN


@pytest.mark.slow
def test_the_lesson_goes_on_where_it_was_with_its_own_text() -> None:
    page = opened()
    lessons = text(page)
    go(page, "by_hand")
    go(page, "lessons")
    assert text(page) == lessons != OWN
    go(page, "by_hand")
    assert text(page) == OWN


@pytest.mark.slow
def test_what_was_typed_last_is_kept_and_not_what_was_before() -> None:
    page = opened()
    page.query_params["text"] = LATER  # The change simulates a link or the text box of another page.
    page.run()
    go(page, "by_hand")
    assert text(page) == LATER


@pytest.mark.slow
def test_an_address_of_another_step_leaves_the_own_choice() -> None:
    page = opened()
    at = next(
        at for at, step in enumerate(come_along()[NAME].steps) if step.title.in_language("en") == "The cat and the milk"
    )
    pointed = come_along()[NAME].steps[at].view
    assert pointed is not None
    page.query_params.clear()
    for name, raw in {**dict(pointed.query), "lesson": NAME, "step": str(at), "layer": "2", "head": "4"}.items():
        page.query_params[name] = raw  # The change simulates the browser's back button.
    page.run()
    assert (page.session_state[CHOICE].layer, page.session_state[CHOICE].head) == (2, 4)
    go(page, "by_hand")
    assert text(page) == OWN
