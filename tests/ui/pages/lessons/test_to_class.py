"""Questions of a lesson sent to a class, with the computed answer of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.view import View
from classroom.errors import NotInClass
from classroom.question import COUNTS, SHARES, TranslatedQuestion, format_truth, is_correct
from classroom.store import Store
from i18n import gettext_lazy, use_language
from lessons.answer_key import CheckedAnswer
from lessons.library import come_along
from lessons.schema import CheckCall, LessonQuestion, LocalizedText
from lessons.steps import describe_answer, right_answer
from tests.support.asking import LONGEST, go, notes, press
from tests.support.asking import asked as page_of
from tests.support.cases import loop_over
from tests.support.clicking import picture
from tests.support.repository import ROOT
from tests.support.savedfiles import Saved
from tests.support.traces import sentence_trace
from ui.pages.lessons.class_questions import class_question
from ui.pages.lessons.views import empty_view
from ui.run import classes
from ui.run.fine_tuning import NOBODY, hash_cookie
from ui.run.lesson_answers import StepAnswer
from ui.show.text import escape_markdown

NOTHING = gettext_lazy("")
ASK = LocalizedText((("", "Which?"),))
KEY = ("it_and_animal", 1)


def test_each_kind_is_asked_as_a_class_answers_it() -> None:
    choice = LessonQuestion(
        "choice", ASK, choices=(("a", LocalizedText((("", "left"),))), ("b", LocalizedText((("", "right"),))))
    )
    seen = empty_view(None)
    made = class_question(KEY, choice, CheckedAnswer("b", NOTHING), seen)
    assert (made.kind, made.options, made.truth) == ("choice", ("left", "right"), "right")
    made = class_question(KEY, LessonQuestion("head", ASK), CheckedAnswer((3, 1), NOTHING), seen)
    assert (made.kind, made.truth, made.layers, made.heads) == ("head", "3.1", 0, 0)
    shown = replace(seen, view=View(sentence_trace()))
    for right in (CheckedAnswer((3, 1), NOTHING), None):
        made = class_question(KEY, LessonQuestion("head", ASK), right, shown)
        assert (made.layers, made.heads) == (2, 3)
    assert not class_question(KEY, LessonQuestion("word", ASK), None, shown).layers
    made = class_question(KEY, LessonQuestion("number", ASK), CheckedAnswer(0.68, NOTHING, tolerance=0.01), seen)
    assert (made.kind, made.truth, made.tolerance) == ("number", "0.68", 0.01)
    share = CheckedAnswer(0.68, NOTHING, tolerance=0.01, is_share=True)
    made = class_question(KEY, LessonQuestion("number", ASK, check=CheckCall("weight", ())), share, seen)
    assert (made.truth, made.tolerance, format_truth(made)) == ("0.68", 0.01, "0.68")
    said = (0.69, 69, 0.7, 70, 0.0068)
    assert [is_correct(made, made.normal(f"{one:g}")) for one in said] == [True, True, False, False, False]
    assert [share.accepts(one) or share.share(one) is not None for one in said] == [True, True, False, False, False]
    heads = class_question(KEY, LessonQuestion("number", ASK), CheckedAnswer(36.0, NOTHING), seen)
    assert (heads.truth, heads.is_count, made.is_count) == ("36", True, False)
    near = class_question(KEY, LessonQuestion("number", ASK), CheckedAnswer(14.0, NOTHING, tolerance=2.0), seen)
    assert (near.is_count, near.example, made.example) == (True, COUNTS, SHARES)
    made = class_question(KEY, LessonQuestion("word", ASK), CheckedAnswer("animal", NOTHING), seen)
    assert (made.kind, made.truth) == ("word", "animal")
    assert [class_question(KEY, LessonQuestion(kind, ASK), None, seen).kind for kind in ("text", "token", "word")] == [
        "text",
        "word",
        "word",
    ]


@loop_over("right", [0.05, 0.68, 0.999])
def test_a_typed_share_is_shown_as_its_author_wrote_it(right: float) -> None:
    question, seen = LessonQuestion("number", ASK, right=right), empty_view(None)
    answer = right_answer(question, seen.asked)
    assert answer is not None
    made = class_question(KEY, question, answer, seen)
    assert format_truth(made) == f"{right:g}"
    assert f"The answer: {right:g}." in str(describe_answer(question, answer))
    assert str(describe_answer(question, replace(answer, said=gettext_lazy("2 × 2")))).endswith(f"{right:g}.\n\n2 × 2")
    said = (f"{right:g}", f"{100 * right:g}", f"{100 * right:g}%")
    assert [is_correct(made, made.normal(one)) for one in (*said, "7", "0.3")] == [True, True, True, False, False]


def test_a_question_is_asked_with_its_translations() -> None:
    both = LocalizedText((("en", "Which?"), ("zh", "哪个？")))
    sides = [LocalizedText((("en", "left"), ("zh", "左"))), LocalizedText((("en", "right"), ("zh", "右")))]
    choice = LessonQuestion("choice", both, choices=(("a", sides[0]), ("b", sides[1])))
    seen, right = empty_view(None), CheckedAnswer("b", NOTHING)
    made = class_question(KEY, choice, right, seen)
    assert (made.step, made.prompt, made.truth) == ("it_and_animal/1", "Which?", "right")
    assert made.translations == (TranslatedQuestion("zh", "哪个？", ("左", "右")),)
    with use_language("zh"):
        made = class_question(KEY, choice, right, seen)
    assert (made.prompt, made.truth) == ("哪个？", "右")
    assert made.translations == (TranslatedQuestion("en", "Which?", ("left", "right")),)
    assert not class_question(KEY, LessonQuestion("word", ASK), None, seen).translations


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the empty store that replaces the store of classes."""
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    return made


