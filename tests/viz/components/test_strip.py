"""Tests of the token strip's payload.

The script token_strip.test.mjs and tests/browser/test_components.py test the drawing.
"""

import json
from typing import cast

import numpy as np
import pytest
import streamlit as st

from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import StripLine, StripLines, TokenChip, payload


def test_a_plain_chip_is_its_text_and_nothing_else() -> None:
    data = payload([TokenChip("it"), TokenChip("##s", glued=True, shade=0.25, mark="target")], "Words", True, False)
    assert data["chips"] == [{"text": "it"}, {"text": "##s", "shade": 0.25, "mark": "target", "glued": True}]
    assert data["title"] == "Words"


def test_lines_are_sent_with_their_description_only_if_there_are_any() -> None:
    chips = [TokenChip("it"), TokenChip("animal")]
    assert "lines" not in payload(chips, "Words", True, False)
    data = payload(chips, "Words", True, False, StripLines([StripLine(0, 1, 0.5, chosen=True)], "from it"))
    assert data["lines"] == [{"query": 0, "key": 1, "weight": 0.5, "chosen": True}]
    assert data["caption"] == "from it"


def test_the_payload_is_json_whatever_the_page_computed_with() -> None:
    data = payload(
        [TokenChip("it", shade=cast("float", np.float32(0.1))), TokenChip("a", shade=float("nan"))],
        "Words",
        False,
        True,
    )
    assert json.loads(json.dumps(data, allow_nan=False))["chips"][0]["shade"] == pytest.approx(0.1)
    assert "shade" not in data["chips"][1], "no number has no shade"


@pytest.mark.parametrize(
    ("state", "index"), [({"picked": 3}, 3), ({"picked": 0}, 0), ({"picked": None}, None), ({}, None)]
)
def test_which_chip_was_picked(monkeypatch: pytest.MonkeyPatch, state: dict[str, object], index: int | None) -> None:
    monkeypatch.setattr(st, "session_state", {"words": state})
    assert token_strip.picked_chip("words") == index


def test_nothing_is_picked_before_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    assert token_strip.picked_chip("words") is None


@pytest.mark.parametrize("sent", ["3", True, -1, [2], {"a": 1}])
def test_what_is_no_place_is_not_picked(monkeypatch: pytest.MonkeyPatch, sent: object) -> None:
    monkeypatch.setattr(st, "session_state", {"words": {"picked": sent}})
    assert token_strip.picked_chip("words") is None
