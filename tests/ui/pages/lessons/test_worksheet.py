"""The worksheet of a lesson contains what a student on paper needs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from lessons.library import COURSE, ORDER, come_along
from lessons.reading import lesson_of
from lessons.schema import CheckCall, LessonStep, LocalizedText
from lessons.sheet import BLANK, Figure, Prose, Quotation, Table, in_markdown
from lessons.steps import markdown_of, right_answer
from tests.support.asking import asked, press
from tests.support.savedfiles import Saved
from ui.pages.lessons import worksheet
from ui.pages.lessons.views import empty_view
from ui.run.current_lesson import NamedLesson
from ui.run.lesson_answers import StepAnswer


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[int, StepAnswer]:
    """Return the reader's answers by step; it is empty."""
    found: dict[int, StepAnswer] = {}
    monkeypatch.setattr(worksheet, "answer_at", lambda _name, at: found.get(at, StepAnswer()))
    return found


def sections(name: str) -> dict[int, str]:
    """Return the parts of a lesson's worksheet by step, from 0."""
    text = in_markdown(worksheet.worksheets(NamedLesson(name, come_along()[name]))[1])
    parts = re.split(r"(?m)^## (\d+)\. ", text)[1:]
    return {int(number) - 1: part for number, part in zip(parts[::2], parts[1::2], strict=True)}


def rows(part: str) -> dict[str, list[str]]:
    """Return the rows of the last table of a part by their first cell."""
    found = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in part.splitlines() if line[:1] == "|"]
    return {first: others for first, *others in found}


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("name", ORDER)
def test_every_question_has_its_text_its_choices_and_room(name: str) -> None:
    found = sections(name)
    for at, step in enumerate(come_along()[name].steps):
        assert markdown_of(step.text).strip() in found[at]
        if step.question is None:
            continue
        assert markdown_of(step.question.ask) in found[at]
        boxes = [f"- [ ] {markdown_of(text)}" for _key, text in step.question.choices] or [BLANK]
        assert all(box in found[at] for box in boxes)


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(("name", "at"), [("attention", 5), ("attention", 7), ("it_and_animal", 7)])
def test_the_word_with_most_weight_is_in_the_table(name: str, at: int) -> None:
    step: LessonStep = come_along()[name].steps[at]
    assert step.question is not None
    seen = empty_view(step.view).asked
    right = right_answer(step.question, seen)
    assert right is not None
    weights = {
        word: cells[0] for word, cells in rows(sections(name)[at]).items() if re.fullmatch(r"[01]\.\d{3}", cells[0])
    }
    assert len(weights) > 5
    assert max(weights, key=lambda word: float(weights[word])) == seen.view().keys[int(str(right.answer))].label


@pytest.mark.usefixtures("answers")
def test_the_words_that_a_text_names_have_their_rows() -> None:
    (head, *_others) = [line for line in sections("attention")[7].splitlines() if line[:1] == "|"]
    assert all(f"{word} →" in head for word in ("cross", "was", "street"))


def test_the_word_of_a_check_is_never_cut() -> None:
    step = come_along()["attention"].steps[7]
    assert step.question is not None
    view = empty_view(step.view).asked.view() if step.view is not None else None
    assert view is not None
    word = next(cell.label for cell in view.keys if cell.label not in ("street", "cross") and not cell.special)
    check = CheckCall("weight", (("word", word),))
    quoting = LocalizedText((("", " ".join(f"“{cell.label}”" for cell in view.keys)),))
    question = replace(step.question, check=check)
    words, _column = worksheet._table_words(replace(step, text=quoting), question, view)  # noqa: SLF001
    assert words[0] == word
    assert len(words) == worksheet.MOST_ROWS


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("name", COURSE)
def test_a_question_about_heads_has_their_maps(name: str) -> None:
    for step in come_along()[name].steps:
        if step.question is None or step.question.kind not in ("head", "token") or step.view is None:
            continue
        drawn = [type(block) for block in worksheet.view_blocks(step, step.question)]
        assert (Figure if step.question.kind == "head" else Table) in drawn, step.title


def quotations(known: NamedLesson) -> list[str]:
    """Return the quoted texts of a lesson's worksheet."""
    return [block.text for block in worksheet.worksheets(known)[1] if isinstance(block, Quotation)]