def test_a_teacher_asks_it_from_the_lesson(made: Store) -> None:
    desk = page_of("classroom")
    press(desk, "Open a class")
    code = desk.metric[0].value
    steps = come_along()["it_and_animal"].steps
    at = next(number for number, step in enumerate(steps) if step.question and step.question.kind == "choice")
    go(desk, "lessons", lesson="it_and_animal", step=str(at))
    press(desk, f"Ask class {code} this")
    board = made.board(code, hash_cookie(desk.session_state[NOBODY]))
    (question,) = board.questions
    assert question.kind == "choice"
    assert question.truth in question.options
    assert not desk.exception
    others = [number for number, step in enumerate(steps) if step.question and number != at]
    go(desk, "lessons", lesson="it_and_animal", step=str(others[0]))
    assert "This closes question 1 without showing its answers." in [one.value for one in desk.markdown]
    press(desk, "Confirm", "lesson_to_class")
    assert len(made.board(code, hash_cookie(desk.session_state[NOBODY])).questions) == 2


def opened_class() -> tuple[AppTest, str, str]:
    """Open a class; return its teacher's page, its code and the teacher's secret."""
    desk = page_of("classroom")
    press(desk, "Open a class")
    return desk, desk.metric[0].value, hash_cookie(desk.session_state[NOBODY])


@pytest.mark.slow
def test_a_projected_step_hides_its_solution_while_the_class_answers(made: Store) -> None:
    desk, code, who = opened_class()
    question = come_along()["it_and_animal"].steps[4].question
    assert question is not None
    reveal = question.reveal.in_language("en")

    def texts() -> list[str]:
        assert not desk.exception
        return [one.value for one in desk.markdown]

    go(desk, "lessons", lesson="it_and_animal", step="4")
    desk.radio(key="lesson_it_and_animal_4_choice").set_value("animal")
    press(desk, "Check")
    assert reveal in texts()
    press(desk, f"Ask class {code} this")
    assert any("open when the answers are shown" in note for note in notes(desk))
    assert reveal not in texts()
    assert "Check" not in [button.label for button in desk.button]
    assert any(question.ask.in_language("en") in text for text in texts())
    assert any("still “animal”" in text for text in texts())
    press(desk, "Confirm", "classroom_reveal")
    assert reveal in texts()
    assert made.board(code, who).revealed


