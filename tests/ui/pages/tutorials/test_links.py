"""Every link of every station: it names a page, and that page can read all of it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from tests.support.repository import ROOT
from ui.pages.by_hand.options import ByHand
from ui.pages.compare.options import Compare
from ui.pages.masked_words.options import Options as MaskedWords
from ui.pages.positions.options import Options as Positions
from ui.pages.step_by_step.options import Rules
from ui.pages.teach.options import Teach
from ui.pages.tokens.options import Tokens
from ui.pages.translate.options import Translate
from ui.pages.tutorials import themes
from ui.pages.tutorials.options import THEMES
from ui.pages.tutorials.station import Link
from ui.pages.vectors.options import Vectors
from ui.pages.whole_pass.options import Options as WholePass
from ui.state.choice import TYPES, Choice, parse, write_value
from ui.state.options import read

# The options of the pages to which a link says more than the shared choice.
OPTIONS: dict[str, type[Any]] = {
    "by_hand": ByHand, "compare": Compare, "masked_words": MaskedWords, "positions": Positions, "step_by_step": Rules,
    "teach": Teach, "tokens": Tokens, "translate": Translate, "vectors": Vectors, "whole_pass": WholePass,
}  # fmt: skip
LINKS = [link for stations in themes.STATIONS.values() for station in stations for link in station.links]
MINE = Choice(text="My own text.", pair="And another.", count=1, model="somebody/else", layer=5)


def query_of(link: Link, choice: Choice = MINE) -> dict[str, str]:
    found = link.query(choice)
    assert found is not None
    return found


def test_every_theme_has_its_stations() -> None:
    assert set(themes.STATIONS) == set(THEMES)
    assert all(len(stations) >= 5 for stations in themes.STATIONS.values())


@pytest.mark.parametrize("link", LINKS, ids=lambda link: f"{link.page}: {link.label}")
def test_a_link_is_read_by_its_page_without_a_word(link: Link) -> None:
    assert (ROOT / "pages" / f"{link.page}.py").is_file()
    query = query_of(link)
    choice, notes = parse(query)
    wanted = replace(Choice(**link.there), count=1)
    assert choice == (replace(wanted, text=MINE.text, pair=MINE.pair) if link.yours else wanted)
    assert notes == []
    if link.own:
        options, problems = read(OPTIONS[link.page], query)
        assert problems == []
        assert set(link.own) <= {field.name for field in fields(options)} - set(TYPES)
        assert {name: write_value(getattr(options, name)) for name in link.own} == dict(link.own)


def test_a_text_too_long_for_a_link_has_none() -> None:
    long = replace(MINE, text="".join(chr(0x4E00 + at * at % 20_000) for at in range(20_000)))
    assert all((link.query(long) is None) == link.yours for link in LINKS)


def test_pages_are_led_through() -> None:
    """All that teach; those that open files or pictures, or measure on many sentences, are found from these."""
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    others = {"tutorials", "lessons", "bertviz_views", "find", "measure", "classroom", "pictures"}
    assert pages - {link.page for link in LINKS} == others
