"""Links to the page "By hand"; damaged links open its example."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, Selectbox

from attention.codec import decode_frame
from lessons.library import come_along
from tests.support.asking import asked, notes, says
from tests.support.cases import loop_over
from ui.pages.by_hand.as_csv import pack
from ui.pages.by_hand.example import example_of

EVEN = "“je” gives “ai” 29% of its attention"


FIRST = "Head 0: “it” gives “cat” 92% of its attention"


@pytest.mark.slow
@loop_over(
    ("query", "said"),
    [
        ({}, FIRST),
        ({"numbers": "garbage"}, EVEN),
        ({"preset": "<img>"}, FIRST),
        ({"preset": "sentence", "heads": 3}, "3 heads cannot share 4 columns equally; one is shown."),
        ({"preset": "tutorial", "row": 99, "column": 2}, EVEN),
        ({"preset": "tutorial", "cell": "<b>-1-2"}, EVEN),
        ({"preset": "tutorial", "onward": 0}, "Here it is otherwise: “french” → “"),
        ({"preset": "tutorial", "cell": "o-1-2"}, "A·V·W_O, “je” and “3”: "),
        ({"preset": "sentence", "cell": "sumz-3-0"}, "Sum, “it” and “Sum”: "),
    ],
)
def test_a_link_opens_what_it_means_and_a_damaged_one_the_example(query: dict[str, object], said: str) -> None:
    page = asked("by_hand", **query)
    says(page, said)
    assert not page.exception


@pytest.mark.parametrize(
    "query", [{"heads": 3}, {"row": 1, "column": 2}, {"heads": 0}, {"causal": 0, "shown": 0, "row": 99, "column": 0}]
)
def test_a_link_from_when_the_tutorial_came_first_opens_the_tutorial(query: dict[str, object]) -> None:
    says(asked("by_hand", **query), EVEN)


def test_a_link_brings_a_typed_number_back_and_what_it_makes_of_every_step() -> None:
    example = example_of("tutorial")
    w_k = example.w_k.copy()
    w_k[0, 0] = 40
    page = asked("by_hand", preset="tutorial", numbers=pack(replace(example, w_k=w_k)))
    says(page, "gives itself 100%")
    assert not any("A tutorial" in note for note in notes(page))


def test_a_linked_example_has_no_preset_and_starts_over_at_the_link() -> None:
    view = come_along()["attention"].steps[3].view
    assert view is not None
    link = dict(view.query)
    page = asked("by_hand", **link)
    assert example_select(page).value == ""
    assert example_select(page).options[0] == "From a link"
    assert start_over(page).disabled
    (scaled,) = (box for box in page.checkbox if box.label == "Over √d_k")
    scaled.uncheck().run()
    page.number_input(key="by_hand_tokens").set_value(5).run()
    assert page.query_params["numbers"] != [link["numbers"]]
    assert example_select(page).value == ""
    start_over(page).click().run()
    assert {name: page.query_params[name] for name in link} == link
    assert "scaled" not in page.query_params
    assert start_over(page).disabled
    example_select(page).set_value("lookup").run()
    assert "From a link" not in example_select(page).options
    assert "numbers" not in page.query_params


def test_a_changed_preset_keeps_its_name() -> None:
    page = asked("by_hand", preset="lookup")
    page.number_input(key="by_hand_tokens").set_value(4).run()
    assert example_select(page).value == "lookup"
    start_over(page).click().run()
    assert "numbers" not in page.query_params


def test_a_damaged_link_opens_a_named_preset() -> None:
    assert example_select(asked("by_hand", numbers="garbage")).value == "tutorial"


def example_select(page: AppTest) -> Selectbox[str]:
    """Return the widget that selects an example."""
    (found,) = (box for box in page.selectbox if box.label == "Example")
    return found


def start_over(page: AppTest) -> Button:
    """Return the button that resets the example."""
    (found,) = (button for button in page.button if button.label == "Start over")
    return found


def drawn(page: AppTest) -> str:
    """Return the payloads of the page's components as text."""
    frames = [part.proto.bytes for part in page.get("bidi_component") if part.proto.bytes]
    return " ".join(str(decode_frame(frame)[0]) for frame in frames)


def test_heads_share_the_columns() -> None:
    page = asked("by_hand", heads=2, shown=1, stage="all")
    assert "Q·Kᵀ / √2" in drawn(page)
    assert "Concat(heads)" in drawn(page)
    says(page, "Head 1: “")


@loop_over(
    ("query", "shown", "hidden"),
    [
        ({}, "Q = X·W_Q", "A = softmax"),
        ({"row": 1, "column": 2}, "A = softmax", "Q = X·W_Q"),
        ({"cell": "sharez-1-2"}, "Y·Eᵀ", "A = softmax"),
        ({"stage": "output", "cell": "q-0-0"}, "A·V·W_O", "Q = X·W_Q"),
        ({"stage": "layer", "onward": 0}, "Q = X·W_Q", "LayerNorm"),
    ],
)
def test_a_link_opens_the_stage_of_its_cell(query: dict[str, object], shown: str, hidden: str) -> None:
    found = drawn(asked("by_hand", preset="tutorial", **query))
    assert shown in found
    assert hidden not in found


def test_next_and_back_change_the_stage() -> None:
    page = asked("by_hand")
    (further,) = (button for button in page.button if button.key == "stage_next")
    further.click().run()
    assert page.query_params["stage"] == "weights"
    assert "A = softmax" in drawn(page)
    (back,) = (button for button in page.button if button.key == "stage_back")
    back.click().run()
    assert "Q = X·W_Q" in drawn(page)
    says(page, FIRST)


def test_a_choice_names_its_preset() -> None:
    """A link states its preset, so that a new default preset does not change the view."""
    page = asked("by_hand")
    (causal,) = (box for box in page.checkbox if box.label == "Causal mask")
    causal.check().run()
    assert (page.query_params["preset"], page.query_params["heads"]) == ("sentence", "2")
    says(page, "gives “cat”")


def test_the_sidebar_offers_nothing_that_does_nothing_here() -> None:
    assert list(asked("by_hand").sidebar.selectbox) == []
