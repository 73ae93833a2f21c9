"""Trees of lessons' Markdown, and formulas in MathML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lessons.library import ORDER, come_along
from lessons.markup import formula, tree
from lessons.schema import LocalizedText
from tests.support.cases import loop_over

TAGS = {
    *("p", "ul", "ol", "li", "strong", "em", "code", "h4", "table", "thead", "tbody", "tr", "th", "td"),
    *("math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msqrt", "mfrac", "mspace"),
}


def nodes(tree: list[Any]) -> Iterator[Any]:
    for node in tree:
        yield node
        if not isinstance(node, str):
            yield from nodes(node[1:])


def texts_of(lesson: Any) -> Iterator[LocalizedText]:
    yield lesson.about
    for step in lesson.steps:
        yield step.text
        if step.question is not None:
            yield from (step.question.ask, step.question.reveal, *step.question.hints)


@loop_over("name", ORDER)
def test_every_mark_of_a_lesson_of_the_app_is_understood(name: str) -> None:
    for said in texts_of(come_along()[name]):
        for code, text in said.by:
            for node in nodes(tree(text)):
                left = [mark for mark in ("**", "$", "\\") if isinstance(node, str) and mark in node]
                assert left == [], (code, text)


@given(st.text(st.sampled_from("ab *$`\\|-#_^{}1.\n<>&"), max_size=60))
def test_any_text_gives_known_tags_and_keeps_its_letters(text: str) -> None:
    found = list(nodes(tree(text)))
    assert {node[0] for node in found if not isinstance(node, str)} <= TAGS
    kept = "".join(node for node in found if isinstance(node, str))
    assert [kept.count(letter) for letter in "a<"] == [text.count(letter) for letter in "a<"]


def test_a_table_has_a_head_and_rows() -> None:
    head, body = ["thead", ["tr", ["th"], ["th", "key"]]], ["tbody", ["tr", ["td", "the"], ["td", "1"]]]
    assert tree("| | key |\n|---|---|\n| the | 1 |") == [["table", head, body]]


def test_an_unknown_command_shows_the_formula_as_code() -> None:
    assert tree("$\\frac{1}{2}$") == [["p", ["math", ["mfrac", ["mn", "1"], ["mn", "2"]]]]]
    assert tree("$\\foo{1}$") == [["p", ["code", "\\foo{1}"]]]
    assert formula("\\text{a  cat}_i = \\mathrm{softmax} (x)") is not None
    assert formula("W_{\\text{up to}}") == [["msub", ["mi", "W"], ["mtext", "up to"]]]
    assert formula("\\}") is None
    assert formula("{" * 50 + "1" + "}" * 50) is None
    assert formula("^2") is None
    assert formula("x}") is None
