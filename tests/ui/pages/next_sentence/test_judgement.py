"""Notes of the "Next sentence" page if both orders of a pair have the same verdict."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from attention.tokens import TokenRow
from inference.files.embedded import BERT
from inference.tasks.predictions import NEXT, ORDER, NextSentenceAnswer
from tests.support.asking import asked, says
from tests.support.savedfiles import SavedBytes, parts
from ui.pages.next_sentence.page import EXAMPLE, describe_equal_verdicts


@pytest.mark.parametrize(
    ("chances", "judges", "said"),
    [
        ((0.999, 0.999), NEXT, "at least 0.5"),
        ((0.2, 0.01), NEXT, "less than 0.5"),
        ((0.7, 0.6), ORDER, "at least 0.5"),
        ((0.9, 0.1), NEXT, ""),
        ((0.1, 0.9), ORDER, ""),
    ],
)
def test_verdicts_that_agree_are_told(chances: tuple[float, float], judges: str, said: str) -> None:
    row = TokenRow((), (), (), (), ())
    one, other = (NextSentenceAnswer(chance, (0.0, 0.0), judges, row) for chance in chances)
    assert said in describe_equal_verdicts((one, other))
    assert bool(describe_equal_verdicts((one, other))) is bool(said)


@pytest.mark.slow
def test_the_embedded_model_judges_what_goes_together() -> None:
    page = asked("next_sentence", model=BERT, text="The cat sat on the mat.", pair="It was asleep within a minute.")
    says(page, "at least 0.5")


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["", "It was asleep within a minute."])
def test_the_file_names_the_pair_that_was_scored(pair: str, saved_bytes: SavedBytes) -> None:
    text = "The cat sat on the mat."
    page = asked("next_sentence", model=BERT, text=text, pair=pair)
    table, about = parts(saved_bytes(page, "Save as CSV"))
    scored = (text, pair) if pair else (EXAMPLE["text"], EXAMPLE["pair"])
    assert (about["text"], about["pair"]) == scored
    rows = pd.read_csv(io.BytesIO(table))
    assert (rows["first"][0], rows["second"][0]) == scored
    assert (rows["first"][1], rows["second"][1]) == scored[::-1]
