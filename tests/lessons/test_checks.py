"""Results of lesson checks on small maps by hand; other tests use real models and the bundled lessons."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest

from attention.record import MapRecord
from attention.tokens import TokenRow
from lessons.answer_key import CheckContext, CheckedAnswer, CheckInput, Unanswerable
from lessons.checks import truth
from lessons.schema import Answer, CheckCall
from tests.support.cases import loop_over
from tests.support.traces import sentence_trace

# The text "a b c" after a special token, in two layers of a single head.
ROW = TokenRow(("[CLS]", "a", "b", "c"), (1, 5, 6, 7), (None, 0, 1, 2), (0,) * 4, (None, (0, 1), (2, 3), (4, 5)))
FIRST = [[1, 0, 0, 0], [0.1, 0.3, 0.1, 0.5], [0.1, 0.3, 0.1, 0.5], [0, 0.2, 0.7, 0.1]]
SECOND = [[1, 0, 0, 0], [0.3, 0.1, 0.2, 0.4], [0.3, 0.5, 0.1, 0.1], [0.7, 0.1, 0.1, 0.1]]


class Fake:
    """A model with fixed attention maps."""

    def trace(self, _request: Any) -> Any:
        records = tuple(MapRecord(np.array([maps], np.float32)) for maps in (FIRST, SECOND))
        return sentence_trace(source=ROW, parts={"encoder": records})


def found(check: str, **given: Any) -> CheckedAnswer:
    return truth(CheckCall(check, tuple(given.items())), CheckContext(Fake(), CheckInput("tiny", "a b c")))  # type: ignore[arg-type]


@loop_over(
    ("check", "given", "answer"),
    [
        ("weight", {"layer": 1, "head": 0, "word": "A", "to": "c"}, 0.4),
        ("usual", {"layer": 0, "head": 0, "word": "a", "to": "c"}, 0.5),  # Only "b" counts, not "c" itself.
        ("head_giving_most", {"word": "a", "to": "c"}, (0, 0)),
        ("head_linking", {"word": "a", "to": "c"}, (1, 0)),  # 0.4 exceeds 0.1 here; in the other head 0.5 equals 0.5.
        ("head_at_offset", {"offset": -1}, (0, 0)),  # The pairs are b to a, and c to b.
        ("head_at_offset", {"offset": 1}, (0, 0)),
        ("most_looked_at", {"layer": 1, "head": 0, "word": "c"}, 0),
        ("most_looked_at", {"layer": 0, "head": 0, "word": "c", "special": False}, 2),
        ("preferred", {"layer": 0, "head": 0, "word": "b", "to": "a", "over": "c"}, "c"),
        ("heads_preferring", {"word": "b", "to": "a", "over": "c"}, 1),
        ("heads_turning", {"word": "b", "to": "a", "over": "c", "other": "another"}, 0),
        ("most_to_later", {}, 0.5),
        ("heads_turning", {"word": "b", "to": "a", "over": "c", "other": "another", "by": -1.0}, 2),
        ("weight_rank", {"layer": 1, "head": 0, "word": "a", "to": "b"}, 3),
        ("share_to_later", {}, 100 * (0 + 0.6 + 0.5 + 0 + 0 + 0.6 + 0.1 + 0) / 8),
        ("toy_weight", {"example": "lookup", "word": "one", "to": "two"}, exp(20 / 3**0.5) / (exp(20 / 3**0.5) + 2)),
        ("toy_word", {"example": "tutorial", "word": "french"}, "I"),
        ("toy_word", {"example": "tutorial", "word": "je", "layer": False}, "French"),
        ("tokens", {}, 4),
        ("pieces", {"word": "b"}, 1),
        ("dot", {"a": (1, 2), "b": (3, 4)}, 11),
        ("softmax", {"scores": (0, 0), "at": 1}, 0.5),
        ("mix", {"weights": (0.25, 0.75), "values": (4, 8)}, 7),
    ],
)
def test_by_hand(check: str, given: dict[str, Any], answer: Answer) -> None:
    right = found(check, **given)
    assert right.answer == pytest.approx(answer)
    assert right.accepts(answer)


def test_turning_heads_are_counted_without_a_margin_of_zero() -> None:
    said = found("heads_turning", word="b", to="a", over="c", other="another").said
    assert str(said) == "0 of 2 heads turn from “a” to “c”."


def test_heads_that_come_near_are_right_as_well() -> None:
    right = found("head_giving_most", word="a", to="c", within=0.15)
    assert right.accepts((0, 0))
    assert right.accepts((1, 0))
    assert not found("head_giving_most", word="a", to="c", within=0.05).accepts((1, 0))


@loop_over(
    ("check", "given", "said"),
    [
        ("weight", {"layer": 0, "head": 0, "word": "z", "to": "c"}, "no “z”"),
        ("weight", {"layer": 0, "head": 0, "word": "a#2", "to": "c"}, "no “a#2”"),
        ("weight", {"layer": 9, "head": 0, "word": "a", "to": "c"}, "There is no head 9"),
        ("head_at_offset", {"offset": 7}, "too short"),
        ("source_of", {"word": "a", "layer": 0}, "no"),
        ("softmax", {"scores": (1.0,), "at": 1}, "no score 1"),
        ("mean_entropy", {}, "maps only"),
        ("pronoun_hits", {"layer": 0, "head": 0}, "stored pronoun"),
        ("largest_source", {"layer": 9, "head": 0, "word": "a", "to": "b", "side": "key"}, "no head 9"),
        ("toy_weight", {"example": "none", "word": "a", "to": "b"}, "“none”"),
        ("toy_word", {"example": "tutorial", "word": "z"}, "no “z”"),
        ("commonest_label", {"data": "none"}, "“none”"),
        ("dot", {"a": (1.0,), "b": (1.0, 2.0)}, "1 and 2 numbers"),
    ],
)
def test_what_cannot_be_answered_is_said(check: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(Unanswerable, match=said):
        found(check, **given)


def test_a_tolerance_is_of_numbers() -> None:
    right = found("weight", layer=1, head=0, word="a", to="c")
    assert right.accepts(0.395)
    assert not right.accepts(0.38)
    assert not right.accepts("0.4")
