"""The bundled lessons: their claims about models hold, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from attention.toy_example import compute_example
from i18n import translate, use_language
from lessons.answer_key import CheckContext
from lessons.checks import CHECKS, truth
from lessons.library import CLAIMS, COURSE, ORDER, TOUR, come_along, tour
from lessons.schema import Lesson, LessonStep, LessonView, LocalizedText
from tests.support.asking import asked as open_page
from tests.support.cases import loop_over
from ui.pages.break_head.question import BreakHeadOptions
from ui.pages.by_hand.as_csv import unpack
from ui.pages.by_hand.example import ByHandOptions, rules_of
from ui.pages.compare.options import CompareOptions
from ui.pages.lessons.views import empty_view, own_fields
from ui.pages.masked_words.options import MaskedWordsOptions as MaskedWords
from ui.pages.positions.position_scheme import PositionsOptions as Positions
from ui.pages.step_by_step.weight import StepOptions
from ui.pages.teach.options import TeachOptions
from ui.pages.tokens.page import TokensOptions
from ui.pages.translate.options import TranslateOptions
from ui.pages.vectors.options import VectorsOptions
from ui.pages.whole_pass.inspector import WholePassOptions as WholePass
from ui.run.current_lesson import choice_of
from ui.state.navigation import PAGES, view_named
from ui.state.params import parse_params
from ui.state.view_state import DECLARED, parse
from viz.options import options_of

OPTIONS: dict[str, type[Any]] = {
    "break_head": BreakHeadOptions,
    "by_hand": ByHandOptions,
    "compare": CompareOptions,
    "masked_words": MaskedWords,
    "positions": Positions,
    "step_by_step": StepOptions,
    "teach": TeachOptions,
    "tokens": TokensOptions,
    "translate": TranslateOptions,
    "vectors": VectorsOptions,
    "whole_pass": WholePass,
}
STEPS = [(name, at) for name in ORDER for at in range(len(come_along()[name].steps))]
RECKONED = ("dot", "softmax", "mix")  # The reader computes with the numbers of these checks.
HEAD = re.compile(r"head (\d+)-(\d+)|头 (\d+)-(\d+)")
HAN = re.compile("[\u4e00-\u9fff]")


def step_of(name: str, at: int) -> LessonStep:
    return come_along()[name].steps[at]


def asked(step: LessonStep) -> CheckContext:
    return empty_view(step.view).asked


def texts(step: LessonStep) -> Iterator[LocalizedText]:
    """Yield all texts of a step."""
    yield from (step.title, step.text)
    if (question := step.question) is not None:
        yield from (question.ask, question.reveal, question.expected, *question.hints)
        yield from (said for _key, said in question.choices)


def teacher_s(lesson: Lesson) -> Iterator[LocalizedText]:
    yield from (lesson.title, lesson.audience, lesson.about)
    if lesson.teacher is not None:
        yield from (lesson.teacher.aims, lesson.teacher.mistakes, *(part.what for part in lesson.teacher.plan))


def both(said: LocalizedText) -> list[str]:
    return [text for _code, text in said.by]


def backed(step: LessonStep) -> set[float]:
    """Return the numbers that the checks compute or that the question gives."""
    found: set[float] = set()
    calls = [claim.call for claim in step.claims]
    if step.question is not None and step.question.check is not None:
        calls.append(step.question.check)
        right = truth(step.question.check, asked(step))
        values = [*right.said.values.values(), right.answer] if hasattr(right.said, "values") else [right.answer]
        found |= {float(value) for value in values if isinstance(value, int | float)}
    found |= {float(claim.value) for claim in step.claims if isinstance(claim.value, int | float)}
    for call in calls:
        given = [value for _name, value in call.given]
        lists = [one for value in given if isinstance(value, tuple) for one in value]
        found |= {float(value) for value in (*given, *lists) if isinstance(value, int | float)}
    return found


@pytest.mark.slow
def test_what_a_step_claims_is_so(subtests: pytest.Subtests) -> None:
    for name, at in STEPS:
        with subtests.test(name=name, at=at):
            step = step_of(name, at)
            for claim in step.claims:
                found = truth(claim.call, asked(step))
                holds = replace(found, tolerance=claim.tolerance).accepts(claim.value)
                assert holds, (claim.call, found.said)


@pytest.mark.slow
def test_no_number_of_a_model_is_said_that_is_not_computed(subtests: pytest.Subtests) -> None:
    for name, at in STEPS:
        with subtests.test(name=name, at=at):
            step = step_of(name, at)
            known = backed(step)
            question = step.question
            by_hand = question is not None and question.check is not None and question.check.check in RECKONED
            for said in texts(step):
                for text in both(said):
                    plain = re.sub(r"\$[^$]*\$", "", text)  # Formulas are computed in the step itself.
                    for number in re.findall(r"\d+\.\d+", plain):
                        digits = len(number.split(".")[1])
                        near = any(abs(float(number) - value) <= 0.5001 * 10**-digits for value in known)
                        tolerated = question is not None and float(number) == question.tolerance
                        assert near or tolerated or by_hand, (number, text)


@pytest.mark.slow
@loop_over("name", ORDER)
def test_every_head_that_is_named_is_computed_or_looked_at(name: str) -> None:
    lesson = come_along()[name]
    known: set[tuple[int, int]] = set()
    for step in lesson.steps:
        calls = [claim.call for claim in step.claims]
        if step.question is not None and step.question.check is not None:
            calls.append(step.question.check)
            right = truth(step.question.check, asked(step)).answer
            known |= {right} if isinstance(right, tuple) else set()
        for call in calls:
            given = dict(call.given)
            known |= {(given["layer"], given["head"])} if {"layer", "head"} <= given.keys() else set()
    every = [said for step in lesson.steps for said in texts(step)] + list(teacher_s(lesson))
    for said in every:
        for text in both(said):
            for one, two, three, four in HEAD.findall(text):
                assert (int(one or three), int(two or four)) in known, text


@loop_over(("name", "at"), STEPS)
def test_a_link_is_read_by_its_page_without_a_word(name: str, at: int) -> None:
    shown = step_of(name, at).view
    for view in () if shown is None else (shown, *shown.also):
        page = view_named(view.page)
        assert page is not None
        query = dict(view.query)
        assert parse(query)[1] == []
        own = set(query) - set(DECLARED)
        if own:
            options, problems = parse_params(OPTIONS[page], query)
            assert problems == []
            assert own <= {field.name for field in fields(options)}


def own_text_steps() -> Iterator[tuple[str, int, LessonView]]:
    """Yield the steps in which readers type their own text: lesson, step and view."""
    for name, at in STEPS:
        view = step_of(name, at).view
        if view is not None and view.yours:
            yield name, at, view


NEW = ("The dog chased a ball as it was fast.", "The child dropped the cup because it was tired.")


@loop_over("text", ["", *NEW])
def test_a_link_of_an_own_text_drops_what_the_page_drops(text: str) -> None:
    for name, _at, view in own_text_steps():
        query, page = dict(view.query), view_named(view.page)
        declared = options_of(OPTIONS[page]).values() if page in OPTIONS else ()
        of_text = {one.name for one in declared if one.of_text is not None} if text else set()
        kept = own_fields(view, replace(choice_of(view), text=text or query["text"]))
        assert set(kept) == set(query) - set(DECLARED) - of_text, name


@pytest.mark.slow
@loop_over("text", NEW)
def test_a_link_of_an_own_text_keeps_the_head_of_its_step(text: str) -> None:
    at, view = next((at, view) for name, at, view in own_text_steps() if name == "break_head")
    page = open_page("lessons", lesson="break_head", step=at, text=text)
    (link,) = (one.proto for one in page.main.get("page_link") if "view=break_head" in one.proto.query_string)
    head = {name: raw for name, raw in view.query if name in ("layer", "head")}
    assert dict(parse_qsl(link.query_string)) == {"view": "break_head", "text": text, **head}


@loop_over("name", ORDER)
def test_both_languages_say_everything(name: str) -> None:
    lesson = come_along()[name]
    every = [said for step in lesson.steps for said in texts(step)] + list(teacher_s(lesson))
    for said in every:
        if said:
            english, chinese = dict(said.by)["en"], dict(said.by)["zh"]
            assert not HAN.search(english)
            assert HAN.search(chinese) or not re.search(r"[A-Za-z]{4,} [a-z]{3,}", chinese), chinese
            assert sorted(re.findall(r"\d+\.\d+", english)) == sorted(re.findall(r"\d+\.\d+", chinese)), english


@loop_over("name", [*ORDER, TOUR])
def test_a_named_page_or_tab_is_in_the_navigation(name: str) -> None:
    lesson = tour() if name == TOUR else come_along()[name]
    pages = [page.title for page in PAGES]
    tabs = [title for page in PAGES if len(page.views) > 1 for title in page.views.values()]
    with use_language("zh"):
        in_chinese = [[translate(title) for title in titles] for titles in (pages, tabs)]
    for said in (*(said for step in lesson.steps for said in texts(step)), *teacher_s(lesson)):
        spoken = dict(said.by)
        for pattern, titles in ((r"\b[Pp]ages? (?=[A-Z])(.*)", pages), (r"\b[Tt]abs? (?=[A-Z])(.*)", tabs)):
            for found in re.findall(pattern, spoken.get("en", "")):
                assert any(found.startswith(title) for title in titles), found
        for pattern, titles in zip(("“([^”]*)”[两 ]*页", "“([^”]*)”标签页"), in_chinese, strict=True):
            for found in re.findall(pattern, spoken.get("zh", "")):
                assert found in titles, found


@loop_over("name", COURSE)
def test_a_lesson_has_its_teacher_s_page_and_its_time(name: str) -> None:
    lesson = come_along()[name]
    assert 20 <= lesson.minutes <= 45
    assert lesson.teacher is not None
    assert lesson.teacher.mistakes
    assert [part.minutes for part in lesson.teacher.plan] == [5, 5, 20, 10, 5]
    assert any(step.view is not None and step.view.yours for step in lesson.steps)
    assert all(step.question is None or step.question.kind == "text" or _checked(step) for step in lesson.steps)


@loop_over("name", CLAIMS)
def test_a_lesson_on_claims_is_in_their_group_and_computes_all(name: str) -> None:
    lesson = come_along()[name]
    assert lesson.group == come_along()[CLAIMS[0]].group
    assert all(come_along()[other].group != lesson.group for other in COURSE)
    assert all(step.question is None or step.question.check is not None for step in lesson.steps)
    assert all(step.view is not None for step in lesson.steps)
    assert sum(step.question is not None for step in lesson.steps) >= 5


def _checked(step: LessonStep) -> bool:
    question = step.question
    return question is not None and ((question.check is None) != (question.right is None))


def test_checks_that_no_lesson_uses_are_tested_by_hand() -> None:
    used = {
        call.check
        for lesson in come_along().values()
        for step in lesson.steps
        for call in (*(claim.call for claim in step.claims), step.question.check if step.question else None)
        if call is not None
    }
    assert used <= set(CHECKS)


def test_the_toy_head_of_the_lesson_opens_from_its_link() -> None:
    step = step_of("attention", 3)
    assert step.view is not None
    query = {name: raw for name, raw in step.view.query if name in {one.name for one in fields(ByHandOptions)}}
    options, faults = parse_params(ByHandOptions, query)
    assert not faults
    example = unpack(options.numbers)
    assert example.tokens == ("the", "cat", "slept", "it")
    for scaled, shares in ((True, [0.050, 0.848, 0.102]), (False, [0.017, 0.936, 0.047])):
        worked = compute_example(example, rules_of(replace(options, scaled=scaled))).worked
        assert worked.products[0, 3].tolist() == [1, 5, 2, -6]
        assert np.abs(worked.weights[0, 3, :3] - shares).max() < 5e-4
        assert worked.weights[0, 3, 3] < 1e-3
    assert worked.values[:3, 0].tolist() == [0, 10, 4]
    assert (options.scaled, options.row, options.column) == (True, 3, 1)
