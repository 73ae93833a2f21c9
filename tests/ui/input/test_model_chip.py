"""The model chip and its picker, which may occur twice on a page."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inference import EMBEDDED
from inference.files.embedded import BERT, TRANSLATOR
from tests.support.asking import asked, composer_data, notes
from ui.run.services import get_backend


def page() -> None:
    import streamlit as st

    from inference import EMBEDDED
    from ui.input.model_chip import pick_model

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


def chip_of(page: AppTest) -> str:
    """Return the label of the model's chip."""
    labels = [str(block.proto.popover.label) for block in popovers(page)]
    (label,) = (label for label in labels if any(card.title in label for card in get_backend().models()))
    return label


def popovers(page: AppTest) -> list[Any]:
    """Return the popovers of the page."""
    blocks: list[Any] = [page.main]
    found: list[Any] = []
    while blocks:
        block = blocks.pop()
        found += [block] if block.type == "popover" else []
        blocks += [child for child in block.children.values() if hasattr(child, "children")]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "selected", "answers"),
    [
        ("masked_words", EMBEDDED, BERT),
        ("next_sentence", TRANSLATOR, BERT),
        ("translate", BERT, TRANSLATOR),
        ("agreement", TRANSLATOR, BERT),
        ("cause", EMBEDDED, EMBEDDED),
        ("explore", TRANSLATOR, TRANSLATOR),
        ("measure", EMBEDDED, EMBEDDED),
    ],
)
def test_a_page_names_the_model_that_answers_and_keeps_the_selection(view: str, selected: str, answers: str) -> None:
    page = asked(view, model=selected, text="A cat sat on a mat.")
    assert not page.exception
    assert notes(page, "refusal") == []
    assert answers in chip_of(page)
    assert page.selectbox(key="pick_model").value == selected
    named = [note for note in notes(page) if selected in note and answers in note]
    assert len(named) == (selected != answers)
    if selected != answers:
        replaced = composer_data(page)["replacedFields"]
        assert replaced["model"] == answers
        assert replaced["layer"] == replaced["head"] == ""
        page.button(key="use_answerer").click().run()
        assert page.selectbox(key="pick_model").value == answers


@pytest.mark.slow
def test_a_head_is_stored_for_each_model() -> None:
    page = asked("step_by_step", model=EMBEDDED, text="A cat sat on a mat.", layer=4, head=7)
    page.selectbox(key="pick_model").set_value(BERT).run()
    assert "layer" not in page.query_params
    page.selectbox(key="pick_model").set_value(EMBEDDED).run()
    assert {name: page.query_params[name] for name in ("layer", "head")} == {"layer": "4", "head": "7"}
