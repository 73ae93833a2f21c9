"""What of a page's own sentences is still English on it, whatever the rooms below it say."""

from __future__ import annotations

import html
from functools import cache
from string import Formatter

from babel.messages.extract import extract_from_file
from streamlit.testing.v1 import AppTest

from tests.support.browser import ROOT
from tests.support.words import SENTENCE, english
from tools.words import KEYWORDS


def own_english(page: AppTest, name: str, *read: str) -> list[str]:
    """The texts on the page that are English and hold a sentence of ``pages/<name>.py`` or of ``ui/pages/<name>``."""
    own = templates(name)
    return [text for text in english(page, *read) if any(part in html.unescape(text) for part in own)]


@cache
def templates(name: str) -> frozenset[str]:
    """What stands between the values of the page's sentences, where it is a sentence by itself."""
    found: set[str] = set()
    for file in (ROOT / "pages" / f"{name}.py", *(ROOT / "ui" / "pages" / name).glob("*.py")):
        for _line, message, _comments, _context in extract_from_file("python", file, keywords=KEYWORDS):
            found |= {message} if isinstance(message, str) else set(message)
    parts = {part for template in found for part, *_value in Formatter().parse(template)}
    return frozenset(part for part in parts if SENTENCE.search(part))
