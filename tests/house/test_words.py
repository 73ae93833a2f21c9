"""Translations belong to messages that exist, contain the same values and use the terms of the field."""

from __future__ import annotations

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from tools.words import FOLDER, HEADER, ROOMS, ROOT, extract_messages, stale

FILES = sorted(FOLDER.glob("*.po"))
HAN = re.compile("[\u4e00-\u9fff]")
# These strings may be the same in Chinese: names, formulas, numbers with signs, and strings without a word.
SAME = re.compile(r"[A-Z]{2,}|[A-Z][a-z]+[A-Z]|[a-z]+\(|[·×→=+/%]|^(?:\{[^}]*\}|[^A-Za-z{])*$")


def messages(file: Path) -> Iterator[Message]:
    with file.open("rb") as source:
        yield from (message for message in read_po(source, locale=file.stem) if message.id)


def ids(message: Message) -> tuple[str, ...]:
    """Return the message in English, or its singular and plural."""
    return tuple(map(str, message.id)) if isinstance(message.id, tuple | list) else (str(message.id),)


def strings(message: Message) -> tuple[str, ...]:
    """Return the translation, a string for each plural form of the language."""
    return tuple(map(str, message.string)) if isinstance(message.string, tuple | list) else (str(message.string or ""),)


def holes(template: str) -> set[str]:
    """Return the names of the values in a template.

    >>> sorted(holes("{n:,} of {all}"))
    ['all', 'n']
    """
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def unlike(message: Message, glossary: dict[str, list[str]]) -> list[str]:
    """Return the glossary's terms in a message whose translation uses other words than the glossary."""
    said = ids(message)[0]
    wrong: list[str] = []
    if not all(strings(message)):
        return wrong
    for term in sorted(glossary, key=len, reverse=True):
        whole = re.compile(rf"(?<![\w{{-]){re.escape(term)}(?![\w}}-])", re.IGNORECASE)
        if whole.search(said):
            said = whole.sub(" ", said)
            if not any(wanted.lower() in text.lower() for text in strings(message) for wanted in glossary[term]):
                wrong.append(term)
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_message_is_stale(file: Path) -> None:
    """`make words` removes stale messages. A message without a translation is shown in English and passes."""
    assert stale(file, list(extract_messages())) == []


def test_a_stale_message_is_found_and_an_untranslated_message_passes(tmp_path: Path) -> None:
    file = tmp_path / "zh.po"
    entries = 'msgid "gone"\nmsgstr ""\n\nmsgid "{n} head"\nmsgid_plural "{n} heads"\nmsgstr[0] ""\n'
    file.write_text(HEADER.format(language="zh", plural="nplurals=1; plural=0;") + entries, encoding="utf-8")
    assert stale(file, [("{n} head", "{n} heads"), "new"]) == ["gone"]
    assert stale(file, ["gone", ("{n} head", "{n} heads")]) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_value_is_lost(file: Path) -> None:
    for message in messages(file):
        wanted = holes(ids(message)[-1])
        for text in filter(None, strings(message)):
            if wanted or len(ids(message)) > 1:
                assert holes(text) == wanted, ids(message)[0]


def test_every_literal_message_is_extracted() -> None:
    """Babel misses calls in some f-strings; their messages would stay English."""
    names, found = {"_", "gettext_lazy"}, set(extract_messages())
    calls = [
        (file, node)
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args
    ]
    assert len(calls) > 1000
    assert [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file, node in calls
        if isinstance(node.args[0], ast.Constant) and node.args[0].value not in found
    ] == []


def test_what_is_said_in_chinese_is_chinese() -> None:
    left = [
        ids(message)[0]
        for message in messages(FOLDER / "zh.po")
        if all(strings(message)) and not any(map(HAN.search, strings(message))) and not SAME.search(ids(message)[0])
    ]
    assert left == []


@pytest.mark.slow
def test_the_terms_are_those_of_the_field() -> None:
    glossary = tomllib.loads((FOLDER / "glossary.zh.toml").read_text(encoding="utf-8"))
    wrong = {ids(message)[0]: found for message in messages(FOLDER / "zh.po") if (found := unlike(message, glossary))}
    assert wrong == {}


def test_another_term_is_found() -> None:
    glossary = {"attention head": ["注意力头"], "head": ["头"]}
    assert unlike(Message("Pick an attention head", "选一个注意力的部分"), glossary) == ["attention head"]
    assert unlike(Message("Pick an attention head", "选一个注意力头"), glossary) == []
    assert unlike(Message("{head} of 12", "共 12 个中的 {head}"), glossary) == []
    assert unlike(Message("Pick an attention head", ""), glossary) == []
