"""Agreement of attribution methods: the number of words is reported, and ties have no first word."""

from __future__ import annotations

import re

import numpy as np

from ui.attribution.methods import ATTENTION, EFFECT, GRADIENTS, Attribution, AttributionSet
from ui.attribution.views import describe_agreement


def ways(**rows: list[float]) -> AttributionSet:
    names = {"attention": ATTENTION, "gradients": GRADIENTS, "effect": EFFECT}
    return AttributionSet(tuple(Attribution(names[name], np.array(row, np.float32)) for name, row in rows.items()), ())


def test_the_number_of_words_and_of_ties_is_told() -> None:
    said = describe_agreement(ways(attention=[0.5, 0.5, 0.1], gradients=[0.3, 0.2, 0.1], effect=[0.9, 0.4, 0.1]))
    assert re.findall(r"\d+", said)[:3] == ["1", "2", "3"]
    assert "(n = 3)" in said
    assert "0 of 2 differ from 0" in said
    assert said.endswith(" 1.")


def test_methods_that_agree_beyond_chance_are_counted() -> None:
    words = np.random.default_rng(0).random(12).tolist()
    said = describe_agreement(ways(attention=words[::-1], gradients=[word**2 for word in words], effect=words))
    assert "1 of 2 differ from 0" in said


def test_an_effect_with_a_tie_has_no_first_word_to_agree_with() -> None:
    said = describe_agreement(ways(attention=[0.5, 0.4, 0.1], effect=[0.4, 0.4, 0.1]))
    assert re.findall(r"\d+", said)[:3] == ["0", "1", "3"]
