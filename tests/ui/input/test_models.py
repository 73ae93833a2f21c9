"""The model picker, which may occur twice on a page."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from inference import EMBEDDED
from ui.run.services import get_backend


def page() -> None:
    import streamlit as st

    from inference import EMBEDDED
    from ui.input.sidebar import pick_model

    picked = st.session_state.setdefault("picked", {"left": (EMBEDDED, ""), "right": ("some/model", "v1")})
    for slot, (model, revision) in picked.items():
        pick_model(slot, model, revision, lambda *both, slot=slot: picked.update({slot: both}))


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(page).run()


@pytest.mark.slow
def test_both_show_what_is_picked(app: AppTest) -> None:
    assert not app.exception
    assert [box.value for box in app.selectbox] == [EMBEDDED, "some/model"]
    assert [field.value for field in app.text_input] == ["v1"], "the embedded model has no revisions"


def test_two_on_a_page_choose_independently(app: AppTest) -> None:
    other = next(card.id for card in get_backend().models() if card.id != EMBEDDED)
    app.selectbox(key="left_model").set_value(other).run()
    assert app.session_state["picked"] == {"left": (other, ""), "right": ("some/model", "v1")}
    app.text_input(key="right_revision").set_value(" v2 ").run()
    assert app.session_state["picked"] == {"left": (other, ""), "right": ("some/model", "v2")}
    app.selectbox(key="right_model").set_value(EMBEDDED).run()
    assert app.session_state["picked"] == {"left": (other, ""), "right": (EMBEDDED, "")}
    assert [box.value for box in app.selectbox] == [other, EMBEDDED]


def test_the_same_model_may_stand_on_both_sides(app: AppTest) -> None:
    app.selectbox(key="right_model").set_value(EMBEDDED).run()
    assert not app.exception
    assert [box.value for box in app.selectbox] == [EMBEDDED, EMBEDDED]
    assert not app.text_input
