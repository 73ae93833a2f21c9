"""English text on a page that should be in another language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from i18n.translation import FOLDER
from ui.state.view_state import EXAMPLES

# Models read or write the quoted words; code, formulas, addresses, styles and BibTeX are no sentences.
QUOTED = re.compile(
    r"“[^”]*”|`[^`]*`|\$[^$]*\$|```.*?```|<style.*?</style>|<[^>]*>|https?://\S+|\]\([^)]*\)|:material/\w+:"
    r"|@\w+\{(?:[^{}]|\{[^{}]*\})*\}",
    re.DOTALL,
)
SOURCES = ("js_content", "css_content", "html_content")
HIDDEN = "aliases"  # English search words of the palette, which are not shown
SENTENCE = re.compile(r"(?:[A-Za-z][a-z’']*,? ){3,}[A-Za-z][a-z’']+")


@cache
def untranslated() -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each message without a Chinese translation, which is shown in English."""
    with (FOLDER / "zh.po").open("rb") as file:
        messages = [message for message in read_po(file, locale="zh") if message.id and not all(_forms(message.string))]
    templates = sorted({str(form) for message in messages for form in _forms(message.id)}, key=len, reverse=True)
    return tuple(re.compile(_any_value(template), re.DOTALL) for template in templates)


def _forms(text: Any) -> tuple[str, ...]:
    return tuple(text) if isinstance(text, tuple | list) else (text,)


def _any_value(template: str) -> str:
    """Return a pattern of a message with any values in its places.

    >>> bool(re.fullmatch(_any_value("{n:.2f} of {all}"), "0.50 of 12"))
    True
    """
    return ".*?".join(re.escape(part) for part in re.split(r"\{[^{}]*\}", template))


def english(page: AppTest, *read: str) -> list[str]:
    """Return the page's texts that contain four or more consecutive English words.

    Quoted words, the texts in ``read``, the examples that the text box offers and messages without a translation do
    not count.
    """
    offered = [example[name] for example in EXAMPLES for name in ("text", "pair") if name in example]
    known = _plain(" | ".join((*read, *offered)))
    left = []
    for text in said(page):
        for typed in sorted((*read, *offered), key=len, reverse=True):
            text = text.replace(typed, "“”")
        if SENTENCE.search(QUOTED.sub(" · ", text)):
            for pattern in untranslated():
                text = pattern.sub(" · ", text)
        runs = SENTENCE.findall(QUOTED.sub(" · ", text))
        left += [text] if any(_plain(run) not in known for run in runs) else []
    return list(dict.fromkeys(left))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def said(page: AppTest) -> Iterator[str]:
    """Yield every text that the server sends to the page."""
    for node in _nodes(page._tree):  # noqa: SLF001  (AppTest offers its elements by kind only)
        if hasattr(getattr(node, "proto", None), "ListFields"):
            yield from _texts(node.proto)


def _nodes(block: Any) -> Iterator[Block | Element]:
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from _nodes(child)


def _texts(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.name in ("id", "form_id", "key", "url", "element_hash", "component_name", "user_key", *SOURCES):
            continue
        for one in _each(value):
            if hasattr(one, "ListFields"):
                yield from _texts(one)
            elif isinstance(one, str):
                yield from _inside(one)


def _each(value: Any) -> list[Any]:
    """Return the values of a field as a list. A repeated field has a length but no ``__iter__``."""
    if hasattr(value, "values"):
        return list(value.values())
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str | bytes) else [value]


def _inside(text: str) -> Iterator[str]:
    """Yield the text, or the strings in it if it is a JSON object or list."""
    if text[:1] in "{[":
        try:
            yield from _leaves(json.loads(text))
            return
        except ValueError:
            pass
    yield text


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        kept = [one for name, one in value.items() if name != HIDDEN] if isinstance(value, dict) else value
        for one in kept:
            yield from _leaves(one)
