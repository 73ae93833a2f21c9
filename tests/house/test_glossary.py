"""Every word of docs/GLOSSARY.md occurs a single time and names a place that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.repository import ROOT

LINE = re.compile(r"\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<file>[^`]+)` `(?P<name>\w+)` \|")


def faults(glossary: str, root: Path) -> list[str]:
    """Return a sentence for each error in a glossary's lines."""
    lines = [line for line in glossary.splitlines() if line.startswith("| ")][1:]  # Skip the heading.
    found, words = [], [line.split("|")[1].strip() for line in lines]
    for line in lines:
        match = LINE.fullmatch(line)
        if match is None:
            found.append(f"no word, meaning and place: {line}")
        elif not (root / match["file"]).is_file():
            found.append(f"{match['file']} does not exist.")
        elif not _names(match["name"], (root / match["file"]).read_text(encoding="utf-8")):
            found.append(f"{match['file']} names no {match['name']}.")
    return found + [f"{word} stands twice." for word in sorted(set(words)) if words.count(word) > 1]


def _names(name: str, source: str) -> bool:
    """Return True if a module defines a class, a function, a field or a value of that name."""
    return bool(re.search(rf"^ *(?:(?:class|def) {name}\b|{name}(?:: [^=\n]+)?(?: = |$|: |  #))", source, re.M))


def test_every_word_is_where_the_glossary_says() -> None:
    glossary = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
    assert faults(glossary, ROOT) == []
    assert glossary.count("\n| ") > 20


def test_a_false_line_is_found(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for line, said in [
        ("| a | b | `a.py` `A` |", ""),
        ("| a | b | `a.py` `size` |", ""),
        ("| a | b | `a.py` `made` |", ""),
        ("| a | b | `a.py` `B` |", "a.py names no B."),
        ("| a | b | `a.py` `used` |", "a.py names no used."),
        ("| a | b | `b.py` `A` |", "b.py does not exist."),
        ("| a | b |", "no word, meaning and place: | a | b |"),
        ("| a | b | `a.py` `A` |\n| a | c | `a.py` `A` |", "a stands twice."),
    ]:
        with subtests.test(line=line, said=said):
            (tmp_path / "a.py").write_text("class A:\n    size: int\n    used()\n\nmade = 1\n", encoding="utf-8")
            assert faults(f"| word | meaning | where |\n|---|---|---|\n{line}\n", tmp_path) == ([said] if said else [])
