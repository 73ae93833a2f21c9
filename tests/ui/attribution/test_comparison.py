"""Agreement of attribution methods: the number of words is reported, and ties have no first word."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ui.attribution.methods import ATTENTION, EFFECT, GRADIENTS, Attribution, AttributionSet
from ui.attribution.views import describe_agreement
from ui.show.text import TOO_FEW


def ways(**rows: list[float]) -> AttributionSet:
    names = {"attention": ATTENTION, "gradients": GRADIENTS, "effect": EFFECT}
    return AttributionSet(tuple(Attribution(names[name], np.array(row, np.float32)) for name, row in rows.items()), ())


def test_the_number_of_words_and_of_ties_is_told() -> None:
    said = describe_agreement(ways(attention=[0.5, 0.5, 0.1], gradients=[0.3, 0.2, 0.1], effect=[0.9, 0.4, 0.1]))
    assert re.findall(r"\d+", said) == ["1", "2", "1"]
    assert said.endswith(TOO_FEW)


@pytest.mark.parametrize(("words", "tested"), [(3, False), (5, False), (6, True)])
def test_no_method_is_highest_if_no_correlation_can_be_tested(words: int, tested: bool) -> None:
    """The least two-sided p-value is 2 / n!: with Holm's correction for 4 methods 0.07 at 5 words, 0.01 at 6."""
    row = [float(word) for word in range(words)]
    rows = tuple(Attribution(name, np.array(row)) for name in (ATTENTION, GRADIENTS, "A", "B", EFFECT))
    said = describe_agreement(AttributionSet(rows, ()))
    assert ("4 of 4 differ from 0" in said) is ("highest" in said) is tested
    assert said.startswith("4 of 4 other methods rank the same word first")


def test_a_method_that_is_lowest_and_attention_is_listed_once() -> None:
    words = np.random.default_rng(0).random(12).tolist()
    said = describe_agreement(ways(attention=[1 - word for word in words], gradients=words, effect=words))
    assert "attention): gradient 1.00, attention −1.00; 2 of 2 differ from 0" in said


def test_methods_that_agree_beyond_chance_are_counted() -> None:
    words = np.random.default_rng(0).random(12).tolist()
    said = describe_agreement(ways(attention=words[::-1], gradients=[word**2 for word in words], effect=words))
    assert "1 of 2 differ from 0" in said


def test_an_effect_with_a_tie_has_no_first_word_to_agree_with() -> None:
    said = describe_agreement(ways(attention=[0.5, 0.4, 0.1], effect=[0.4, 0.4, 0.1]))
    assert re.findall(r"\d+", said) == ["0", "1", "1"]
