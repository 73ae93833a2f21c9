"""Sentences joined from words, with character offsets, in any script."""

from __future__ import annotations

import random

import pytest

from probing.labelled.labeled_texts import join_words, locate_words, make_place_pool, uses_spaces
from tests.support.cases import draw_seeds, loop_over

LETTERS = "ab1中文ไทかな안—😀'"


@draw_seeds(100)
@loop_over("spaces", [True, False])
def test_places_point_at_the_words_and_are_found_again(seed: int, spaces: bool) -> None:
    dice = random.Random(seed)
    words = ["".join(dice.choices(LETTERS, k=dice.randint(1, 4))) for _ in range(dice.randint(1, 8))]
    text, places = join_words(words, spaces)
    assert [text[start:end] for start, end in places] == words
    assert locate_words(words, text) == places
    assert "".join(words) == text.replace(" ", "")
    if spaces:
        assert text == " ".join(words)


@loop_over(
    ("words", "said"),
    [
        ("The cat", True),
        ("猫 坐 着", False),
        ("ねこ が すわる", False),
        ("แมว นั่ง", False),
        ("고양이 앉다", True),
        ("Кот сидит", True),
        ("北京 iPhone 发布 会", True),  # The script is Latin if more than half of the letters are Latin.
        ("北京 OK 发布 会", False),
        ("1 2 !", True),
        ("", True),
    ],
)
def test_the_script_says_whether_words_stand_apart(words: str, said: bool) -> None:
    assert uses_spaces(words.split()) is said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("用 Visual Studio 2019 写", "用Visual Studio 2019写"),
        ("第 3 天", "第3天"),
        ("J o 说", "Jo说"),  # Single Latin letters are joined.
        ("（ Young India ）", "（Young India）"),
        ("3.3 % 多", "3.3%多"),
    ],
)
def test_words_of_another_script_keep_their_space(words: str, said: str) -> None:
    assert join_words(words.split(), False)[0] == said


@pytest.mark.parametrize(
    ("words", "text"), [(["a", "c"], "a b c"), (["a"], "a b"), (["b"], "a b"), (["a", "b"], "b a"), (["ab"], "a b")]
)
def test_words_that_do_not_make_up_a_text_have_no_place_in_it(words: list[str], text: str) -> None:
    assert locate_words(words, text) is None


def test_equal_places_are_one_object() -> None:
    place = make_place_pool()
    one, other = (tuple(map(int, f"{start} 1000".split())) for start in (400, 400))
    assert one is not other
    assert place((one[0], one[1])) is place((other[0], other[1]))
