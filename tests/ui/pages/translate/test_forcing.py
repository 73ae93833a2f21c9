"""How a translation of the reader's own is read, said with what the model puts first."""

from __future__ import annotations

import re

import pytest

from tests.support.asking import asked, notes, stands

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
