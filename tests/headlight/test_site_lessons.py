"""Lessons of a static site: views, right answers, and the steps that need the app."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headlight.command import main
from headlight.command_input import CommandError
from headlight.site_lessons import (
    RECORDED,
    RecordedStep,
    chosen_lessons,
    input_of,
    kind_of,
    lesson_content,
    record_step,
)
from i18n import gettext_lazy, use_language
from inference import LocalBackend
from inference.errors import UserError
from lessons.answer_key import CheckedAnswer, CheckInput
from lessons.library import COURSE, come_along
from lessons.reading import lesson_of
from lessons.schema import CheckCall, Lesson, LessonQuestion, LessonStep, LessonView, LocalizedText
from tests.support.cases import loop_over
from tests.support.repository import ROOT
from tools.javascript import program
from ui.state.navigation import view_named

VIEWS = {"maps": ("explore", "break_head", "find"), "cross": ("translate",), "guesses": ("masked_words",)}
VIEWS["vectors"] = ("positions",)
LESSON = """
title.en = "One <b>row</b>"
title.zh = "一行"
minutes = 5
[[step]]
title.en = "Look"
text.en = "Click **it**."
[step.view]
link = "/explore?model=all-MiniLM-L6-v2&text=The cat drank the milk because it was thirsty.&layer=3&head=1"
highlight = ["it", "cat"]
[step.question]
kind = "choice"
ask.en = "Which?"
choices.cat = "the cat"
choices.milk = "the milk"
[step.question.check]
name = "preferred"
layer = 3
head = 1
word = "it"
to = "cat"
over = "milk"
[[step]]
title.en = "Elsewhere"
text.en = "Open it."
[step.view]
link = "/compare?text=A cat."
[[step]]
title.en = "Wrong"
text.en = "A head that is missing."
[step.view]
link = "/explore?text=A cat sat."
[step.question]
kind = "number"
ask.en = "How much?"
[step.question.check]
name = "weight"
layer = 99
head = 0
word = "cat"
to = "sat"
"""


@loop_over("page", RECORDED)
def test_a_recorded_view_is_the_view_that_the_app_opens(page: str) -> None:
    assert view_named(page) in VIEWS[RECORDED[page]]


def test_a_view_with_another_tab_is_not_recorded() -> None:
    text = ("text", "A [MASK].")
    assert kind_of(LessonView("masked_words", (text,))) == "guesses"
    assert kind_of(LessonView("masked_words", (text, ("show", "cloze")))) == ""
    assert kind_of(LessonView("positions", (text, ("show", "vectors")))) == "vectors"
    assert kind_of(LessonView("positions", (text,))) == ""
    assert kind_of(LessonView("explore", ())) == ""


@pytest.mark.slow
def test_a_lesson_has_its_answers_and_says_what_the_site_lacks() -> None:
    lesson, files = lesson_of(LESSON), list[str]()

    def record(read: CheckInput) -> str:
        files.append(read.text)
        return "a.bin"

    steps = [record_step(step, LocalBackend(), record) for step in lesson.steps]
    first, elsewhere, wrong = lesson_content("own", lesson, steps, lambda _content: "m.bin")["steps"]
    assert first["view"]["selection"] == {"layer": 3, "head": 1, "focus": 7, "target": 2}
    assert first["question"]["right"]["answers"] == ["cat"]
    assert "the cat" in first["question"]["said"]
    assert first["held"] == "view"
    assert first["notes"] == []
    assert elsewhere["view"] is None
    assert "/compare?text=A+cat." in elsewhere["notes"][0]
    assert wrong["question"]["right"] is None
    assert "99" in wrong["notes"][0]
    assert len(files) == 2
    with use_language("zh"):
        assert lesson_content("own", lesson, steps, lambda _content: "m.bin")["title"] == "一行"


OWN = LocalizedText()
CALL = CheckCall("weight", (("layer", 0), ("head", 1), ("word", "cat"), ("to", "sat")))
RIGHT = CheckedAnswer(0.5, gettext_lazy("It gives {weight:.3f}.", weight=0.5))


def live_part(link: tuple[tuple[str, str], ...], call: CheckCall = CALL, right: CheckedAnswer | None = RIGHT) -> Any:
    """Return the live part of a step whose view has these fields, in a site that runs the model "tiny"."""
    view = LessonView("explore", (("text", "A cat sat."), *link), yours=True)
    step = LessonStep(OWN, OWN, view, LessonQuestion("number", OWN, check=call))
    found = RecordedStep(step, input_of(view), "maps", "a.bin", right=right)
    live = CheckInput("tiny", "")
    [content] = lesson_content("own", Lesson(OWN, 5, OWN, OWN, (step,)), [found], lambda _content: "", live)["steps"]
    assert (content["live"] is None) == bool(content["notes"])  # the sentence that the text is fixed
    return content["live"]


def test_a_step_of_the_live_model_takes_another_text() -> None:
    found = live_part((("model", "tiny"), ("pair", "It was warm."), ("part", "encoder")))
    assert (found["text"], found["pair"]) == ("A cat sat.", "It was warm.")
    assert found["check"] == {"name": "weight", "given": dict(CALL.given), "template": "It gives {weight:.3f}."}


@loop_over("field", [("model", "other"), ("words", "1"), ("special", "0"), ("cut", "2"), ("revision", "main")])
def test_a_step_that_the_live_model_cannot_show_is_fixed(field: tuple[str, str]) -> None:
    assert live_part((("model", "tiny"), field)) is None


def test_only_checks_of_the_view_are_computed_live() -> None:
    link = (("model", "tiny"),)
    for call in (CheckCall("pronoun_hits", CALL.given), replace(CALL, given=(*CALL.given, ("text", "A dog.")))):
        assert live_part(link, call)["check"] is None
    assert live_part(link, right=None)["check"] is None


@pytest.mark.slow
def test_a_model_that_is_missing_gives_a_sentence() -> None:
    class Away(LocalBackend):
        def trace(self, *_arguments: Any, **_named: Any) -> Any:
            raise UserError(gettext_lazy("away"))

    [found] = [record_step(lesson_of(LESSON).steps[0], Away(), lambda _read: "")]
    assert (found.kind, found.right, found.reason) == ("", None, "away")


@pytest.mark.slow
def test_every_question_of_the_course_is_answered() -> None:
    models = LocalBackend()
    for name in ("translation", "order"):
        lesson = come_along()[name]
        steps = [record_step(step, models, lambda _read: "a.bin") for step in lesson.steps]
        assert not [step.reason for step in steps if step.reason]
        for step in lesson_content(name, lesson, steps, lambda _content: "m.bin")["steps"]:
            question = step["question"]
            assert question is None or not question["checks"] or question["right"]["answers"]
            assert step["view"] or step["notes"] or step["question"]


def test_unknown_lessons_are_refused(tmp_path: Path) -> None:
    assert tuple(chosen_lessons([])) == COURSE
    (tmp_path / "bad.toml").write_text("title = 1")
    (tmp_path / "good.toml").write_text(LESSON, encoding="utf-8")
    assert list(chosen_lessons(["order", str(tmp_path / "good.toml")])) == ["order", "good"]
    for name in ("nothing", str(tmp_path / "bad.toml"), str(tmp_path / "none.toml")):
        with pytest.raises(CommandError):
            chosen_lessons([name])


CASES: list[tuple[str, CheckedAnswer, list[Any]]] = [
    ("number", CheckedAnswer(0.68, gettext_lazy(""), tolerance=0.01), [0.672, 0.69, 0.6901, 0.67, 1]),
    ("number", CheckedAnswer(13.0, gettext_lazy(""), tolerance=2), [11, 15, 10.9, 16]),
    ("word", CheckedAnswer("Paris", gettext_lazy(""), ("ß",)), [" paris", "PARIS ", "pari", "SS", ""]),
    (
        "word",
        CheckedAnswer("dog", gettext_lazy("")),
        ["the dog", "A  DOG.", "“an dog”", "the ‘dog’!", "dog。", "dog…", "hot dog", "the", "dogs"],
    ),
    ("word", CheckedAnswer("the", gettext_lazy("")), ["the", "“The”.", "a", "the dog"]),
    ("word", CheckedAnswer("[CLS]", gettext_lazy("")), ["[cls].", "CLS", "<CLS>", "[]", "[CLS", "[SEP]"]),
    ("word", CheckedAnswer(".", gettext_lazy("")), [".", "“.”", "?", ""]),
    ("choice", CheckedAnswer("a", gettext_lazy("")), ["a", "b"]),
    ("token", CheckedAnswer(3, gettext_lazy("")), [3, 4]),
    ("head", CheckedAnswer((3, 1), gettext_lazy(""), ((0, 2),)), [(3, 1), (0, 2), (1, 3)]),
]
ACCEPT = """
import { accepts } from "%(folder)s/site/question.js";
const cases = JSON.parse(Deno.args[0]);
console.log(JSON.stringify(cases.map(([kind, right, given]) => given.map((one) => accepts(right, kind, one)))));
"""


@pytest.mark.slow
def test_the_script_accepts_the_answers_that_the_app_accepts() -> None:
    cases = [
        (
            kind,
            {
                "answers": [right.answer, *right.others],
                "tolerance": right.tolerance,
                "is_share": right.is_share,
                "is_percentage": right.is_percentage,
            },
            given,
        )
        for kind, right, given in CASES
    ]
    code = ACCEPT % {"folder": (ROOT / "viz" / "components").as_uri()}
    command = [program(), "run", "--no-config", "-", json.dumps(cases)]
    found = json.loads(subprocess.run(command, input=code, text=True, capture_output=True, check=True).stdout)
    assert found == [[right.accepts(one) for one in given] for _kind, right, given in CASES]


@pytest.mark.slow
def test_a_site_of_lessons_needs_no_text(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(LESSON, encoding="utf-8")
    assert main(["site", str(tmp_path / "site"), "--only", "--lessons", str(tmp_path / "own.toml")]) == 0
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "<b>row" not in page
    [lesson] = (tmp_path / "site" / "lessons").glob("lesson-*.json")
    content = json.loads(lesson.read_text(encoding="utf-8"))["en"]
    assert content["title"] == "One <b>row</b>"
    assert (tmp_path / "site" / content["steps"][0]["view"]["file"]).is_file()