@pytest.mark.slow
def test_the_teacher_s_step_opens_with_the_class_s_answers(made: Store) -> None:
    desk, code, who = opened_class()
    student = hash_cookie("a student")
    made.join(code, student)
    question = come_along()["attention"].steps[5].question
    assert question is not None
    go(desk, "lessons", lesson="attention", step="5")
    press(desk, f"Ask class {code} this")
    assert not any("The answer" in note for note in notes(desk))
    assert "quiet" in picture(desk)
    with pytest.raises(NotInClass, match="“stret”"):
        made.answer(code, student, 1, "stret")
    made.answer(code, student, 1, "street")
    made.reveal(code, who)
    desk.run()
    assert not desk.exception
    assert question.reveal.in_language("en") in [one.value for one in desk.markdown]
    assert any("gives most to “animal”" in note for note in notes(desk))
    assert any(note.startswith("Answers: 1. Correct answer: animal.") for note in notes(desk))
    assert "quiet" not in picture(desk), "the view has its results"
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = "a student"
    go(seat, "lessons", lesson="attention", step="5", **{"class": code})
    assert ["street" in note for note in notes(seat) if note.endswith("Not right.")] == [True]


@pytest.mark.slow
def test_the_key_hides_the_answer_that_the_class_is_asked_for(made: Store, saved: Saved) -> None:
    desk, code, who = opened_class()
    question = come_along()["attention"].steps[5].question
    assert question is not None

    def key() -> tuple[int, bool, bool]:
        """Return the number of answers, and whether the answer and its explanation are among them."""
        said = notes(go(desk, "lessons", lesson="attention", show="teacher"))
        texts = [one.value for one in desk.markdown]
        return len(said), any(note.startswith("animal") for note in said), question.reveal.in_language("en") in texts

    before = key()
    assert before[1:] == (True, True)
    made.ask(code, who, class_question(("attention", 5), question, None, empty_view(None)))
    assert key() == (before[0], False, False)
    assert any("open when the answers are shown" in note for note in notes(desk))
    paper = saved(desk, "Page to print")
    assert "<blockquote>animal" in paper, "the printed key is complete"
    assert "when the answers are shown" not in paper
    made.reveal(code, who)
    assert key() == before


@pytest.mark.slow
def test_other_steps_hide_results_while_the_class_answers(made: Store) -> None:
    desk, code, who = opened_class()
    question = come_along()["attention"].steps[5].question
    assert question is not None

    def is_quiet() -> bool:
        return "quiet" in picture(go(desk, "lessons", lesson="attention", step="0"))

    assert not is_quiet()
    made.ask(code, who, class_question(("attention", 5), question, None, empty_view(None)))
    assert is_quiet()
    made.reveal(code, who)
    assert not is_quiet()


@pytest.mark.slow
def test_the_class_answers_above_the_lesson_in_its_own_language(made: Store) -> None:
    teacher, student = "the teacher's", "a student's"
    code = made.open(hash_cookie(teacher))
    made.join(code, hash_cookie(student))
    steps = come_along()["it_and_animal"].steps
    at, asked = next((at, step.question) for at, step in enumerate(steps) if step.question and step.question.hints)
    key, here = ("it_and_animal", at), {"lesson": "it_and_animal", "step": str(at), "lang": "zh", "class": code}
    made.ask(code, hash_cookie(teacher), class_question(key, asked, None, empty_view(None)))
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = student
    own = {f"lesson_{key[0]}_{at}_{button}" for button in ("check", "hint")}

    def controls() -> set[str]:
        assert not seat.exception
        return own & {str(button.key) for button in seat.button}

    go(seat, "lessons", **here)
    prompt = escape_markdown(asked.ask.in_language("zh"))
    assert [one.value for one in seat.markdown if prompt in one.value]
    assert not [one.value for one in seat.markdown if asked.ask.in_language("en") in one.value]
    assert not controls()
    go(seat, "lessons", **{**here, "step": str(at + 1)})
    assert not [said for said in notes(seat) if "全班" in said], "another step keeps its own question"
    made.reveal(code, hash_cookie(teacher))
    go(seat, "lessons", **here)
    assert controls() == own


def test_who_teaches_no_class_has_no_such_button() -> None:
    page = page_of("lessons", lesson="it_and_animal", step=1)
    assert not [button for button in page.button if button.key == "lesson_to_class"]


