"""Hidden words of a text, as encoded in a link."""

from __future__ import annotations

import pytest

from attention.tokens import TokenRow
from tests.support.cases import loop_over
from ui.input.controls import NOTHING, first_place, parse, toggle_hidden, write

# The row is [CLS] play ##ing [MASK] | it [SEP]; its last word is in a second text.
ROW = TokenRow(
    ("[CLS]", "play", "ing", "[MASK]", "it", "[SEP]"),
    (1, 5, 6, 4, 7, 2),
    (None, 0, 0, 1, 2, None),
    (0, 0, 0, 0, 1, 1),
    (None, (0, 4), (4, 7), (8, 14), (0, 2), None),
)


@pytest.mark.parametrize("places", [((0, 4, 10),), ((0, 0, 3), (1, 5, 900)), ()])
def test_a_link_and_back(places: tuple[tuple[int, int, int], ...]) -> None:
    assert parse(write(places)) == places


@loop_over("raw", ["", NOTHING, "0:4", "2:1-2", "0:1-2;", "0:-1-2", "0:1-99999999", "<script>", "0:1-2," * 300])
def test_what_is_no_list_of_places_hides_nothing(raw: str) -> None:
    assert parse(raw) == ()


def test_a_click_hides_a_whole_word_and_a_second_one_uncovers_it() -> None:
    once = toggle_hidden(ROW, (), [1, 2])
    assert once == ((0, 0, 7),)
    assert toggle_hidden(ROW, once, [1, 2]) == ()
    assert toggle_hidden(ROW, once, [4]) == ((0, 0, 7), (1, 0, 2))


def test_half_a_word_is_completed_first() -> None:
    assert toggle_hidden(ROW, ((0, 0, 4),), [1, 2]) == ((0, 0, 7),)


def test_special_tokens_have_no_place() -> None:
    assert toggle_hidden(ROW, (), [0, 5]) == ()


def test_what_is_hidden_before_the_first_click() -> None:
    example = {"focus": "it"}
    assert first_place("Because it is.", "", example) == ((0, 8, 10),)
    assert first_place("Because it is.", "", None) == ((0, 11, 13),)
    assert first_place("Ein Bär schläft.", "", None) == ((0, 8, 15),)
    assert first_place("我喜欢看书。", "", None) == ((0, 4, 5),), "one character, not the clause"
    assert first_place("…!", "", None) == ()
    assert first_place("A cat.", "It [MASK].", None) == ()


def test_a_typed_mask_token_of_the_model_is_a_blank_already() -> None:
    assert first_place("A <mask> sat on it.", "", None, "<mask>") == ()
    assert first_place("A cat.", "It <mask>.", None, "<mask>") == ()
    assert first_place("A [MASK] sat on it.", "", None, "<mask>") == (), "everybody's way to type one"
    assert first_place("A <mask> sat on it.", "", None, "[MASK]") == ((0, 16, 18),), "another model's is a word"
