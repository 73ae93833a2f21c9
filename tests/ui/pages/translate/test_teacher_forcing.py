"""Notes on a translation: teacher forcing of the reader's translation, and reference translations."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from i18n import gettext_lazy
from inference.catalogue.listing import ModelCard
from inference.files.embedded import TRANSLATOR
from inference.tasks.decoding import NextTarget
from tests.support.asking import asked, notes, stands
from ui.pages.translate import translation
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.translation import beam_tokens, greedy_tokens, reference, trace_of
from ui.run.services import get_backend
from ui.state.view_state import EXAMPLES

TIRED = EXAMPLES[0]
TRANSLATED = [example for example in EXAMPLES if "encoder-decoder" in example.get("kinds", ())]
CAT = "The black cat sleeps under the table."


def told(**query: str) -> list[tuple[int, int]]:
    """Return (tokens ranked first, all tokens) for each note about teacher forcing."""
    page = asked("translate", model="headlight-en-fr", text=CAT, **query)
    stands(page)
    said = re.findall(r"Teacher forcing:.*?(\d+) of (\d+) ", " ".join(notes(page)))
    return [(int(first), int(of)) for first, of in said]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "wrong"),
    [("Le chat noir dort sous la table.", 0), ("Le chien noir dort sous la table.", 1)],
)
def test_what_the_model_writes_itself_is_all_put_first(target: str, wrong: int) -> None:
    ((first, of),) = told(target=target)
    assert of == 8
    assert of - first >= wrong
    assert (first == of) is (wrong == 0)


@pytest.mark.slow
def test_what_it_wrote_is_not_forced() -> None:
    assert told() == []


def test_a_right_translation_needs_no_note() -> None:
    assert reference(TIRED["text"], TIRED["french"].upper()) == ""
    assert reference("Something else.", "Autre chose.") == ""
    assert TIRED["french"] in reference(TIRED["text"], "L'animal n'a pas traversé la rue.")


@pytest.mark.parametrize("way", ["greedy", "beam"])
@pytest.mark.parametrize("example", TRANSLATED, ids=[example["text"] for example in TRANSLATED])
@pytest.mark.slow
def test_an_example_is_translated_correctly(example: dict[str, Any], way: str) -> None:
    """Greedy and beam search give the references of the examples, except for the agreement error in TIRED."""
    asked = NextTarget(model=TRANSLATOR, text=example["text"])
    tokens = greedy_tokens(asked) if way == "greedy" else beam_tokens(asked, TranslateOptions().width).best.tokens
    written = get_backend().trace(trace_of(asked, tokens)).target_text
    assert (reference(example["text"], written or "") == "") is (example is not TIRED)


def test_an_example_of_another_page_has_its_correct_french() -> None:
    for example in EXAMPLES:
        assert ("french" in example) is ("model" not in example)


@pytest.mark.parametrize(("language", "shown"), [("English to French", True), ("English to German", False)])
def test_french_is_compared_with_french_alone(monkeypatch: pytest.MonkeyPatch, language: str, shown: bool) -> None:
    card = ModelCard("m", "M", "encoder-decoder", gettext_lazy(language), "", None, "")
    monkeypatch.setattr(translation, "get_backend", lambda: SimpleNamespace(models=lambda: (card,)))
    assert translation.writes_french("m") is shown
    assert not translation.writes_french("a folder")


@pytest.mark.slow
def test_the_first_translation_comes_with_a_correct_translation() -> None:
    """The embedded translator writes "elle … fatigué", in which the adjective does not agree."""
    page = asked("translate", model="headlight-en-fr", text=TIRED["text"])
    assert not page.exception
    assert [note for note in notes(page) if "parce qu'il était trop fatigué" in note] != []
