"""The Tutorials page without a browser: all themes, invalid links and unreadable texts."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes, press, says, stands
from tests.support.cases import loop_over
from ui.pages.tutorials import themes


@pytest.mark.slow
@pytest.mark.parametrize("theme", list(themes.STATIONS))
def test_a_theme_says_all_of_its_claims_and_refuses_nothing(theme: str) -> None:
    page = asked("tutorials", theme=theme)
    stands(page)
    stations = themes.STATIONS[theme]
    assert [heading.value for heading in page.subheader] == [
        f"{number}. {station.title}" for number, station in enumerate(stations, start=1)
    ]
    assert len(notes(page)) == sum(station.shows is not None for station in stations)
    assert notes(page, "refusal") == []


@pytest.mark.slow
def test_another_sample_is_in_the_address() -> None:
    page = asked("tutorials", theme="bert", text="The lamp went out.", pair="We looked for a candle in the dark.")
    before = notes(page)
    press(page, "Hide other words")
    assert page.query_params["seed"] == "2"
    assert sum(one != other for one, other in zip(before, notes(page), strict=True)) == 1


@pytest.mark.slow
@loop_over(
    ("query", "said"),
    [
        ({"theme": "<b>"}, "“theme” is unknown"),
        ({"theme": "finetuning", "dropped": "-3"}, "“dropped” should be a whole number"),
        ({"theme": "finetuning", "dropped": "9999"}, "With 50 % dropped"),
        ({"theme": "finetuning", "text": " "}, "The text is empty"),
        ({"theme": "attention", "text": "word " * 600}, "tokens"),
        ({"theme": "bert", "text": "word " * 300, "pair": "word " * 300}, "tokens"),
        ({"theme": "bert", "text": "[MASK]"}, "nothing but blanks"),
    ],
)
def test_odd_links_and_texts_are_answered_in_a_sentence(query: dict[str, str], said: str) -> None:
    page = asked("tutorials", **query)
    says(page, said)
    stands(page)
