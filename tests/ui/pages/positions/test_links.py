"""Links to the Positions page: numbers of models and formulas, and messages for invalid links."""

from __future__ import annotations

import json

import pytest

from attention.codec import decode_frame
from attention.positions import shift_error, shift_matrix, sinusoidal, swap_words
from inference import TraceRequest
from inference.tasks.positions import OrderRequest
from tests.support.asking import asked, says
from ui.run.services import get_backend
from ui.show.text import format_small, scientific
from ui.state.view_state import DEFAULT_MODEL

FAMOUS = "The animal didn't cross the street because it was too tired."


@pytest.mark.slow
def test_a_bad_link_gives_the_usual_view_and_a_sentence() -> None:
    page = asked("positions", show="<b>", seed="x", mix="swap", first=999)
    says(page, "“show”")
    says(page, "“seed”")
    assert any("New order" in part.proto.json for part in page.get("bidi_component"))
    assert not page.exception


@pytest.mark.slow
def test_two_words_are_swapped_by_link_and_a_head_is_picked() -> None:
    trace = get_backend().trace(TraceRequest(DEFAULT_MODEL, FAMOUS))
    order = swap_words(trace.source, 1, 7)
    test = get_backend().inspect(OrderRequest(DEFAULT_MODEL, text=FAMOUS, order=order))
    page = asked("positions", mix="swap", first=1, second=7, layer=4, head=3)
    parts = [part.proto for part in page.get("bidi_component")]
    strips = [json.loads(part.json) for part in parts if part.component_name == "headlight_strip"]
    (mixed,) = (strip["chips"] for strip in strips if "New order" in strip["title"])
    assert [chip["text"] for chip in mixed] == [trace.tokens[at] for at in order]
    maps = [decode_frame(part.bytes)[0]["sheets"] for part in parts if part.component_name == "headlight_matrices"]
    off = test.having.differences[4, 3]
    assert [sheet["note"] for (sheet,) in maps[:2]] == [
        "head 4-3",
        f"largest difference of a weight: {format_small(off)}",
    ]


@pytest.mark.slow
def test_the_shift_matrix_s_error_is_the_formula_s() -> None:
    page = asked("positions", show="shift", length=20, size=6, shift=3)
    error = shift_error(sinusoidal(20, 6), 3, shift_matrix(3, 6))
    says(page, "positions by 3")
    says(page, f"over 17 positions and 6 dimensions PE(pos + 3) and M·PE(pos) differ by at most {scientific(error)}.")
    (shift,) = (box for box in page.number_input if box.label == "Shift k")
    shift.set_value(4).run()
    assert page.query_params["shift"] == "4"
    says(page, "positions by 4")
    says(page, "over 16 positions")
