"""Rewriting of imports for the wheel: `import attention.mask` -> `import headlight.attention.mask`.

The rewriter changes only names of modules that Python reads:

- imports, also those in the examples of docstrings;
- arguments of `import_module` and `find_spec`, and arguments after "-m";
- `python -m` commands in messages.

If a string names a module in any other way, the rewriter raises an error instead of leaving the old name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import pairwise

ASKING = {"import_module", "find_spec"}
EXAMPLE = re.compile(r"(?m)^(\s*(?:>>>|\.\.\.) )(.*(?:from|import) .*)$")
DOTTED = re.compile(r"[a-z_]+(?:\.[a-z_0-9]+)*\.?")
OPENING = re.compile(rb"[a-zA-Z]*(?:\"\"\"|'''|\"|')")

Edit = tuple[int, int, str]  # (start byte, end byte, replacement)


class CannotPlace(ValueError):
    """Raised if a source file names a module in a way that cannot be rewritten."""


@dataclass(frozen=True)
class Placing:
    """The rewriting of imports so that modules are found inside the package ``package``.

    ``names`` are the moved top-level packages, and ``modules`` all their modules by dotted name.
    """

    package: str
    names: tuple[str, ...]
    modules: Container[str] = ()

    def source(self, text: str, file: str = "") -> str:
        """Return the source text of a module with its imports rewritten; line numbers stay the same.

        >>> rooms = Placing("house", ("hall", "app"))
        >>> rooms.source("import hall\\nimport hall.door as d\\nfrom hall.door import bell  # loud")
        'import house.hall as hall\\nimport house.hall.door as d\\nfrom house.hall.door import bell  # loud'
        >>> rooms.source('run(python, "-m", "hall.door", "hall")')
        'run(python, "-m", "house.hall.door", "hall")'
        """
        tree = ast.parse(text)
        content = text.encode()
        starts = [0]
        for line in content.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        edits = sorted({edit for node in ast.walk(tree) for edit in self._of(node, content, starts)}, reverse=True)
        done = {start for start, *_ in edits}
        for node in ast.walk(tree):
            self._refuse_forgotten(node, content, starts, done, file)
        for start, end, new in edits:
            content = content[:start] + new.encode() + content[end:]
        return self.rewrite_commands(EXAMPLE.sub(self._example, content.decode()))

    def rewrite_commands(self, text: str) -> str:
        """Return a text with its `python -m` commands rewritten.

        >>> Placing("house", ("hall",)).rewrite_commands("Write: python -m hall door")
        'Write: python -m house.hall door'
        """
        return re.sub(rf'(\bpython -m (?:"\n")?)(?=(?:{"|".join(self.names)})\b)', rf"\1{self.package}.", text)

    def _ours(self, name: str | None) -> bool:
        return name is not None and name.split(".")[0] in self.names

    def _of(self, node: ast.AST, content: bytes, starts: list[int]) -> Iterator[Edit]:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and self._ours(node.module):
            here = content.index((node.module or "").encode(), _byte_offset(node, starts) + len("from"))
            yield here, here, f"{self.package}."
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if self._ours(alias.name):
                    here = _byte_offset(alias, starts)
                    yield here, here, f"{self.package}."
                    room = alias.name.split(".")[0]
                    if alias.asname is None:  # the rest of the module uses the package under this name
                        end = here + len(alias.name)
                        first = " as " if room == alias.name else f", {self.package}.{room} as "
                        yield end, end, f"{first}{room}"
        elif (name := _module_asked_for(node)) is not None and self._ours(_head(name)):
            yield self._inside(name, content, starts)
        elif isinstance(node, ast.Tuple | ast.List | ast.Call):
            told = node.args if isinstance(node, ast.Call) else node.elts
            for flag, name in pairwise(told):
                if isinstance(flag, ast.Constant) and flag.value == "-m" and self._ours(_head(name)):
                    yield self._inside(name, content, starts)

    def _inside(self, string: ast.AST, content: bytes, starts: list[int]) -> Edit:
        """Return the edit that inserts the package's name after the opening quote of a string."""
        opening = OPENING.match(content, _byte_offset(string, starts))
        assert opening is not None
        return opening.end(), opening.end(), f"{self.package}."

    def _refuse_forgotten(self, node: ast.AST, content: bytes, starts: list[int], done: set[int], file: str) -> None:
        head = _head(node)
        if head is None or "." not in head or not DOTTED.fullmatch(head) or head.rstrip(".") not in self.modules:
            return
        opening = OPENING.match(content, _byte_offset(node, starts))
        if opening is not None and opening.end() not in done:
            line = getattr(node, "lineno", 0)
            raise CannotPlace(
                f"{file}:{line}: {head!r} names a module in a way that tools/namespace_rewrite.py does not know."
            )

    def _example(self, found: re.Match[str]) -> str:
        try:
            return found[1] + Placing(self.package, self.names).source(found[2])
        except SyntaxError:  # the line is a part of a longer example, or not Python
            return found[0]


def _byte_offset(node: ast.AST, starts: list[int]) -> int:
    """Return the byte offset of a node."""
    place: int = starts[getattr(node, "lineno") - 1] + getattr(node, "col_offset")  # noqa: B009  (not every node has one)
    return place


def _head(node: ast.AST) -> str | None:
    """Return the literal start of a string or f-string, or None for other nodes."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _module_asked_for(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return node.args[0] if name in ASKING else None
