"""Fuzz targets for addresses: every option of every page, and values that are packed into a single word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from attention import edits
from tests.fuzz.door import Door
from tests.fuzz.harming import harmed_words, queries, whole_texts
from tests.support.asking import asked
from tests.support.page_options import page_options
from ui.input.controls import parse as hidden
from ui.input.controls import read_number
from ui.pages.generate.options import read_path
from ui.state import params, view_state
from ui.state.classroom import is_code
from ui.state.navigation import BY_VIEW
from viz.options import options_of

VIEWS = tuple(sorted(BY_VIEW))


KINDS = page_options()


def _words(kinds: Iterable[Any]) -> set[str]:
    """Return the values of all choices."""
    return {
        str(word) for kind in kinds for declared in options_of(kind).values() for word in declared.allowed_values or ()
    }


def _names(kinds: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of the options in addresses."""
    return tuple(sorted({declared.name for kind in kinds for declared in options_of(kind).values()}))


WORDS = tuple(sorted(_words([*KINDS.values(), view_state.ViewState])))
SHARED = tuple(sorted({*view_state.DECLARED, view_state.PACKED, "lang", "class", "view"}))
OWN = _names(KINDS.values())
PACKED = view_state.to_query(view_state.ViewState(text="The cat sat. " * 200))[view_state.PACKED]


def _choice(query: dict[str, str]) -> None:
    """Assert that a view that can be read is the same after it is written and read again."""
    found, notes = view_state.parse(query)
    assert all(isinstance(note, str) and note for note in notes)
    found.pinned_heads()
    if view_state.fits(found):
        assert view_state.parse(view_state.to_query(found))[0] == found


def _options(query: dict[str, str]) -> None:
    for kind in KINDS.values():
        found, notes = params.parse_params(kind, query)
        assert all(isinstance(note, str) and note for note in notes)
        assert params.parse_params(kind, params.format_params(found))[0] == found


def _page(asking: tuple[int, dict[str, str]]) -> None:
    """Assert that the page with this number runs without an exception for this query."""
    number, query = asking
    page = asked(VIEWS[number], **query)
    assert not page.exception, page.exception


def _pages(number: int) -> st.SearchStrategy[tuple[int, dict[str, str]]]:
    """Return a strategy for queries of a page.

    Pages are numbers, because a mix of two page names would be the name of no page.
    """
    mine = [kind for view, kind in KINDS.items() if view == VIEWS[number]]
    words = (*sorted(_words(mine)), *WORDS[:3], "1-2", "0,1", "5")
    return st.tuples(st.just(number), queries((*_names(mine), *SHARED), words))


DOORS = (
    Door("address", queries(SHARED, WORDS), _choice, (), 3),
    Door("address, packed text", harmed_words(PACKED).map(lambda raw: {view_state.PACKED: raw}), _choice, (), 2),
    Door("address, options", queries(OWN, WORDS), _options, (), 0.5),
    Door("edits", harmed_words("a3-1,c2-4-5-7,ux0-2,h3-2"), edits.unpack, (ValueError,), 3),
    Door("words of an address", whole_texts, lambda text: (hidden(text), read_path(text), is_code(text)), (), 3),
    Door("typed number", whole_texts, read_number, share=3),
    Door("pages", st.sampled_from(range(len(VIEWS))).flatmap(_pages), _page, (), 0.002),
)
