"""Formatted numbers, and names of the parts of a forward pass."""

from __future__ import annotations

from dataclasses import replace

from i18n import use_language
from inference.tasks import anatomy, whole_pass
from inference.tasks.whole_pass import Opened, Origin, Stage, Term
from ui.pages.whole_pass.names import INSIDE, WORDS, describe_origin, format_terms, in_stack
from ui.pages.whole_pass.page import up_to
from ui.pages.whole_pass.picture import parts_of, stages_of_layer


def stage(number: int, part: str, layer: int | None, formula: str = "add") -> Stage:
    return Stage(number, formula, "encoder", layer, part, "", "", (), (), (1, 3, 4), (), 0, 1)


STAGES = [
    stage(0, "embeddings", None, "embedding"), stage(1, "embeddings", None), stage(4, "attention", 0, "linear"),
    stage(5, "residual", 0), stage(9, "feed-forward", 0), stage(11, "head", None), stage(12, "probabilities", None),
]  # fmt: skip


def test_parts_and_layers() -> None:
    assert [one.number for one in parts_of(STAGES)] == [0, 1, 4, 5, 9, 11, 12], "all that is added up before the layers"
    assert [one.number for one in stages_of_layer(STAGES, STAGES[3])] == [4, 5, 9]
    assert [one.number for one in stages_of_layer(STAGES, STAGES[0])] == [0, 1]
    assert [one.number for one in stages_of_layer(STAGES, STAGES[-1])] == [11, 12]


def test_what_a_feed_forward_part_holds_inside_is_a_part_of_the_picture() -> None:
    inside = [
        replace(stage(at, "feed-forward", 0), role=role) for at, role in ((2, "hidden"), (3, INSIDE[-1]), (4, ""))
    ]
    assert [one.number for one in parts_of(inside)] == [3, 4]
    assert [in_stack(one) for one in parts_of(inside)] == ["feed-forward, hidden", "feed-forward"]


def test_the_lines_up_to_a_stage_end_with_its_numbers() -> None:
    program = "import torch\nv4 = p(1)\nv41 = v4\nv5 = v41\nprint(v5)\n"
    assert up_to(program, stage(4, "attention", 0)) == "import torch\nv4 = p(1)\nprint(v4)\n"


def test_a_number_is_written_as_what_it_is() -> None:
    one, two = Origin(-1.5), Origin(2.0)
    assert format_terms(Opened(-3, "products", "linear", (Term(-3, (one, two)),), 0, 0, -3)) == "−3 = (−1.5) · 2"
    assert format_terms(Opened(0.1, "function", "gelu", (Term(0.1, (one,)),), 0, 0, 0.1)) == "0.1 = GELU(−1.5)"
    three = Term(0.5, (Origin(0.5, name="weight of key 2"), two))
    assert format_terms(Opened(1, "products", "x", (three,), 3, 0.0, 1)) == "1 = 0.5 [weight of key 2] · 2 + 0 (3 more)"
    share = Term(0.25, (Origin(1.0), Origin(2.0), Origin(1.5)))
    assert format_terms(Opened(0.25, "function", "softmax", (share,), 0, 0, 0.25)) == "0.25 = e^(1 − 2) / 1.5"


def test_where_a_number_stands() -> None:
    by_number = {one.number: one for one in STAGES}
    tokens = ("[CLS]", "<b>", "sat")
    assert (
        describe_origin(Origin(1, weight="w.bias", place=(2, 3)), by_number, False, tokens)
        == "w.bias[2, 3] of the file"
    )
    told = describe_origin(Origin(1, stage=4, place=(0, 1, 2)), by_number, False, tokens)
    assert told == "layer 0, attention: x · Wᵀ + b, token 1 “<b>”, number 2"
    assert describe_origin(Origin(1), by_number, False, tokens) == "a constant"


def test_a_number_is_written_in_chinese() -> None:
    three = Term(0.5, (Origin(0.5), Origin(2.0)))
    stage = Stage(4, "linear", "decoder", 0, "cross-attention", "queries, keys", "", (), (), (1, 3, 4), (), 0, 1)
    with use_language("zh"):
        assert format_terms(Opened(1, "products", "x", (three,), 3, 0.0, 1)) == "1 = 0.5 · 2 + 0（其余 3 项）"
        origin = Origin(1, stage=4, place=(0, 1, 2))
        told = describe_origin(origin, {4: stage}, True, ("[CLS]", "<b>", "sat"))
    assert told == "解码器，第 0 层，交叉注意力，查询、键：x · Wᵀ + b，词元 1“<b>”，第 2 个数"


def test_every_part_and_role_of_a_pass_has_a_word() -> None:
    parts = [value for name, value in vars(whole_pass).items() if name.isupper() and isinstance(value, str) and value]
    tables = [anatomy.TOKENS, anatomy.POSITIONS, anatomy.SEGMENTS, anatomy.RELATIVE, anatomy.OTHER]
    assert [word for word in (*parts, *tables) if word not in WORDS] == []
