"""The pages and views of the app, and the addresses of earlier versions."""

from __future__ import annotations

from itertools import product
from urllib.parse import parse_qs, parse_qsl, quote

import pytest

from lessons.library import CLAIMS
from tests.support.asking import asked, go, notes
from tests.support.repository import ROOT
from tests.ui.show.test_tour import chosen
from ui.state.navigation import (
    BY_PATH,
    BY_VIEW,
    GROUPS,
    OLD_PATHS,
    PAGES,
    THEMES,
    new_address,
    title_of,
    view_at,
    view_fields,
    view_of_link,
)

# The addresses of the version with 25 pages.
FORMER = (
    "agreement", "bertviz", "block", "by_hand", "cause", "classroom", "compare", "explore", "find", "generate",
    "lessons", "masked_words", "measure", "next_sentence", "pictures", "positions", "roles", "step_by_step", "teach",
    "tokens", "translate", "vectors", "whole_pass", "why_attention",
)  # fmt: skip


def test_every_page_has_a_file() -> None:
    assert {page.file for page in PAGES} == {file.stem for file in (ROOT / "pages").glob("*.py")}


def test_pages_views_and_titles_are_distinct() -> None:
    assert sum(len(page.views) for page in PAGES) == len(BY_VIEW)
    assert len({page.path for page in PAGES}) == len({page.title for page in PAGES}) == len(PAGES)
    assert len({title_of(view) for view in BY_VIEW}) == len(BY_VIEW)


def test_the_navigation_has_at_most_fifteen_entries_of_five_words() -> None:
    entries = [page for pages in GROUPS.values() for page in pages]
    titles = [title for page in entries for title in (page.title, *page.views.values())]
    assert len(entries) <= 15
    assert max(len(title.replace("&", "").split()) for title in titles) <= 5


def test_a_former_address_leads_to_its_view_with_its_query(subtests: pytest.Subtests) -> None:
    for former in FORMER:
        with subtests.test(former=former):
            query = {"layer": ["3"], "text": ["a b"]}
            there = new_address(former, "layer=3&text=a+b")
            path, _sep, written = (f"{former}?layer=3&text=a+b" if there is None else there).partition("?")
            assert path in BY_PATH
            found = parse_qs(written)
            view = view_at(path, found.pop("view", [None])[0])
            assert found == query
            assert view == OLD_PATHS.get(former, former)
            assert view_of_link(former, {"layer": "3"}) == (view, {"layer": "3"})


def test_an_option_that_became_a_view_leads_to_it() -> None:
    there = new_address("compare", "layer=3&show=carry&first=a%26b")
    assert there is not None
    path, _sep, written = there.partition("?")
    query = parse_qs(written)
    assert view_at(path, query.pop("view")[0]) == "patching"
    assert query == {"layer": ["3"], "first": ["a&b"]}
    assert view_of_link("compare", {"show": "set"}) == ("compare", {"show": "set"})
    assert new_address("compare", "show=set") is None


def test_a_theme_of_the_tutorials_leads_to_its_lesson(subtests: pytest.Subtests) -> None:
    for (path, query), theme in product([("tutorials", ""), ("lessons", "view=tutorials&")], [*THEMES, None, "<b>"]):
        with subtests.test(path=path, query=query, theme=theme):
            written = query + ("" if theme is None else f"theme={quote(theme)}&") + "seed=3&class=AB12&text=a+b%26c"
            there = new_address(path, written)
            assert there is not None
            lesson = THEMES.get(str(theme), THEMES["attention"])
            fields = {"lesson": [lesson], "class": ["AB12"], "text": ["a b&c"]}
            assert there.startswith("lessons?")
            assert parse_qs(there.partition("?")[2]) == fields
            assert view_of_link(path, dict(parse_qsl(written))) == (
                "lessons",
                {name: one for name, (one,) in fields.items()},
            )
            assert new_address("lessons", there.partition("?")[2]) is None


def test_every_theme_is_a_lesson_on_claims() -> None:
    assert set(THEMES.values()) == set(CLAIMS)


def test_an_address_names_its_view(subtests: pytest.Subtests) -> None:
    for view in BY_VIEW:
        with subtests.test(view=view):
            fields = view_fields(view)
            assert view_at(BY_VIEW[view].path, fields.get("view")) == view
            assert view_of_link(BY_VIEW[view].path, {**fields, "head": "1"}) == (view, {"head": "1"})


def test_an_address_of_no_page_is_not_replaced() -> None:
    assert new_address("no_such_page", "") is None
    assert view_of_link("no_such_page", {}) is None


@pytest.mark.slow
def test_a_tab_keeps_the_choice_and_writes_its_address() -> None:
    own = {"text": "Mice like old cheese.", "layer": "2", "head": "3"}
    page = asked("tokens", **own)
    page.button_group(key="view_tabs").set_value("positions").run()
    assert not page.exception
    assert chosen(page) == own
    assert page.query_params["view"] in ("positions", ["positions"])
    page = go(page, "tokens")
    assert chosen(page) == own
    assert "view" not in page.query_params
    assert notes(page, "refusal") == []
