"""What a page shows in English of its own sentences, whatever the rooms that it uses say."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

from babel.messages.extract import extract
from streamlit.testing.v1 import AppTest

from tests.support.browser import ROOT
from tests.support.words import said
from tools.words import KEYWORDS

WORDS = re.compile(r"[A-Za-z][a-z’']+")


def untold(page: AppTest, name: str) -> list[str]:
    """The texts on the page that hold an English sentence of ``pages/<name>.py`` or of its folder in ``ui/pages``."""
    whole, parts = sentences(name), pieces(name)
    return [text for text in said(page) if text in whole or any(part in text for part in parts)]


@cache
def sentences(name: str) -> frozenset[str]:
    """Every template of the page of two words or more."""
    files = [ROOT / "pages" / f"{name}.py", *(ROOT / "ui" / "pages" / name).rglob("*.py")]
    found: set[str] = set()
    for file in files:
        with file.open("rb") as source:
            for _line, message, _comments, _context in extract("python", source, keywords=KEYWORDS):
                found.update(message if isinstance(message, tuple) else [message])
    return frozenset(one for one in found if len(WORDS.findall(one)) > 1)


@cache
def pieces(name: str) -> frozenset[str]:
    """What stands between the values of the templates, where it is four words or more."""
    return frozenset(piece for one in sentences(name) for piece in _between(one) if len(WORDS.findall(piece)) > 3)


def _between(template: str) -> Iterator[str]:
    yield from (text.strip() for text, *_value in string.Formatter().parse(template))
