"""No module needs itself: imports make no circle, those inside functions included.

An import inside a function hides a circle from Python, not from the reader: neither module can be understood, tested or
moved without the other. What is imported for type checking only counts as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.imports import import_statements
from tests.support.repository import ROOT, files

Graph = Mapping[str, frozenset[str]]


def module_of(file: Path) -> str:
    """The name that a file is imported by.

    >>> module_of(Path("viz/figures/bars.py")), module_of(Path("viz/__init__.py")), module_of(Path("app.py"))
    ('viz.figures.bars', 'viz', 'app')
    """
    return ".".join(part for part in file.with_suffix("").parts if part != "__init__")


def needed(source: str, modules: frozenset[str]) -> Iterator[str]:
    """Those of the modules that a source imports, wherever it does; of ``from a import b`` the module ``a.b`` alone."""
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from (name for name in (inner if inner in modules else node.module,) if name in modules)


def graph(root: Path) -> Graph:
    """What each module of a tree imports of the others."""
    python = [file for file in files(root) if file.suffix == ".py"]
    names = frozenset(map(module_of, python))
    return {module_of(file): frozenset(needed((root / file).read_text(encoding="utf-8"), names)) for file in python}


def circles(edges: Graph) -> list[tuple[str, ...]]:
    """The groups of which each needs all others (strongly connected components), and what needs itself; sorted.

    >>> circles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("d")})
    [('b', 'c'), ('d',)]
    """
    reached = {name: _reached(edges, name) for name in edges}
    groups = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in edges}
    return sorted(group for group in groups if group)


def _reached(edges: Graph, start: str) -> frozenset[str]:
    """Everything that one module needs, by whatever way; itself only where it stands on a circle."""
    found: set[str] = set()
    waiting = [*edges[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(edges[name])
    return frozenset(found)


def folded(edges: Graph, room: str) -> Graph:
    """The same between the folders of a room; a module at its top stands for itself.

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
    assert circles(graph(ROOT)) == []


def test_the_folders_of_inference_stand_one_upon_the_other() -> None:
    assert circles(folded(graph(ROOT), "inference")) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small house with a way round: a question needs its answer inside a function, the answer a helper beside it."""
    for file, source in {
        "inference/__init__.py": "",
        "inference/questions/__init__.py": "",
        "inference/questions/lens.py": "def ask():\n    from inference.answers import lens\n    return lens",
        "inference/answers/lens.py": "import inference.answers.inputs as inputs",
        "inference/answers/inputs.py": "from inference.questions.lens import ask",
        "inference/questions/other.py": "from inference import questions",
        "attention/view.py": "import numpy",
        "app.py": "import inference.answers.lens\nimport attention.view",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    return tmp_path


def test_a_circle_is_found_inside_functions_and_across_rooms(tree: Path) -> None:
    found = ("inference.answers.inputs", "inference.answers.lens", "inference.questions.lens")
    assert circles(graph(tree)) == [found]
    assert circles(folded(graph(tree), "inference")) == [("inference.answers", "inference.questions")]
    (tree / "inference/answers/inputs.py").write_text("import app")
    assert circles(graph(tree)) == [("app", "inference.answers.inputs", "inference.answers.lens")]


def test_a_way_back_through_another_module_of_the_folder_is_a_circle_of_folders_only(tree: Path) -> None:
    (tree / "inference/answers/inputs.py").write_text("from inference.questions.other import name")
    assert circles(graph(tree)) == []
    assert circles(folded(graph(tree), "inference")) == [("inference.answers", "inference.questions")]


def test_the_house_has_modules_to_look_at() -> None:
    edges = graph(ROOT)
    assert "inference.errors" in edges["inference.backend"]
    assert {name.split(".")[0] for name in edges} >= {"attention", "inference", "viz", "ui", "pages", "tests", "app"}
