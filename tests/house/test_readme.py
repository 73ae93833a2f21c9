"""The README in Chinese has what the English one has: the same parts, commands, pictures and links."""

from __future__ import annotations

import re

import pytest

from tests.support.repository import ROOT

ENGLISH, CHINESE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def headings(text: str) -> list[int]:
    """How deep each heading lies."""
    return [len(marks) for marks in re.findall(r"^(#+) ", FENCE.sub("", text), re.MULTILINE)]


def links(text: str) -> set[str]:
    """Where the links and pictures lead, but for the one to the other language."""
    return set(re.findall(r"\]\(([^)]+)\)", text)) - {"README.md", "README.zh.md"}


def rows(text: str) -> int:
    """Lines of tables."""
    return len(re.findall(r"^\|", text, re.MULTILINE))


def code(text: str) -> set[str]:
    """What stands in back quotes in a line: commands, variables, paths."""
    return {one.replace("\n", " ") for one in re.findall(r"`([^`]+)`", FENCE.sub("", text))}


@pytest.mark.parametrize("part", [headings, FENCE.findall, links, rows])
def test_both_have_the_same(part) -> None:  # type: ignore[no-untyped-def]
    assert part(CHINESE) == part(ENGLISH)


def test_every_command_is_in_both() -> None:
    assert code(ENGLISH) <= code(CHINESE)


def test_each_leads_to_the_other() -> None:
    assert "[中文](README.zh.md)" in ENGLISH.splitlines()
    assert "[English](README.md)" in CHINESE.splitlines()
