"""What a module imports: each source is parsed once, however many laws of the house ask about it."""

from __future__ import annotations

import ast
from functools import cache


@cache
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Every import of a module, wherever it stands.

    >>> [ast.unparse(found) for found in import_statements("import a\\ndef f():\\n    from b import c")]
    ['import a', 'from b import c']
    """
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom))
