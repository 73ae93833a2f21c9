"""Words of a Chinese text on a page: tokens of the model, or words of a dictionary."""

from __future__ import annotations

import json

import pytest

from tests.support.asking import asked

TEXT = "北京大学，日本人民。"  # The vocabulary of the embedded model contains these characters.


def labels(**query: object) -> list[str]:
    """Return the labels of the check boxes of the view options."""
    return [box.label for box in asked("explore", text=TEXT, **query).checkbox]


@pytest.mark.slow
def test_the_switch_is_there_where_it_does_something() -> None:
    assert "Chinese words" in labels(words=1)
    assert "Chinese words" not in labels(words=0)
    assert "Chinese words" not in [box.label for box in asked("explore", words=1).checkbox]


@pytest.mark.slow
def test_it_groups_the_pieces_and_stays_in_the_link() -> None:
    page = asked("explore", text=TEXT, words=1)
    (box,) = (box for box in page.checkbox if box.label == "Chinese words")
    box.check().run()
    assert page.query_params["jieba"] == "1"
    parts = (part.proto for part in page.get("bidi_component"))
    drawn = next(json.loads(part.json) for part in parts if "explore" in part.component_name)
    assert {"北京大学", "日本", "人民"} <= {cell["text"] for cell in drawn["queries"]}
    assert "chinese-" in drawn["base"]
    assert not page.exception


def test_a_link_to_one_of_the_fixed_examples_opens_it_in_chinese_words() -> None:
    page = asked("explore", text=TEXT, words=1, jieba=1, focus=5)
    assert not page.exception