def test_a_text_that_readers_may_replace_is_printed_unless_they_did(answers: dict[int, StepAnswer]) -> None:
    known = NamedLesson("claims_bert", come_along()["claims_bert"])
    (at, text), *_others = [
        (at, dict(step.view.query)["text"])
        for at, step in enumerate(known.lesson.steps)
        if step.view is not None and step.view.yours and step.question is not None
    ]
    assert text in quotations(known)
    answers[at] = StepAnswer(answer=2.0, text="2", tries=1, read=text)
    assert text in quotations(known)
    answers[at] = replace(answers[at], read="My own text.")
    assert text not in quotations(known)
    assert "Read: My own text." in quotations(known)


FREE = """
title = "Milk"
minutes = 5
[[step]]
title = "Look"
text = "Click a word."
[step.view]
link = "/explore?text=The cat drank the milk.&layer=3&head=1"
highlight = ["cat", "milk"]
[step.question]
kind = "text"
ask = "Why?"
"""


def test_a_fixed_text_stays_on_the_worksheet_after_a_free_answer(answers: dict[int, StepAnswer]) -> None:
    known = NamedLesson("free", lesson_of(FREE))
    answers[0] = StepAnswer(answer="Because.", text="Because.", tries=1, read="The cat drank the milk.")
    assert quotations(known) == ["The cat drank the milk.", "Because."]
    answers[0] = replace(answers[0], draft=" Because it is there.\n")
    assert quotations(known)[1:] == ["Because it is there."]
    answers[0] = StepAnswer(draft="Not kept")
    assert quotations(known)[1:] == ["Not kept"]
    answers[0] = StepAnswer(answer="Because.", draft="", text="Because.", tries=1)
    assert not quotations(known)[1:]


@pytest.mark.usefixtures("answers")
def test_a_question_on_two_texts_has_the_maps_of_both() -> None:
    step = come_along()["it_and_animal"].steps[5]
    assert step.question is not None
    texts = [block.caption for block in worksheet.view_blocks(step, step.question) if isinstance(block, Figure)]
    assert [text.split()[-1] for text in texts] == ["tired.", "wide."]


@pytest.mark.usefixtures("answers")
def test_a_prediction_has_no_numbers() -> None:
    assert "0.28" not in sections("it_and_animal")[4]


def test_no_table_lacks_numbers() -> None:
    steps = [step for lesson in come_along().values() for step in lesson.steps]
    found = [table for step in steps if step.question for table in worksheet.question_tables(step, step.question)]
    assert found
    assert min(len(table.names) for table in found) > 1


@pytest.mark.usefixtures("answers")
def test_a_prediction_has_its_text() -> None:
    step = come_along()["it_and_animal"].steps[4]
    assert step.view is not None
    assert step.question is not None
    model, text = worksheet.view_blocks(step, step.question)
    assert isinstance(model, Prose)
    assert text == Quotation(dict(step.view.query)["text"])


def test_answers_are_ticked_or_quoted(answers: dict[int, StepAnswer]) -> None:
    answers |= {1: StepAnswer(5.0, text="5"), 3: StepAnswer("larger", text="It becomes larger.")}
    found = sections("attention")
    assert "\n> 5\n" in found[1]
    assert found[3].count("- [x]") == 1
    assert found[3].count("- [ ]") == 2


def test_a_sheet_for_the_class_has_no_answers_of_its_author(answers: dict[int, StepAnswer]) -> None:
    known = NamedLesson("attention", come_along()["attention"])
    before = worksheet.worksheets(known)[0]
    answers |= {
        1: StepAnswer(5.0, text="5", tries=1, right=True, solved=True, said="The answer: 5."),
        3: StepAnswer("larger"),
    }
    empty, answered = map(in_markdown, worksheet.worksheets(known))
    assert empty == in_markdown(before) != answered
    assert "The answer: 5." in answered
    assert "- [x]" not in empty
    answers[5] = StepAnswer(text="stret", tries=1, right=False)
    assert "> stret\n\nNot right." in sections("attention")[5]


def test_it_is_made_when_its_part_is_open(saved: Saved) -> None:
    page: AppTest = asked("lessons", lesson="attention", step=1)
    assert "worksheet_text" not in {str(one.proto.id) for one in page.get("download_button")}
    page.session_state["worksheet"] = True
    text = saved(page.run(), "Save the worksheet")
    assert "(2, 1)" in text
    paper = saved(page, "Print my answers")
    assert "<msqrt>" in paper
    assert "print()" in paper
    page.text_input(key="lesson_attention_1_number").set_value("5")
    press(page, "Check")
    page.session_state["worksheet"] = True
    page.run()
    assert "<blockquote>5</blockquote>" in saved(page, "Print my answers")
    assert "<blockquote>5</blockquote>" not in saved(page, "Print empty sheet")
