"""Imports between modules. Each source is parsed a single time for all checks of the tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.support.repository import files

Graph = Mapping[str, frozenset[str]]
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # These fields of a statement contain statements.


@cache
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return every import of a module, also those inside functions.

    >>> [ast.unparse(found) for found in import_statements("import a\\ndef f():\\n    from b import c")]
    ['import a', 'from b import c']
    """
    waiting: list[ast.AST] = [ast.parse(source)]
    for node in waiting:  # Only statements: expressions, most of a module, contain no imports.
        waiting.extend(inner for block in BLOCKS for inner in getattr(node, block, ()))
    return tuple(node for node in waiting if isinstance(node, ast.Import | ast.ImportFrom))


def module_of(file: Path) -> str:
    """Return the name that a file is imported by.

    >>> module_of(Path("viz/figures/token_bars.py")), module_of(Path("viz/__init__.py")), module_of(Path("app.py"))
    ('viz.figures.token_bars', 'viz', 'app')
    """
    return ".".join(part for part in file.with_suffix("").parts if part != "__init__")


def imported_modules(source: str, modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules of the tree that a source imports.

    ``from a import b`` yields ``a.b`` if that is a module, else ``a``.
    """
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from (name for name in (inner if inner in modules else node.module,) if name in modules)


def import_graph(root: Path) -> Graph:
    """Return the modules of the tree that each module imports."""
    python = [file for file in files(root) if file.suffix == ".py"]
    names = frozenset(map(module_of, python))
    return {
        module_of(file): frozenset(imported_modules((root / file).read_text(encoding="utf-8"), names))
        for file in python
    }
