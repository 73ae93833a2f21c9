"""Tests of classroom questions: valid questions, valid answers, and the summary of answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classroom.errors import NotInClass
from classroom.question import (
    Question,
    TranslatedQuestion,
    count_answers,
    count_correct,
    format_answer,
    format_prompt,
    is_correct,
    read,
)
from classroom.room_views import Answer, Student, TeacherView
from i18n import translate, use_language
from tests.support.cases import loop_over


@loop_over(
    ("kind", "said", "counted_as"),
    [
        ("number", " 0,25 ", "0.25"),
        ("number", "1e2", "100"),
        ("number", "51%", "51%"),
        ("number", "51,0 ％", "51%"),
        ("number", "0,849", "0.849"),
        ("number", "−1/4", "-0.25"),
        ("number", "2/3", "0.666666666667"),
        ("number", "24691/2", "12345.5"),
        ("number", "0.333333333333", "0.333333333333"),
        ("head", "3.7", "3.7"),
        ("head", "03.007", "3.7"),
        ("head", "3-7", "3.7"),
        ("head", "3/7", "3.7"),
        ("head", "L3H7", "3.7"),
        ("head", "layer 3 head 7", "3.7"),
        ("head", "第3层头7", "3.7"),
        ("head", "３－７", "3.7"),
        ("head", "(3, 7)", "3.7"),
        ("word", "  the   animal ", "the animal"),
        ("text", "because\nit is", "because it is"),
    ],
)
def test_an_answer_is_counted_as(kind: str, said: str, counted_as: str) -> None:
    assert Question(kind, "?").normal(said) == counted_as  # type: ignore[arg-type]


@loop_over(
    ("kind", "said", "sentence"),
    [
        ("number", "many", "“many”"),
        ("number", "%", "“%”"),
        ("number", "1/0", "“1/0”"),
        ("number", "1/", "“1/”"),
        ("number", "51%%", "“51%%”"),
        ("number", "1,000", "“1,000” .*1500 .*1.5"),
        ("number", "30,522%", "“30,522” "),
        ("number", "1,000,000", "“1,000,000” "),
        ("number", "nan", "“nan” is not a number"),
        ("number", "-inf", "“-inf” is not a number"),
        ("number", "1e400", "“1e400” is not a number"),
        ("number", "1e300/1", "“1e300/1”"),
        ("number", "-1e12", "“-1e12”"),
        ("number", "Infinity%", "“Infinity%” is not a number"),
        ("head", "three", "not a head"),
        ("head", "3", "not a head"),
        ("head", "-1.2", "not a head"),
        ("head", "9-40", "9-40.* 0 .* 5.* 0 .* 11"),
        ("head", "6-0", "6-0"),
        ("head", "٣.٧", "not a head"),
        ("choice", "maybe", "“maybe”"),
        ("word", "   ", "Answer first"),
        ("choice", "", "Answer first"),
        ("text", "x" * 501, "501 .* 500"),
    ],
)
def test_what_is_no_answer_is_refused(kind: str, said: str, sentence: str) -> None:
    question = Question(kind, "?", ("yes", "no") if kind == "choice" else (), layers=6, heads=12)  # type: ignore[arg-type]
    with pytest.raises(NotInClass, match=sentence):
        question.normal(said)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Question("song", "?"),  # type: ignore[arg-type]
        lambda: Question("word", " "),
        lambda: Question("word", "?" * 2001),
        lambda: Question("word", "?", translations=(TranslatedQuestion("zh", " "),)),
        lambda: Question("choice", "?", ("one",)),
        lambda: Question("choice", "?", tuple("abcdefghijklm")),
    ],
)
def test_what_cannot_be_asked(made: object) -> None:
    with pytest.raises(NotInClass):
        made()  # type: ignore[operator]


def test_a_question_without_text_names_its_field() -> None:
    with pytest.raises(NotInClass) as refused:
        Question("word", "")
    assert refused.value.sentence == "Question has 0 characters; expected 1 to 2,000."
    with use_language("zh"):
        assert translate(refused.value.sentence) == "问题有 0 个字符；应为 1 到 2,000 个。"


def test_a_question_is_read_as_it_was_written() -> None:
    question = Question("choice", "“<b>哪个</b>？”", ("甲", "乙"), "甲")
    assert read(question.to_json()) == question
    translated = replace(question, step="it/1", translations=(TranslatedQuestion("en", "Which?", ("a", "b")),))
    assert read(translated.to_json()) == translated
    earlier = '{"kind": "word", "prompt": "Which?", "options": [], "truth": "", "tolerance": 0.0}'
    assert read(earlier) == Question("word", "Which?"), "rooms of an earlier version stay readable"


def test_a_reader_of_another_language_reads_the_translation() -> None:
    question = Question("choice", "Which?", ("left", "right"), "left", translations=(
        TranslatedQuestion("zh", "哪边？", ("左", "右")),))  # fmt: skip
    board = TeacherView(1, (Student(1, "Ann", False),), None, (question,), 1, False, (Answer(1, 1, "right"),))
    assert (format_prompt(question), format_answer(question, "left")) == ("Which?", "left")
    with use_language("zh"):
        assert (format_prompt(question), format_answer(question, "left")) == ("哪边？", "左")
        assert board.rows() == [(1, "哪边？", "Ann", "右", "左", "否")]
    assert question.without_truth().translations
    assert not question.without_truth().truth


def test_a_choice_is_found_without_regard_to_case_and_spaces() -> None:
    question = Question("choice", "Which?", ("the  Cat", "it", "It"))
    assert [question.normal(said) for said in ("The cat ", "it", "It", "IT")] == ["the  Cat", "it", "It", "it"]


def test_a_wrong_number_of_choices_is_counted() -> None:
    with pytest.raises(NotInClass) as refused:
        Question("choice", "?", ("one",))
    assert refused.value.sentence == "Expected 2 to 12 choices, one per line; got 1."


def test_how_many_were_right() -> None:
    question = Question("word", "?", truth="Animal")
    assert count_correct(question, ["animal", "street", "ANIMAL"]) == 2
    assert count_correct(Question("word", "?"), ["animal"]) is None
    assert count_answers(question, ["b", "a", "A"]) == [("a", 2), ("b", 1)]


def test_articles_of_words_do_not_count_but_those_of_texts_do() -> None:
    said = ["The animal.", "animal", "“an animal”", "street", "the"]
    assert count_correct(Question("word", "?", truth="animal"), said) == 3
    assert count_answers(Question("word", "?", truth="animal"), said) == [("animal", 3), ("street", 1), ("the", 1)]
    assert count_correct(Question("word", "?", truth="the"), ["The", "the.", "a", "animal"]) == 2
    assert count_correct(Question("text", "?", truth="animal"), said) == 1


@loop_over(
    ("truth", "right", "wrong"),
    [
        ("51", ("51", "51%"), ("0.51", "0.51%", "52%", "5100%")),
        ("51%", ("51", "51%", "51.0 %", "0.51"), ("0.51%", "0.52", "52")),
        ("0.51", ("0.51", "51%"), ("51", "0.51%", "52%")),
        ("0.514", ("0.51", "51%", "51.4%"), ("50%", "0.5", "51")),
        ("51.4%", ("51%", "51", "0.51"), ("0.5", "50%")),
        ("1", ("1", "100%"), ("100", "1%")),
        ("1%", ("1%", "1", "0.01"), ("100%", "0.1")),
        ("-0.2", ("-20%",), ("20%", "-20")),
        ("0.123456", ("0.1235", "123456/1000000"), ("12349/100000", "0.12349")),
        ("34.3803%", ("34.38%",), ("11/32", "34.375%")),
        ("12", ("12",), ("999999999999", "1e-300")),
        ("0.5", ("50%", "0.5"), ("50.4%", "0.504")),
    ],
)
def test_a_percentage_is_compared_as(truth: str, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    question = Question("number", "?", truth=truth)
    assert [said for said in (*right, *wrong) if is_correct(question, question.normal(said))] == list(right)


def test_a_count_is_no_percentage() -> None:
    question = Question("number", "In how many of 72?", truth="36", is_count=True).without_truth()
    assert [question.normal(said) for said in ("36", " 36.0 ")] == ["36", "36"]
    with pytest.raises(NotInClass) as refused:
        question.normal("50%")
    assert refused.value.sentence == "“50%” is not a number such as 12."


def test_a_tolerance_is_in_the_unit_of_the_truth() -> None:
    question = Question("number", "?", truth="85%", tolerance=0.5)
    assert [is_correct(question, said) for said in ("0.854", "85.4", "0.4", "0.36", "86")] == [True, True, *[False] * 3]


def test_a_lesson_s_tolerance_holds_for_a_percentage() -> None:
    question = Question("number", "?", truth="0.6", tolerance=0.02)
    assert [is_correct(question, said) for said in ("62%", "62.5%")] == [True, False]


def test_a_number_without_end_is_compared() -> None:
    for said in ("nan", "inf", "nan%", "inf%"):
        assert not is_correct(Question("number", "?", truth="0.5"), said)
        assert not is_correct(Question("number", "?", truth="5%"), said)


def test_a_head_in_the_table_is_neither_a_number_nor_a_date() -> None:
    question = Question("head", "Which?", truth="3.10")
    board = TeacherView(1, (Student(1, "Ann", False),), None, (question,), 1, False, (Answer(1, 1, "3.1"),))
    assert board.rows() == [(1, "Which?", "Ann", "head 3-1", "head 3-10", "no")]
    open_question = replace(board, questions=(replace(question, truth=""),))
    assert open_question.rows() == [(1, "Which?", "Ann", "head 3-1", "", "")]
    assert [question.normal(name) for name in ("L3H1", "L3H10")] == ["3.1", "3.10"]
    assert format_answer(question, "3.10") == "3-10"
