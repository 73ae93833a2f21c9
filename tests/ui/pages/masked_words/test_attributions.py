"""The sentences on a prediction's most important words."""

from __future__ import annotations

import numpy as np
import pytest

from attention.tokens import TokenRow
from inference.tasks.predictions import Guess
from ui.pages.masked_words.explanations import ImportanceScores, describe_attributions

WORDS = ["put", "in", "baked"]


def scores(left_out: list[float], integrated: list[float]) -> ImportanceScores:
    """Return scores of WORDS for the prediction “food”."""
    return ImportanceScores(
        row=TokenRow(tuple(WORDS), (0, 1, 2), (0, 1, 2), (0, 0, 0), (None,) * 3),
        runs=((0, 1), (1, 2), (2, 3)),
        explained=Guess(0, "food", 0.5, 1),
        left_out=np.array(left_out, np.float32),
        integrated=np.array(integrated, np.float32),
        delta=0.0,
        path=0.0,
        requests=([], []),
    )


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [
        ([0.908, -0.915, 0.1], "Masking “in” raises the log-probability of “food” most: by 0.92."),
        ([0.916, -0.915, 0.1], "Masking “put” lowers the log-probability of “food” most: by 0.92."),
    ],
)
def test_the_largest_absolute_occlusion_is_named(left_out: list[float], sentence: str) -> None:
    assert describe_attributions(scores(left_out, [0.0, 0.0, 1.0]), WORDS).startswith(sentence)


@pytest.mark.parametrize(("value", "shown"), [(-1.2, "1.20"), (1.2, "+1.20")])
def test_the_largest_integrated_gradient_has_its_direction(value: float, shown: str) -> None:
    found = describe_attributions(scores([0.5, 0.1, 0.2], [1.1, 0.3, value]), WORDS)
    assert found.endswith(f"{shown}.")
    assert "“baked”" in found
    assert ("+" in found) == (value > 0)
