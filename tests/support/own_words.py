"""What of a page is still English of the sentences that its own files say, the shared rooms' left aside."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from babel.messages.extract import extract
from streamlit.testing.v1 import AppTest

from tests.support.words import SENTENCE, english
from tools.words import KEYWORDS, ROOT


def left(page: AppTest, name: str, *read: str) -> list[str]:
    """English texts of the page that are, or hold, a sentence of ``pages/<name>.py`` or of ``ui/pages/<name>``."""
    return [text for text in english(page, *read) if any(own.search(text) for own in _own(name))]


@cache
def _own(name: str) -> tuple[re.Pattern[str], ...]:
    files = [ROOT / "pages" / f"{name}.py", *sorted((ROOT / "ui" / "pages" / name).glob("*.py"))]
    return tuple(
        re.compile(".*?".join(map(re.escape, re.split(r"{\w+[^}]*}", template))), re.DOTALL)
        for file in files
        for template in _templates(file)
        if SENTENCE.search(re.sub(r"{\w+[^}]*}", " · ", template))
    )


def _templates(file: Path) -> list[str]:
    with file.open("rb") as source:
        said = [message for _line, message, _comments, _context in extract("python", source, keywords=KEYWORDS)]
    return [one for message in said for one in ([message] if isinstance(message, str) else message)]


own_english = left
