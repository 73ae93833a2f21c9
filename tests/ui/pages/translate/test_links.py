"""Invalid links to the Translate page and unreadable texts, with their messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from attention.storage import parse
from attention.tokens import TokenRow
from inference import TraceRequest
from tests.support.asking import allowed, asked, notes, says, stands, text_of
from tests.support.cases import loop_over
from tests.support.predictors import BARE
from tests.support.translators import tiny
from ui.pages.translate.page import describe_unread
from ui.routes.traces import routes
from ui.run.services import get_backend

TEXT = "The animal sat on the mat."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("translators")
    folder = tiny(root / "tiny-marian")
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
@loop_over(
    ("query", "said"),
    [
        ({"text": " "}, "The text is empty"),
        ({"text": "a cat " * 60}, "tiny-marian reads at most 64"),
        ({"target": "le chat " * 60}, "tiny-marian writes at most 64"),
        ({"model": "openai-community/gpt2"}, "GPT-2 has no head that translates"),
        ({"show": "<b>"}, "“show” is not valid"),
        ({"show": "without", "edits": "ax9-0"}, "There is no head 9-0"),
        ({"show": "without", "edits": "cx0-0-1-99"}, "There is no token 99"),
        ({"cross": "99-<b>", "width": "77"}, "cross head"),
        ({"step": "4000"}, "cross head"),
        ({"way": "own"}, "Type your own"),
        ({"speaker": "nobody", "model": BARE}, "not on this machine; another model answers"),
    ],
)
def test_odd_links_and_bad_input_are_answered_in_a_sentence(model: str, query: dict[str, str], said: str) -> None:
    page = asked("translate", **{"model": model, "text": TEXT, **query})
    says(page, said)
    stands(page)
    if query.get("text", TEXT).strip():
        assert text_of(page) == query.get("text", TEXT)


def microscope(page: AppTest) -> dict[str, Any]:
    """Return the data of the attention component."""
    (shown,) = (part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_explore")
    return dict(json.loads(shown.json))


@pytest.mark.slow
def test_everywhere_a_row_is_the_token_that_its_step_writes(model: str) -> None:
    page = asked("translate", model=model, text=TEXT, target="the cat", show="heads", side="cross")
    data = microscope(page)
    trace = get_backend().trace(TraceRequest(model=model, text=TEXT, target="the cat"))
    assert trace.target is not None
    assert [cell["text"] for cell in data["queries"]] == [*trace.target.pieces[1:], "⟨end⟩"]
    says(page, f"Row “{trace.target.pieces[2]}”: the step after “{trace.target.pieces[1]}”")
    with TestClient(Starlette(routes=routes())) as client:
        file = client.get(f"{data['base']}/trace.safetensors?{data['view']}")
    assert parse(file.content).target == trace.target, "a file says what was read"


@pytest.mark.parametrize(("side", "many"), [("encoder", 0), ("decoder", 1)])
def test_the_other_sides_name_the_tokens_that_are_read(model: str, side: str, many: int) -> None:
    page = asked("translate", model=model, text=TEXT, target="the cat", show="heads", side=side)
    assert len([note for note in notes(page) if note.startswith("Row “")]) == many


@pytest.mark.parametrize(("text", "counts"), [(f"猫 {TEXT}", [["1"]]), (TEXT, [])])
def test_before_what_is_made_up_stands_that_the_text_cannot_be_read(
    model: str, text: str, counts: list[list[str]]
) -> None:
    told = [note for note in notes(asked("translate", model=model, text=text)) if "made up" in note]
    assert [re.findall(r"(\d+) of \d", note) for note in told] == counts


def test_what_is_read_byte_by_byte_is_not_read_either() -> None:
    row = TokenRow(("a", "猫 1/3", "猫 2/3"), (1, 2, 3), (0, 1, 1), (0,) * 3, (None,) * 3, ("", "<0xE7>", "<0x8C>"))
    assert {"1", "2", "M"} <= set(re.findall(r"\w+", describe_unread("M", row)))
    assert describe_unread("M", TokenRow(("a",), (1,), (0,), (0,), (None,))) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "warned"),
    [("Die Katze ist müde und schläft.", True), ("Кошка спит на диване.", True), (TEXT, False)],
    ids=["German", "Russian", "English"],
)
def test_a_text_that_is_not_english_is_warned_of(text: str, warned: bool) -> None:
    page = asked("translate", text=text)
    stands(page)
    assert ("headlight-en-fr was made for English to French." in notes(page)) is warned
