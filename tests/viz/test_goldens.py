"""Tests that every figure matches its golden file and that every figure has a golden file."""

from __future__ import annotations

import ast

import pytest

from tests.support.cases import loop_over
from tests.support.gallery import FIGURES, SHEETS
from tests.support.goldens import FOLDER, changes, draw, kept, names
from tests.support.repository import ROOT

MANY = 8  # Maximum number of changes in a failure message.


def drawing(folder: str, returns: tuple[str, ...]) -> set[str]:
    """Return the public functions of viz/<folder>/ that return a picture, as ``module.function``."""
    found = set()
    for file in (ROOT / "viz" / folder).glob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.returns and not node.name.startswith("_"):
                found |= {f"{file.stem}.{node.name}"} if ast.unparse(node.returns) in returns else set()
    return found


KEPT = kept()


@pytest.mark.slow
@loop_over("name", sorted(names()))
def test_a_figure_is_as_it_was_looked_at(name: str) -> None:
    told = [f"{place}: {old!r} -> {new!r}" for place, old, new in changes(KEPT.get(name, {}), draw(name))]
    assert not told, "\n".join([f"{name} is another; look at it: make gallery, then ARGS=--write", *told[:MANY]])


def test_there_is_no_golden_of_nothing() -> None:
    assert set(KEPT) == set(names())


def test_every_figure_is_in_the_gallery() -> None:
    """Every function of viz/figures/ that returns a figure is called in tests/support/gallery.py."""
    source = (ROOT / "tests" / "support" / "gallery.py").read_text(encoding="utf-8")
    called = {
        node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Name)
    }
    functions = drawing("figures", ("go.Figure", "Figure")) - {"theme.empty"}
    assert len(functions) > 25
    assert {name for name in functions if name.split(".")[1] not in called} == set()


def test_every_matrix_spec_is_in_the_gallery() -> None:
    """Each module of viz/matrix_specs/, or else each of its functions, is an example in the gallery."""
    functions = drawing("matrix_specs", ("MatrixSpec", "list[MatrixSpec]"))
    assert len(functions) > 5
    assert {name for name in functions if not set(SHEETS) & set(name.split("."))} == set()


def test_dark_is_another_figure_and_all_of_them_are_small() -> None:
    assert all(KEPT[f"figures-{name}"]["dark"] for name in FIGURES)
    assert sum(file.stat().st_size for file in FOLDER.glob("*.json")) < 320_000


def test_a_change_is_told_by_its_place() -> None:
    assert list(changes({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}})) == [("a.b.1", 2, 3)]
    assert list(changes([1], [1, 2])) == [("", [1], [1, 2])]
