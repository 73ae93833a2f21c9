"""Names of heads among the edits of a link, and the count of edits that the panel shows."""

from __future__ import annotations

import re

import pytest

from attention.edits import Ablate, MaskEdge, MaskKey, Uniform, ZeroValue, pack
from attention.view import View
from tests.support.traces import sentence_trace
from ui.ablation.edits import MOST_LISTED, MOST_NAMED, count_edits, edit_settings, edits_of


@pytest.mark.parametrize("typed", ["a3-1", "3-1", "head 3-1", "L3H1"])
def test_a_head_is_read_in_every_notation(typed: str) -> None:
    assert edits_of(typed, None) == ((Ablate(3, 1),), [])


def test_a_head_without_a_code_belongs_to_the_stack_of_the_page() -> None:
    assert pack(edits_of("2-1, ae0-2", None, "cross")[0]) == "ax2-1,ae0-2"
    assert pack(edits_of("", (2, 1), "cross")[0]) == "ax2-1"


def test_heads_are_counted_and_named_by_kind() -> None:
    edits = (Ablate(5, 11), Ablate(3, 1), Uniform(0, 2), MaskEdge(0, 1, 2, 3), MaskKey(1, 2))
    removed, even, others = count_edits(edits).split("; ")
    assert re.findall(r"\d+(?:-\d+)?", removed) == ["2", "3-1", "5-11"]
    assert re.findall(r"\d+(?:-\d+)?", even) == ["1", "0-2"]
    assert re.findall(r"\d+", others) == ["2"]
    assert not re.findall(r"\d", count_edits(()))


def test_a_long_list_is_cut_but_counted() -> None:
    many = tuple(Ablate(0, head) for head in range(MOST_LISTED + 3))
    said = count_edits(many)
    assert f"({len(many)})" in said
    assert len(re.findall(r"0-\d+", said)) == MOST_LISTED


def test_settings_name_every_edit_with_its_tokens() -> None:
    view = View(sentence_trace(), words=True)
    words = {token: cell.text for cell in view.keys for token in range(*cell.pieces)}
    many = tuple(Ablate(0, head) for head in range(MOST_NAMED + 2))
    found = edit_settings((*many, MaskEdge(1, 0, 3, 2), MaskKey(0, 2), MaskKey(1, 2), ZeroValue(1, 3)), view)
    assert found["ablated_heads"].split(", ") == [f"0-{head}" for head in range(len(many))]
    assert found["masked_edges"] == f"1-0: 3 “{words[3]}” → 2 “{words[2]}”"
    assert found["masked_tokens"] == f"2 “{words[2]}” in layers 0 1"
    assert found["zeroed_values"] == f"3 “{words[3]}” in layers 1"
