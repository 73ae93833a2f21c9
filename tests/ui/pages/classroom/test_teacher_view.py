"""The teacher's page of a class: the file of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from classroom.cards import Card
from classroom.store import Store
from ui.pages.classroom.teacher_view import card_rows

TEACHER, ANNA, BEN = "teacher's secret", "anna's secret", "ben's secret"
CARD = Card("headlight-bert", 1, 3, "The dog chased it.", "it", "dog", "cat", 0.1, 0.4, 3, 5, "/?view=break_head")


def test_the_file_of_answers_has_the_cards_on_the_board_with_their_authors(tmp_path: Path) -> None:
    store = Store(tmp_path / "rooms.sqlite")
    code = store.open(TEACHER)
    store.join(code, ANNA, "Anna")
    store.join(code, BEN)
    store.post_card(code, BEN, CARD)
    store.post_card(code, ANNA, replace(CARD, head=4))
    store.post_card(code, TEACHER, replace(CARD, head=5))
    rows = card_rows(store.cards(code, TEACHER), store.board(code, TEACHER))
    assert [row[2] for row in rows] == ["#2", "Anna", ""]
    assert [str(row[1]).rpartition(" ")[2] for row in rows] == ["1-3", "1-4", "1-5"]
    assert rows[0][3] == "The dog chased it. (it: cat 0.400, dog 0.100)"
