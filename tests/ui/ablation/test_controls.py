"""The panel of edits on each page that shows it: the same labels, address and button that clears all."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attention.edits import Ablate, EditSet
from tests.support.asking import asked, press
from ui.ablation.controls import CLEAR, CODES, LISTED
from ui.ablation.edits import count_edits

PAGES: dict[str, tuple[dict[str, object], EditSet]] = {
    "cause": ({"edits": "a3-1,a5-11"}, (Ablate(3, 1), Ablate(5, 11))),
    "compare": ({"differs": "edit", "edits": "a3-1,a5-11"}, (Ablate(3, 1), Ablate(5, 11))),
    "translate": ({"show": "without", "edits": "ax2-1,ae0-2"}, (Ablate(2, 1, "cross"), Ablate(0, 2, "encoder"))),
}


def panel(page: AppTest) -> tuple[EditSet, str]:
    """Return the edits in the panel's list, and its text field."""
    (listed,) = (box for box in page.multiselect if box.label == LISTED)
    (codes,) = (box for box in page.text_input if box.label == CODES)
    return tuple(listed.value), str(codes.value)


@pytest.mark.slow
@pytest.mark.parametrize("view", sorted(PAGES))
def test_the_panel_lists_counts_and_clears_the_edits_of_a_link(view: str) -> None:
    query, edits = PAGES[view]
    page = asked(view, **query)
    assert panel(page) == (edits, query["edits"])
    assert count_edits(edits) in [caption.value for caption in page.caption]
    press(page, CLEAR)
    assert page.query_params["edits"] in ("-", ["-"])
    assert panel(page) == ((), "")
    (clear,) = (button for button in page.button if button.label == CLEAR)
    assert clear.disabled


@pytest.mark.slow
@pytest.mark.parametrize("view", ["cause", "compare"])
def test_a_typed_name_ablates_the_head(view: str) -> None:
    page = asked(view, **{**PAGES[view][0], "edits": "-"})
    (codes,) = (box for box in page.text_input if box.label == CODES)
    codes.set_value("head 2-7").run()
    assert panel(page) == ((Ablate(2, 7),), "a2-7")


def two_clicks() -> None:
    """Click two heads of a figure that is not drawn again between the clicks."""
    import streamlit as st

    from ui.pages.cause.options import CauseOptions, head_picked
    from ui.state.params import get_params
    from ui.state.session import begin, open_view

    begin("ablation")
    open_view("cause")
    for head in ((0, 1), (2, 3)):
        head_picked(CauseOptions(), (), head)
    st.session_state.kept = get_params(CauseOptions).edits


def test_a_click_before_the_figure_is_drawn_again_keeps_the_last_edit() -> None:
    assert AppTest.from_function(two_clicks).run().session_state.kept == "a0-1,a2-3"
