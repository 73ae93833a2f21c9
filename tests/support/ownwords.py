"""Which sentences of some rooms stand on a page in English while another language is spoken."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from babel.messages.extract import extract
from streamlit.testing.v1 import AppTest

from tests.support.browser import ROOT
from tests.support.words import SENTENCE, english
from tools.words import KEYWORDS


def untold(page: AppTest, *rooms: str, read: tuple[str, ...] = ()) -> list[str]:
    """What of ``rooms``, files or folders from the root on, the page still says in English; ``read`` are its texts."""
    patterns = [pattern for room in rooms for pattern in _patterns(room)]
    return [text for text in english(page, *read) if any(pattern.search(text) for pattern in patterns)]


@cache
def _patterns(room: str) -> tuple[re.Pattern[str], ...]:
    """The sentences of a room as they stand on a page, whatever their values are."""
    path = ROOT / room
    found: list[str] = []
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        with file.open("rb") as source:
            for _line, message, _comments, _context in extract("python", source, keywords=KEYWORDS):
                found += [message] if isinstance(message, str) else message
    return tuple(_pattern(template) for template in dict.fromkeys(found) if SENTENCE.search(template))


def _pattern(template: str) -> re.Pattern[str]:
    pieces = [(re.escape(text), name is not None) for text, name, _, _ in Formatter().parse(template)]
    return re.compile("".join(text + (".+?" if hole else "") for text, hole in pieces), re.DOTALL)
