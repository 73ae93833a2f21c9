"""Tests of the tree's payload; tree_picture.test.mjs and tests/browser/test_tree.py test the drawing."""

from typing import cast

import pytest
import streamlit as st

from tests.support.cases import loop_over
from viz.components.tree import tree
from viz.components.tree.tree import NAMES, Kind, TreeNode, payload

NODES = [
    TreeNode("start", None, "<s>", kind="kept"),
    TreeNode("a", "start", "<b>", -0.5, "kept", "step 1"),
    TreeNode("b", "start", "‮", float("-inf"), "dropped"),
    TreeNode("c", "a", "", 2, "ended"),
]


def test_a_node_names_its_parent_by_its_place_and_nothing_that_is_as_usual() -> None:
    told = payload(NODES, "Beams", "c", True, "bits", {"kept": "goes on"})
    assert told["nodes"] == [
        {"id": "start", "parent": -1, "text": "<s>", "kind": "kept"},
        {"id": "a", "parent": 0, "text": "<b>", "kind": "kept", "value": -0.5, "note": "step 1"},
        {"id": "b", "parent": 0, "text": "‮", "kind": "dropped"},
        {"id": "c", "parent": 1, "text": "", "kind": "ended", "value": 2.0},
    ]
    assert told["names"] == {**NAMES, "kept": "goes on"}
    assert (told["title"], told["current"], told["picks"], told["unit"]) == ("Beams", "c", True, "bits")


@loop_over(
    ("nodes", "said"),
    [
        ([], "at least its root"),
        ([TreeNode("a", "b", "x")], "the first node is the root"),
        ([TreeNode("a", None, "x"), TreeNode("b", None, "y")], "the only one"),
        ([TreeNode("a", None, "x"), TreeNode("b", "c", "y"), TreeNode("c", "a", "z")], "parents come first"),
        ([TreeNode("a", None, "x"), TreeNode("b", "b", "y")], "parents come first"),
        ([TreeNode("a", None, "x"), TreeNode("a", "a", "y")], "an id of its own"),
        ([TreeNode("a", None, "x", kind=cast("Kind", "best"))], "kept, ended, dropped, other"),
    ],
)
def test_what_is_no_tree_is_refused(nodes: list[TreeNode], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        payload(nodes, "", None, False, "", NAMES)


@pytest.mark.parametrize(
    ("state", "node"), [({"picked": "a"}, "a"), ({"picked": None}, None), ({}, None), ({"picked": 3}, None)]
)
def test_which_node_was_picked(monkeypatch: pytest.MonkeyPatch, state: dict[str, object], node: str | None) -> None:
    monkeypatch.setattr(st, "session_state", {"beams": state})
    assert tree.picked_node("beams") == node
