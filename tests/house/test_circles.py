"""Checks that imports form no cycles, including imports inside functions.

An import inside a function hides a cycle from Python, not from the reader: neither module can be understood,
tested or moved without the other module. Imports for type checking count too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.imports import Graph, import_graph
from tests.support.repository import ROOT


def circles(edges: Graph) -> list[tuple[str, ...]]:
    """Return the sorted import cycles: strongly connected components, and modules that import themselves.

    >>> circles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("d")})
    [('b', 'c'), ('d',)]
    """
    reached = {name: _reached(edges, name) for name in edges}
    groups = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in edges}
    return sorted(group for group in groups if group)


def _reached(edges: Graph, start: str) -> frozenset[str]:
    """Return the modules that ``start`` imports directly or indirectly.

    The result contains ``start`` only if it is in a cycle.
    """
    found: set[str] = set()
    waiting = [*edges[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(edges[name])
    return frozenset(found)


def folded(edges: Graph, room: str) -> Graph:
    """Return the imports between the folders of a package; a module at its top counts as a folder.

    >>> modules = {"a.b.one": frozenset({"a.b.two", "a.c.three"}), "a.b.two": frozenset(), "a.c.three": frozenset()}
    >>> folded(modules, "a")
    {'a.b': frozenset({'a.c'}), 'a.c': frozenset()}
    """
    found: dict[str, set[str]] = {}
    for name, others in edges.items():
        if name.startswith(f"{room}."):
            mine = found.setdefault(_folder(name), set())
            mine.update(_folder(other) for other in others if other.startswith(f"{room}."))
            mine.discard(_folder(name))
    return {folder: frozenset(others) for folder, others in found.items()}


def _folder(name: str) -> str:
    return ".".join(name.split(".")[:2])


@pytest.mark.slow
def test_no_import_goes_round_in_a_circle() -> None:
    assert circles(import_graph(ROOT)) == []


def test_the_folders_of_inference_stand_one_upon_the_other() -> None:
    assert circles(folded(import_graph(ROOT), "inference")) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small tree with a cycle.

    A task imports its runner inside a function, and the runner's helper imports the task.
    """
    for file, source in {
        "inference/__init__.py": "",
        "inference/tasks/__init__.py": "",
        "inference/tasks/logit_lens.py": "def ask():\n    from inference.runners import logit_lens as l\n    return l",
        "inference/runners/logit_lens.py": "import inference.runners.inputs as inputs",
        "inference/runners/inputs.py": "from inference.tasks.logit_lens import ask",
        "inference/tasks/other.py": "from inference import tasks",
        "attention/view.py": "import numpy",
        "app.py": "import inference.runners.logit_lens\nimport attention.view",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    return tmp_path


def test_a_circle_is_found_inside_functions_and_across_rooms(tree: Path) -> None:
    found = ("inference.runners.inputs", "inference.runners.logit_lens", "inference.tasks.logit_lens")
    assert circles(import_graph(tree)) == [found]
    assert circles(folded(import_graph(tree), "inference")) == [("inference.runners", "inference.tasks")]
    (tree / "inference/runners/inputs.py").write_text("import app")
    assert circles(import_graph(tree)) == [("app", "inference.runners.inputs", "inference.runners.logit_lens")]


def test_a_way_back_through_another_module_of_the_folder_is_a_circle_of_folders_only(tree: Path) -> None:
    (tree / "inference/runners/inputs.py").write_text("from inference.tasks.other import name")
    assert circles(import_graph(tree)) == []
    assert circles(folded(import_graph(tree), "inference")) == [("inference.runners", "inference.tasks")]


def test_the_house_has_modules_to_look_at() -> None:
    edges = import_graph(ROOT)
    assert "inference.errors" in edges["inference.backend"]
    assert {name.split(".")[0] for name in edges} >= {"attention", "inference", "viz", "ui", "pages", "tests", "app"}