@pytest.mark.slow
@pytest.mark.parametrize("is_right", [True, False])
def test_a_class_answer_is_the_first_answer_of_its_step(made: Store, is_right: bool) -> None:
    teacher, student = hash_cookie("the teacher's"), "a student's"
    code = made.open(teacher)
    made.join(code, hash_cookie(student))
    step = come_along()["it_and_animal"].steps[4]
    assert step.question is not None
    right = right_answer(step.question, empty_view(step.view).asked)
    question = class_question(("it_and_animal", 4), step.question, right, empty_view(step.view))
    said = next(option for option in question.options if (option == question.truth) is is_right)
    number = made.ask(code, teacher, question)
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = student
    go(seat, "lessons", lesson="it_and_animal", step="4", **{"class": code})
    assert "Answer the class's question above." in notes(seat)
    made.answer(code, hash_cookie(student), number, said)
    seat.run()
    assert not any("opens after your first answer" in note for note in notes(seat)), "this answer opens nothing"
    assert not any("Answer the class's question" in note for note in notes(seat))
    assert any("open when the answers are shown" in note for note in notes(seat))
    assert any(one.label.startswith("Worksheet: 0 of") for one in seat.expander)
    made.reveal(code, teacher)
    seat.run()
    assert not seat.exception
    assert not any("open when the answers" in note for note in notes(seat))
    assert any(one.label.startswith("Worksheet: 1 of") for one in seat.expander)
    kept = seat.session_state["lesson_answers"]["it_and_animal", 4]
    assert (kept.text, kept.right, kept.tries) == (said, is_right, 1)
    assert ("Right." in notes(seat)) is is_right
    assert step.question.reveal.in_language("en") in [one.value for one in seat.markdown]
    assert any("The answer: " in note for note in notes(seat))
    own, shared = ("attention", 1), ("it_and_animal", 4)
    seat.session_state["lesson_answers"][own] = StepAnswer(text="5", tries=1)
    go(seat, "classroom").button(key="classroom_withdraw").click().run()
    assert set(seat.session_state["lesson_answers"]) == {own}
    assert go(seat, "lessons", lesson=shared[0], step="4").radio(key="lesson_it_and_animal_4_choice").value is None


@pytest.mark.slow
def test_a_student_without_an_answer_sees_the_solution_too(made: Store) -> None:
    teacher, student = hash_cookie("the teacher's"), "a student's"
    code = made.open(teacher)
    made.join(code, hash_cookie(student))
    step = come_along()["it_and_animal"].steps[4]
    assert step.question is not None
    made.ask(code, teacher, class_question(("it_and_animal", 4), step.question, None, empty_view(step.view)))
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = student
    reveal = step.question.reveal.in_language("en")
    go(seat, "lessons", lesson="it_and_animal", step="4", **{"class": code})
    assert reveal not in [one.value for one in seat.markdown]
    made.reveal(code, teacher)
    seat.run()
    assert not seat.exception
    assert reveal in [one.value for one in seat.markdown]
    assert any("The answer: " in note for note in notes(seat))
    assert [part.label for part in seat.expander if part.label.startswith("Worksheet: 0 of ")], "nothing was answered"


@pytest.mark.slow
def test_an_own_answer_outlasts_the_class_answer(made: Store) -> None:
    teacher, student = hash_cookie("the teacher's"), "a student's"
    code = made.open(teacher)
    made.join(code, hash_cookie(student))
    question = come_along()["attention"].steps[1].question
    assert question is not None
    asked = class_question(("attention", 1), question, right_answer(question, empty_view(None).asked), empty_view(None))
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = student
    go(seat, "lessons", lesson="attention", step="1", **{"class": code})
    seat.text_input(key="lesson_attention_1_number").set_value("5")
    press(seat, "Check")
    number = made.ask(code, teacher, asked)
    made.answer(code, hash_cookie(student), number, "4")
    number = made.ask(code, teacher, asked)  # The first question is closed, though its answers were never shown.
    assert [(one.number, one.said, one.is_shown) for one in made.closed_answers(code, hash_cookie(student))] == [
        (1, "4", False)
    ]
    made.reveal(code, teacher)
    seat.run()
    assert seat.text_input(key="lesson_attention_1_number").value == "5"
    assert seat.session_state["lesson_answers"]["attention", 1].text == "5"
