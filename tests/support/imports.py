"""What a module imports: each source is parsed once, however many laws of the house ask about it."""

from __future__ import annotations

import ast
from functools import cache

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # where a statement holds others


@cache
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Every import of a module, wherever it stands.

    >>> [ast.unparse(found) for found in import_statements("import a\\ndef f():\\n    from b import c")]
    ['import a', 'from b import c']
    """
    waiting: list[ast.AST] = [ast.parse(source)]
    for node in waiting:  # statements only: most of a module is expressions, and none of them imports
        waiting.extend(inner for block in BLOCKS for inner in getattr(node, block, ()))
    return tuple(node for node in waiting if isinstance(node, ast.Import | ast.ImportFrom))
