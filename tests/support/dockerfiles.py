"""Parsers for Dockerfiles and .dockerignore files that follow Docker's rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """An instruction: its keyword and its arguments."""

    word: str
    rest: str


def instructions(text: str) -> list[Instruction]:
    """Return the instructions in order, without comments and with continued lines joined.

    >>> instructions("# why\\nRUN a \\\\\\n# between\\n  && b\\n\\nUSER 1")
    [Instruction(word='RUN', rest='a && b'), Instruction(word='USER', rest='1')]
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    whole = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in whole.splitlines()]


def stages(found: Iterable[Instruction]) -> list[list[Instruction]]:
    """Group the instructions into build stages, a list for each FROM.

    >>> [len(stage) for stage in stages(instructions("FROM a\\nRUN b\\nFROM c"))]
    [2, 1]
    """
    divided: list[list[Instruction]] = []
    for one in found:
        if one.word == "FROM":
            divided.append([])
        divided[-1].append(one)
    return divided


def let_through(paths: Iterable[Path], ignored: str) -> list[Path]:
    """Return the files that a .dockerignore does not exclude.

    The last line that matches a file or a folder above it decides.

    >>> some = [Path("a/b.py"), Path("a/c.test.js"), Path("d.py")]
    >>> let_through(some, "*\\n!a\\n**/*.test.*")
    [PosixPath('a/b.py')]
    """
    lines = [line.strip() for line in ignored.splitlines() if line.strip() and not line.startswith("#")]
    rules = [(not line.startswith("!"), _pattern(line.removeprefix("!"))) for line in lines]

    def left_out(path: Path) -> bool:
        verdicts = [out for out, pattern in rules if pattern.match(path.as_posix())]
        return bool(verdicts) and verdicts[-1]

    return [path for path in paths if not left_out(path)]


def _pattern(line: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    told = "".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*\*|\*|\?)", line.strip("/")))
    return re.compile(f"{told}(?:/.*)?$")
