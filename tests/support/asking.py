"""Pages of the app, run without a browser by Streamlit's AppTest, and the messages that they show.

page = asked("generate", text="The cat sat")
press(page, "Next token")
assert "looks back at" in " ".join(notes(page))
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import FileUploader

from i18n import ENGLISH, use_language
from inference import LocalBackend
from tests.support.repository import ROOT
from ui.run import services
from ui.show import sections
from ui.show.views import file_of
from ui.state.navigation import view_fields

LONGEST = 120  # Seconds that a run may take; the first run imports the libraries, on a busy machine.
SAID = re.compile(r'<p class="headlight-(note|refusal)"[^>]*>(.*?)</p>', re.DOTALL)


@contextmanager
def allowed(root: Path) -> Iterator[LocalBackend]:
    """Yield the pages' backend while this process may read the models of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_FOLDERS", str(root))
        services.get_backend.cache_clear()
        yield services.get_backend()
    services.get_backend.cache_clear()


def asked(view: str, **query: object) -> AppTest:
    """Open a view inside the shell, with ``query`` in its address."""
    page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    page.query_params.update({name: str(value) for name, value in query.items()} | view_fields(view))
    return page.switch_page(file_of(view)).run()


@contextmanager
def sections_open() -> Iterator[None]:
    """While this is open, pages draw the content of their folded sections too."""

    def expander(label: str, *, key: str | None = None, **options: Any) -> DeltaGenerator:
        if key is not None:
            streamlit.session_state[key] = True
        return streamlit.expander(label, key=key, **options)

    shown = SimpleNamespace(expander=expander, session_state=streamlit.session_state, markdown=streamlit.markdown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "st", shown)
        yield


def uploader(page: AppTest, key: str) -> FileUploader:
    """Return the field for a file whose key begins with ``key``."""
    (field,) = (field for field in page.file_uploader if str(field.key).startswith(key))
    return field


def press(page: AppTest, label: str, key: str | None = None) -> None:
    """Press the button with this label and wait for the run that follows; ``key`` tells equal labels apart."""
    (button,) = (button for button in page.button if button.label == label and key in (None, button.key))
    with _its_language(page):
        button.click().run()


def choose(page: AppTest, label: str, option: str) -> None:
    """Choose an option of the button group with this label and wait for the run that follows."""
    (group,) = (group for group in page.button_group if group.label == label)
    with _its_language(page):
        group.set_value(option).run()


def go(page: AppTest, view: str, **query: str) -> AppTest:
    """Open another view of the app in the same session, by a link with this query."""
    with _its_language(page):
        page.query_params.clear()
        page.query_params.update(query | view_fields(view))
        return page.switch_page(file_of(view)).run()


def _its_language(page: AppTest) -> AbstractContextManager[None]:
    """Set the page's language, because AppTest reads the names of options outside the page's run."""
    return use_language(str(page.query_params["lang"]) if "lang" in page.query_params else ENGLISH)


def notes(page: AppTest, kind: str = "note") -> list[str]:
    """Return the page's notes (or refusals, by ``kind``) as plain text, in the order of the page."""
    said = [found for element in page.get("html") for found in SAID.findall(element.proto.body)]
    return [html.unescape(re.sub(r"<[^>]+>", "", text)) for name, text in said if name == kind]


POWER = re.compile(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def plain_numbers(text: str) -> str:
    """Return a text with numbers that Python can read, the inverse of ``i18n.typeset_number``.

    >>> plain_numbers("−2.7 × 10⁻⁵")
    '-2.7e-5'
    """
    return POWER.sub(lambda power: f"e{power[1].translate(DIGITS)}", text).replace("−", "-")


def says(page: AppTest, words: str) -> None:
    """Assert that a note or a refusal of the page contains these words."""
    said = [*notes(page), *notes(page, "refusal")]
    assert any(words in sentence for sentence in said), said


def stands(page: AppTest) -> None:
    """Assert that the page's script ran to its end without an exception."""
    assert "How to read" in [expander.label for expander in page.expander]
    assert not page.exception


def text_of(page: AppTest) -> str:
    """Return the text that the page passes to its text box."""
    return str(composer_data(page)["text"])


def composer_data(page: AppTest) -> dict[str, Any]:
    """Return the data that the page passes to its text box, such as "text" and "examples"."""
    (box,) = (part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_composer")
    data: dict[str, Any] = json.loads(box.json)
    return data
