"""A number as it is written, and what is told apart in a pass."""

from __future__ import annotations

from inference.questions.whole_pass import Opened, Origin, Stage, Term
from ui.pages.whole_pass.names import stands, written
from ui.pages.whole_pass.picture import around, parts_of


def stage(number: int, part: str, layer: int | None, formula: str = "add") -> Stage:
    return Stage(number, formula, "encoder", layer, part, "", "", (), (), (1, 3, 4), (), 0, 1)


STAGES = [
    stage(0, "embeddings", None, "embedding"), stage(1, "embeddings", None), stage(4, "attention", 0, "linear"),
    stage(5, "residual", 0), stage(9, "feed-forward", 0), stage(11, "head", None), stage(12, "probabilities", None),
]  # fmt: skip


def test_parts_and_layers() -> None:
    assert [one.number for one in parts_of(STAGES)] == [1, 4, 5, 9, 11, 12]
    assert [one.number for one in around(STAGES, STAGES[3])] == [4, 5, 9]
    assert [one.number for one in around(STAGES, STAGES[0])] == [0, 1]
    assert [one.number for one in around(STAGES, STAGES[-1])] == [11, 12]


def test_a_number_is_written_as_what_it_is() -> None:
    one, two = Origin(-1.5), Origin(2.0)
    assert written(Opened(-3, "products", "linear", (Term(-3, (one, two)),), 0, 0, -3)) == "-3 = (-1.5) · 2"
    assert written(Opened(0.1, "function", "gelu", (Term(0.1, (one,)),), 0, 0, 0.1)) == "0.1 = GELU(-1.5)"
    three = Term(0.5, (Origin(0.5, name="weight of key 2"), two))
    assert written(Opened(1, "products", "x", (three,), 3, 0.0, 1)) == "1 = 0.5 [weight of key 2] · 2 + 0 (3 more)"
    share = Term(0.25, (Origin(1.0), Origin(2.0), Origin(1.5)))
    assert written(Opened(0.25, "function", "softmax", (share,), 0, 0, 0.25)) == "0.25 = e^(1 - 2) / 1.5"


def test_where_a_number_stands() -> None:
    by_number = {one.number: one for one in STAGES}
    tokens = ("[CLS]", "<b>", "sat")
    assert stands(Origin(1, weight="w.bias", place=(2, 3)), by_number, 0, False, tokens) == "w.bias[2, 3] of the file"
    told = stands(Origin(1, stage=4, place=(0, 1, 2)), by_number, 1, False, tokens)
    assert told == "layer 1, attention: x · Wᵀ + b, token 1 “<b>”, number 2"
    assert stands(Origin(1), by_number, 0, False, tokens) == "a constant"
