"""Checks that modules of a single page are imported by no other page.

``ui/pages/<page>/`` may be imported by ``pages/<page>.py``, by itself, by tests, and by app.py if the page has
routes. Code that a second page needs belongs in a shared folder of ``ui/``.
"""

from __future__ import annotations

import pytest

from tests.support.cases import loop_over
from tests.support.imports import Graph, import_graph
from tests.support.repository import ROOT, files


def page_of(module: str) -> str | None:
    """Return the page that a module belongs to, or None for a shared module.

    >>> page_of("ui.pages.cause.metric"), page_of("pages.cause"), page_of("ui.show.text"), page_of("ui.pages")
    ('cause', 'cause', None, None)
    """
    parts = module.split(".")
    own = parts[2:] if parts[:2] == ["ui", "pages"] else parts[1:] if parts[0] == "pages" else []
    return own[0] if own else None


def lent(edges: Graph) -> list[tuple[str, str]]:
    """Return the sorted imports of page modules from outside their page, except those in tests and app.py."""
    return sorted(
        (module, other)
        for module, others in edges.items()
        for other in others
        if page_of(other) not in (None, page_of(module)) and module.split(".")[0] not in ("tests", "app")
    )


@pytest.mark.slow
def test_pages_lend_each_other_nothing() -> None:
    assert lent(import_graph(ROOT)) == []


def test_every_folder_of_a_page_has_its_page() -> None:
    folders = {file.parts[2] for file in files() if file.parts[:2] == ("ui", "pages") and len(file.parts) > 3}
    pages = {file.stem for file in files() if file.parts[0] == "pages" and file.suffix == ".py"}
    assert folders
    assert folders - pages == set()


@loop_over(
    ("module", "other", "wrong"),
    [
        ("ui.pages.cause.metric", "ui.pages.cause.experiment", False),
        ("pages.cause", "ui.pages.cause.metric", False),
        ("pages.cause", "ui.show.text", False),
        ("app", "ui.pages.vectors.routes", False),
        ("tests.ui.pages.cause.test_watch", "ui.pages.cause.metric", False),
        ("ui.pages.cause.metric", "ui.pages.find.words", True),
        ("ui.pages.cause.metric", "ui.pages.causes", True),
        ("pages.cause", "ui.pages.find.words", True),
        ("pages.cause", "pages.find", True),
        ("ui.show.text", "ui.pages.find.words", True),
        ("viz.figures.token_bars", "ui.pages.find.words", True),
    ],
)
def test_a_lent_module_is_found(module: str, other: str, wrong: bool) -> None:
    assert lent({module: frozenset({other, "ui.show.chart"})}) == ([(module, other)] if wrong else [])
