"""Notes on a translation: how the reader's own is read, and a correct translation of an example."""

from __future__ import annotations

import re

import pytest

from tests.support.asking import asked, notes, stands
from ui.pages.translate.forcing import reference
from ui.state.examples import EXAMPLES

TIRED = EXAMPLES[0]
CAT = "The black cat sleeps under the table."


def told(**query: str) -> list[tuple[int, int]]:
    """Which tokens are put first, and of how many, wherever the page says so."""
    page = asked("translate", model="headlight-en-fr", text=CAT, **query)
    stands(page)
    said = re.findall(r"teacher forcing.*It puts (\d+) of your (\d+) first", " ".join(notes(page)))
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


@pytest.mark.slow
def test_the_first_translation_comes_with_a_correct_translation() -> None:
    """The embedded translator writes "elle … fatigué", which agrees with nothing."""
    page = asked("translate", model="headlight-en-fr", text=TIRED["text"])
    assert not page.exception
    assert [note for note in notes(page) if "parce qu'il était trop fatigué" in note] != []
