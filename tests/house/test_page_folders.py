"""Checks that modules of a single view are imported by no other view.

``ui/pages/<view>/`` may be imported by itself, by tests, by the script of the view's page in ``pages/``, and by app.py
if the view has routes. Code that a second view needs belongs in a shared folder of ``ui/``.
"""

from __future__ import annotations

import pytest

from tests.support.cases import loop_over
from tests.support.imports import Graph, import_graph
from tests.support.repository import ROOT, files
from ui.state.navigation import BY_VIEW, PAGES

VIEWS = {page.file: set(page.views) for page in PAGES}


def view_of(module: str) -> str | None:
    """Return the view that a module belongs to, or None for a shared module.

    >>> view_of("ui.pages.cause.metric"), view_of("pages.ablation"), view_of("ui.show.text"), view_of("ui.pages")
    ('cause', None, None, None)
    """
    parts = module.split(".")
    return parts[2] if parts[:2] == ["ui", "pages"] and len(parts) > 2 else None


def may_import(module: str, view: str) -> bool:
    """Return True if a module may import the modules of a view."""
    parts = module.split(".")
    return parts[0] in ("tests", "app") or view in (
        VIEWS.get(parts[1], ()) if parts[0] == "pages" else {view_of(module)}
    )


def lent(edges: Graph) -> list[tuple[str, str]]:
    """Return the sorted imports of modules of a view from where they are not allowed."""
    pages = {other for others in edges.values() for other in others if other.startswith("pages.")}
    return sorted(
        (module, other)
        for module, others in edges.items()
        for other in others
        if other in pages or ((view := view_of(other)) is not None and not may_import(module, view))
    )


@pytest.mark.slow
def test_pages_lend_each_other_nothing() -> None:
    assert lent(import_graph(ROOT)) == []


def test_every_folder_is_that_of_a_view() -> None:
    folders = {file.parts[2] for file in files() if file.parts[:2] == ("ui", "pages") and len(file.parts) > 3}
    assert folders
    assert folders - set(BY_VIEW) == set()


@loop_over(
    ("module", "other", "wrong"),
    [
        ("ui.pages.cause.metric", "ui.pages.cause.experiment", False),
        ("pages.ablation", "ui.pages.cause.page", False),
        ("pages.ablation", "ui.show.text", False),
        ("app", "ui.pages.vectors.corpus", False),
        ("tests.ui.pages.cause.test_watch", "ui.pages.cause.metric", False),
        ("ui.pages.cause.metric", "ui.pages.find.question", True),
        ("ui.pages.cause.metric", "ui.pages.causes", True),
        ("pages.ablation", "ui.pages.find.question", True),
        ("pages.ablation", "pages.compare", True),
        ("ui.show.text", "ui.pages.find.question", True),
        ("viz.figures.token_bars", "ui.pages.find.question", True),
    ],
)
def test_a_lent_module_is_found(module: str, other: str, wrong: bool) -> None:
    assert lent({module: frozenset({other, "ui.show.chart"})}) == ([(module, other)] if wrong else [])
