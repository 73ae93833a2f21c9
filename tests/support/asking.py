"""A page of the app asked without a browser: its script run by Streamlit's own AppTest, and what it then shows.

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

import pytest
from streamlit.testing.v1 import AppTest

from i18n import ENGLISH, use_language
from inference import LocalBackend
from tests.support.repository import ROOT
from ui.run import services

LONGEST = 120  # s that a run may take: the first one imports the libraries, on a busy machine
SAID = re.compile(r'<p class="headlight-(note|refusal)"[^>]*>(.*?)</p>', re.DOTALL)


@contextmanager
def allowed(root: Path) -> Iterator[LocalBackend]:
    """The pages' backend while this process may read the models of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_FOLDERS", str(root))
        services.get_backend.cache_clear()
        yield services.get_backend()
    services.get_backend.cache_clear()


def asked(file: str, **query: object) -> AppTest:
    """``pages/<file>.py`` inside the shell, with this in its address, run once."""
    page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    page.query_params.update({name: str(value) for name, value in query.items()})
    return page.switch_page(f"../../pages/{file}.py").run()


def press(page: AppTest, label: str) -> None:
    """Presses the button of that name; the page has answered then."""
    (button,) = (button for button in page.button if button.label == label)
    with _its_language(page):
        button.click().run()


def choose(page: AppTest, label: str, option: str) -> None:
    """Chooses an option of the group of buttons of that name; the page has answered then."""
    (group,) = (group for group in page.button_group if group.label == label)
    with _its_language(page):
        group.set_value(option).run()


def go(page: AppTest, file: str) -> AppTest:
    """Opens another page of the app in the same session."""
    with _its_language(page):
        return page.switch_page(f"../../pages/{file}.py").run()


def _its_language(page: AppTest) -> AbstractContextManager[None]:
    """AppTest reads the names of options outside of the page's run, where nobody is served."""
    return use_language(str(page.query_params["lang"]) if "lang" in page.query_params else ENGLISH)


def notes(page: AppTest, kind: str = "note") -> list[str]:
    """The sentences that the page says, as text, in their order; ``kind`` "refusal" for what it refuses."""
    said = [found for element in page.get("html") for found in SAID.findall(element.proto.body)]
    return [html.unescape(re.sub(r"<[^>]+>", "", text)) for name, text in said if name == kind]


def says(page: AppTest, words: str) -> None:
    """Some sentence of the page, a note or a refusal, has these words."""
    said = [*notes(page), *notes(page, "refusal")]
    assert any(words in sentence for sentence in said), said


def stands(page: AppTest) -> None:
    """The page has come to its end, and without an error."""
    assert "How to read this" in [expander.label for expander in page.expander]
    assert not page.exception


def text_of(page: AppTest) -> str:
    """What the text box is given to show."""
    (box,) = (part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_composer")
    return str(json.loads(box.json)["text"])
