"""The chart of a class's answers."""

from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest
import streamlit as st

from classroom.question import Question
from ui import class_reply

HEAD = Question("head", "Which head?", truth="3.7")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[go.Figure]:
    """Return the list to which each drawn chart is added."""
    figures: list[go.Figure] = []
    monkeypatch.setattr(class_reply, "draw_chart", lambda figure, *_values, **_more: figures.append(figure))
    monkeypatch.setattr(class_reply, "show_notice", lambda *_values, **_more: None)
    return figures


def rows(figure: go.Figure) -> list[tuple[str, int]]:
    """Return the label and the count of each bar."""
    return list(zip(figure.data[0].customdata, figure.data[0].x, strict=True))


def test_an_impossible_head_is_one_bar(drawn: list[go.Figure]) -> None:
    for impossible in ("99.1", "2.300", "5.11"):
        class_reply.draw_answers(HEAD, ["3.7", "3.7", impossible], "key")
    assert rows(drawn[0]) == [("✓ 3-7", 2), ("99-1", 1)]
    assert rows(drawn[1])[1] == ("2-300", 1)
    assert len({figure.layout.height for figure in drawn}) == 1


def test_many_answers_are_the_most_frequent_and_all_others(
    drawn: list[go.Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [f"{layer}.{head}" for layer in range(10) for head in range(10)]
    class_reply.draw_answers(replace(HEAD, prompt="Which **head**\n" + "x" * 99), [*said, "3.7"], "key")
    (figure,) = drawn
    assert figure.layout.title.text == f"Which head {'x' * (class_reply.LONGEST_TITLE - 12)}…"
    assert len(rows(figure)) == class_reply.MOST_HEADS + 1
    assert rows(figure)[0] == ("✓ 3-7", 2)
    assert rows(figure)[-1] == ("all others", 88)
    listed: list[str] = []
    monkeypatch.setattr(st, "markdown", listed.append)
    class_reply.draw_answers(Question("text", "Why?"), ["No.", *(f"Yes {at}" for at in range(40)), "no."], "key")
    lines = listed[0].split("\n")
    assert (lines[0], len(lines), lines[-1]) == (r"- No\. × 2", class_reply.MOST + 1, "- … (+ 11)")
