"""Sentences about an explained label, from numbers that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attention.tokens import TokenRow
from inference import TraceRequest
from inference.tasks.labels import CHOICE, EACH, NUMBER, LabelAnswer, LabelPlace
from ui.attribution.views import ExplainedLabel, describe_prediction, surest_label

TEXT = TraceRequest(text="Ann plays")
ROW = TokenRow(
    ("[CLS]", "ann", "play", "s"), (9, 1, 2, 3), (None, 0, 1, 1), (0,) * 4, (None, (0, 3), (4, 8), (8, 9))
)  # fmt: skip
LOGITS = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.15, 0.75]], np.float32))
WORDS = LabelAnswer(
    ROW, ("B-PER", "<b>", "O"), CHOICE, (LabelPlace((1, 2), (1, 2)), LabelPlace((2, 4), (2, 3))), LOGITS
)
WHOLE = replace(WORDS, places=(LabelPlace((0, 4), (0, 1)),), logits=LOGITS[:1])


@pytest.mark.parametrize(("wanted", "label"), [(None, 0), (2, 2), (3, 0)])
def test_a_label_that_is_not_there_is_the_likeliest(wanted: int | None, label: int) -> None:
    asked = ExplainedLabel(TEXT, WHOLE, 0, False, wanted)
    assert asked.label == label
    assert asked.what == f"the logit of “{WHOLE.names[label]}”"
    assert asked.at is None


def test_what_is_said_of_a_text() -> None:
    asked = ExplainedLabel(TEXT, WHOLE, 0, False, None)
    assert describe_prediction(asked) == "Prediction: “B-PER” (0.70), “<b>” (0.20)."
    alone = replace(WHOLE, names=("yes",), sort=EACH, logits=np.zeros((1, 1), np.float32))
    assert describe_prediction(ExplainedLabel(TEXT, alone, 0, False, None)) == "Prediction: “yes” (0.50)."
    number = replace(WHOLE, names=("grade",), sort=NUMBER, logits=np.full((1, 1), 3.25, np.float32))
    assert describe_prediction(ExplainedLabel(TEXT, number, 0, False, None)).endswith("grade 3.25.")


def test_what_is_said_of_a_word() -> None:
    asked = ExplainedLabel(TEXT, WORDS, 1, True, None)
    assert (asked.word, asked.at) == ("plays", 2)
    assert describe_prediction(asked).startswith("Prediction for “plays”: “O” (0.75)")


def test_the_surest_word_that_has_a_tag() -> None:
    assert surest_label(WORDS, "O") == 0, "the other one is surer, and outside"
    assert surest_label(WORDS, "B-PER") == 1
    assert surest_label(replace(WORDS, names=("x", "y", "O"), logits=LOGITS[::-1]), "O") == 1
    assert surest_label(replace(WORDS, logits=LOGITS[[1, 1]]), "O") == 0, "none has a tag"
