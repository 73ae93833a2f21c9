"""Notebooks in the Download menus of figures: executed, each gives the numbers that the figure shows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inference import LocalBackend
from tests.support.asking import asked
from ui.show import chart
from viz.figures.theme import Figure
from viz.paper.chart_table import figure_numbers
from viz.paper.notebook import Computation, computation_notebook

# (view, address, figures whose menus offer a notebook)
CASES: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "cause",
        {"edits": "a3-1", "watch": "blank"},
        {"cause_all", "cause_bars_0", "cause_bars_1", "cause_random", "cause_later"},
    ),
    ("cause", {"edits": "a3-1", "watch": "vector"}, {"cause_all", "cause_random", "cause_later"}),
    ("patching", {}, {"patching_states", "patching_heads"}),
    ("patching", {"watch": "vector"}, {"patching_states", "patching_heads"}),
    ("similarity", {"show": "words"}, {"similarity_words_0", "similarity_words_1"}),
    ("similarity", {"show": "heads"}, {"similarity_heads"}),
    ("roles", {"relations": 0}, {"roles_map", "roles_likeness"}),
    ("compare", {}, {"compare_grid"}),
    ("measure", {"control": 0}, {"measure_map"}),
]


def offered(monkeypatch: pytest.MonkeyPatch, view: str, query: dict[str, Any]) -> dict[str, tuple[Figure, Computation]]:
    """Return the figures of a view that have a computation, with the computation."""
    found: dict[str, tuple[Figure, Computation]] = {}

    def keep(figure: Figure, key: str, _about: object, computation: Computation | None, _test: str) -> None:
        if computation is not None:
            found[key] = figure, computation

    monkeypatch.setattr(chart, "_draw_menu", keep)
    page = asked(view, **query)
    assert not page.exception
    return found


def executed(notebook: bytes) -> Any:
    """Return the variable ``numbers`` after the cells of a notebook."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names["numbers"]


@pytest.mark.slow
@pytest.mark.parametrize(("view", "query", "keys"), CASES, ids=[f"{view}-{at}" for at, (view, *_) in enumerate(CASES)])
def test_a_notebook_gives_the_numbers_of_its_figure(
    monkeypatch: pytest.MonkeyPatch, view: str, query: dict[str, Any], keys: set[str]
) -> None:
    found = offered(monkeypatch, view, query)
    assert set(found) == keys
    for key, (figure, computation) in found.items():
        shown = figure_numbers(figure)
        numbers = np.ravel(executed(computation_notebook(computation, LocalBackend, "", shown)))
        np.testing.assert_allclose(numbers, shown, atol=1e-4, err_msg=key)
        assert np.ptp(shown[np.isfinite(shown)]) > 0, key
