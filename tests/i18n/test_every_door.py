"""Messages from packages below the app are valid in the app, in a notebook and on the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.words import ROOT, file_messages
from ui.state.navigation import PAGES

ROOMS = ("inference", "attention", "headlight", "training", "probing")
CONTROLS = re.compile(
    r"\b(?:buttons?|menus?|sidebar|this app|clicks?|the list below|(?:of|from) (?:the|its) list)\b"
    r"|^(?!.*padding).*\bon the left\b",
    re.IGNORECASE | re.DOTALL,
)


TITLES = "|".join(re.escape(str(title)) for page in PAGES for title in (page.title, *page.views.values()))


def names_the_app(message: str) -> bool:
    """Return True if a message names a page or a control of the app.

    >>> names_the_app("The page Compare has two."), names_the_app("Compare two models first.")
    (True, False)
    """
    page = rf"\bpages? [“\"]?(?:{TITLES})\b|\b(?:on|open) (?:{TITLES})\b"
    return bool(CONTROLS.search(message) or re.search(page, message))


def messages(file: Path) -> Iterator[str]:
    """Yield the messages of a module, and its other texts except docstrings."""
    for message in file_messages(file):
        yield from (message,) if isinstance(message, str) else message
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("message", ["The page Compare has two.", "Pick one from the list.", "See the menu."])
def test_a_message_of_the_app_is_found(message: str) -> None:
    assert names_the_app(message)


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_a_message_names_no_page_or_control(room: str) -> None:
    found = {
        (str(file.relative_to(ROOT)), message)
        for file in sorted((ROOT / room).rglob("*.py"))
        for message in messages(file)
        if names_the_app(message)
    }
    assert found == set()
