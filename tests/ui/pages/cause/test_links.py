"""Links to the Cause page with impossible edits."""

from __future__ import annotations

import json

import pytest

from tests.support.asking import asked, notes, press, says
from ui.ablation.controls import CLEAR
from ui.pages.cause.page import PROMPT


@pytest.mark.slow
def test_edits_that_do_not_fit_are_refused_and_can_be_put_back() -> None:
    page = asked("cause", edits="a9-0")
    (refusal,) = notes(page, "refusal")
    assert "6 layers of 12 heads" in refusal
    press(page, CLEAR)
    says(page, PROMPT)
    assert "Later heads" not in [heading.value for heading in page.header]


@pytest.mark.slow
def test_a_damaged_link_leaves_the_rest() -> None:
    page = asked("cause", edits="a3-1,<b>x</b>")
    says(page, "<b>x<")
    says(page, "With head 3-1 ablated")
    assert "Later heads" in [heading.value for heading in page.header]


@pytest.mark.slow
def test_the_map_of_heads_names_its_number() -> None:
    page = asked("cause", watch="blank", text="It was a [MASK] day.")
    titles = [json.loads(chart.proto.spec)["layout"]["title"] for chart in page.get("plotly_chart")]
    (note,) = [title["subtitle"]["text"] for title in titles if title["text"] == "Ablation effect"]
    assert note.startswith("Change of the log-odds of “")
