"""Links of all tutorial stations: valid pages and readable parameters."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from inference import EMBEDDED
from tests.support.cases import loop_over
from ui.pages.by_hand.options import ByHandOptions
from ui.pages.compare.options import CompareOptions
from ui.pages.masked_words.options import MaskedWordsOptions as MaskedWords
from ui.pages.positions.options import PositionsOptions as Positions
from ui.pages.step_by_step.options import StepOptions
from ui.pages.teach.options import TeachOptions
from ui.pages.tokens.options import TokensOptions
from ui.pages.translate.options import TranslateOptions
from ui.pages.tutorials import themes
from ui.pages.tutorials.options import THEMES
from ui.pages.tutorials.station import StationLink
from ui.pages.vectors.options import VectorsOptions
from ui.pages.whole_pass.options import WholePassOptions as WholePass
from ui.state.navigation import BY_VIEW
from ui.state.params import parse_params
from ui.state.view_state import DECLARED, ViewState, parse, write_value

# Options of the pages to which a link has parameters beyond the view state.
OPTIONS: dict[str, type[Any]] = {
    "by_hand": ByHandOptions,
    "compare": CompareOptions,
    "masked_words": MaskedWords,
    "positions": Positions,
    "step_by_step": StepOptions,
    "teach": TeachOptions,
    "tokens": TokensOptions,
    "translate": TranslateOptions,
    "vectors": VectorsOptions,
    "whole_pass": WholePass,
}
LINKS = [link for stations in themes.STATIONS.values() for station in stations for link in station.links]
MINE = ViewState(text="My own text.", pair="And another.", model="somebody/else", layer=5)


def query_of(link: StationLink, choice: ViewState = MINE) -> dict[str, str]:
    found = link.query(choice)
    assert found is not None
    return found


def test_every_theme_has_its_stations() -> None:
    assert set(themes.STATIONS) == set(THEMES)
    assert all(len(stations) >= 5 for stations in themes.STATIONS.values())


@loop_over("link", LINKS, ids=lambda link: f"{link.page}: {link.label}")
def test_a_link_is_read_by_its_page_without_a_word(link: StationLink) -> None:
    assert link.page in BY_VIEW
    query = query_of(link)
    choice, notes = parse(query)
    wanted = ViewState(**{"model": EMBEDDED, **link.there})
    assert choice == (replace(wanted, text=MINE.text, pair=MINE.pair) if link.yours else wanted)
    assert notes == []
    if link.own:
        options, problems = parse_params(OPTIONS[link.page], query)
        assert problems == []
        assert set(link.own) <= {field.name for field in fields(options)} - set(DECLARED)
        assert {name: write_value(getattr(options, name)) for name in link.own} == dict(link.own)


def test_a_text_too_long_for_a_link_has_none() -> None:
    long = replace(MINE, text="".join(chr(0x4E00 + at * at % 20_000) for at in range(20_000)))
    assert all((link.query(long) is None) == link.yours for link in LINKS)


def test_pages_are_led_through() -> None:
    """Links lead to all teaching pages; pages for files, pictures or measurements are reached from these."""
    pages = set(BY_VIEW)
    others = {"tutorials", "lessons", "bertviz_views", "find", "measure", "classroom", "pictures"}
    assert pages - {link.page for link in LINKS} == others
