"""The board of a class: whose cards are seen, who removes them, and nothing of a closed room remains."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.cards import LONGEST_CARD, LONGEST_TEXT, Card, read_card
from classroom.errors import NotInClass
from classroom.store import MOST_CARDS, Store

TEACHER, ANNA, BEN = "teacher's secret", "anna's secret", "ben's secret"
CARD = Card(
    "headlight-bert", 1, 3, "The “dog” chased <b>it</b>.", "it", "dog", "cat", 0.1, 0.4, 3, 5, "/?view=break_head"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "rooms.sqlite")


@pytest.fixture
def code(store: Store) -> str:
    """Return the code of a room with Anna and Ben."""
    code = store.open(TEACHER)
    store.join(code, ANNA, "Anna")
    store.join(code, BEN)
    return code


def test_a_card_survives_the_file() -> None:
    assert read_card(CARD.to_json()) == CARD


def test_a_student_sees_own_cards_until_the_board_is_shown(store: Store, code: str) -> None:
    store.post_card(code, ANNA, CARD)
    store.post_card(code, BEN, replace(CARD, head=4))
    store.post_card(code, TEACHER, replace(CARD, head=5))
    assert [one.card.head for one in store.cards(code, ANNA)] == [3]
    assert [(one.card.head, one.own) for one in store.cards(code, TEACHER)] == [(3, False), (4, False), (5, True)]
    before = store.version(code)
    store.show_board(code, TEACHER, True)
    assert store.version(code) > before, "students' pages follow"
    assert [one.card.head for one in store.cards(code, ANNA)] == [3, 4, 5]
    store.show_board(code, TEACHER, False)
    assert [one.card.head for one in store.cards(code, BEN)] == [4]


def test_only_the_teacher_shows_and_removes(store: Store, code: str) -> None:
    store.post_card(code, ANNA, CARD)
    (posted,) = store.cards(code, TEACHER)
    with pytest.raises(NotInClass):
        store.show_board(code, ANNA, True)
    with pytest.raises(NotInClass):
        store.remove_card(code, ANNA, posted.number)
    with pytest.raises(NotInClass):
        store.post_card(code, "a stranger", CARD)
    with pytest.raises(NotInClass):
        store.cards(code, "a stranger")
    store.remove_card(code, TEACHER, posted.number)
    assert store.cards(code, TEACHER) == ()


def test_a_card_is_posted_once_and_an_author_has_a_limit(store: Store, code: str) -> None:
    for _ in range(3):
        store.post_card(code, ANNA, CARD)
    assert len(store.cards(code, ANNA)) == 1
    for head in range(MOST_CARDS - 1):
        store.post_card(code, ANNA, replace(CARD, layer=5, head=head))
    with pytest.raises(NotInClass):
        store.post_card(code, ANNA, replace(CARD, layer=6))
    store.post_card(code, BEN, CARD)
    assert len(store.cards(code, ANNA)) == MOST_CARDS


def test_a_long_sentence_is_refused(store: Store, code: str) -> None:
    with pytest.raises(NotInClass, match=str(LONGEST_TEXT)):
        store.post_card(code, ANNA, replace(CARD, text="a" * (LONGEST_TEXT + 1)))
    with pytest.raises(NotInClass, match=f"{LONGEST_CARD:,}"):
        store.post_card(code, ANNA, replace(CARD, text="a", address="/" + "a" * LONGEST_CARD))


def test_deleted_names_take_their_cards_along(store: Store, code: str) -> None:
    store.post_card(code, ANNA, CARD)
    store.post_card(code, BEN, CARD)
    store.withdraw(code, ANNA)
    assert [one.student for one in store.cards(code, TEACHER)] == [2]
    store.erase(code, TEACHER)
    assert store.cards(code, TEACHER) == ()
    store.post_card(code, BEN, CARD)
    store.close(code, TEACHER)
    with pytest.raises(NotInClass):
        store.cards(code, TEACHER)


def test_a_file_of_an_earlier_version_gets_a_board(tmp_path: Path) -> None:
    file = tmp_path / "rooms.sqlite"
    code = Store(file).open(TEACHER)
    with sqlite3.connect(file) as base:
        base.executescript("DROP TABLE card; DROP TABLE board;")
    again = Store(file)
    again.post_card(code, TEACHER, CARD)
    assert not again.is_board_shown(code)
    assert len(again.cards(code, TEACHER)) == 1
