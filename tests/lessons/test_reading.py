"""A lesson's file is either read completely or refused with an error for each invalid line."""

from __future__ import annotations

import re

import pytest

from lessons.checks import CHECKS
from lessons.reading import MOST_BYTES, Unreadable, lesson_of
from lessons.schema import CheckCall, Lesson
from lessons.toml_table import line_numbers
from tests.support.cases import loop_over
from tests.support.repository import ROOT

LEAST = 'title = "One"\nminutes = 5\n[[step]]\ntitle = "First"\ntext = "Look."\n'
MANUAL = (ROOT / "docs/LESSONS.md").read_text(encoding="utf-8")


ASK = "[step.question]\nask = 'x'\n"


def faults(text: str) -> list[tuple[int, str]]:
    with pytest.raises(Unreadable) as found:
        lesson_of(text)
    return [(fault.line, str(fault.reason)) for fault in found.value.faults]


def example() -> Lesson:
    """Return the manual's example lesson."""
    (block,) = re.findall(r"```toml\n(.*?)```", MANUAL, re.DOTALL)
    return lesson_of(block)


def test_the_manual_s_example_is_a_lesson() -> None:
    found = example()
    assert found.title.in_language("zh") != found.title.in_language("en")
    kinds = {step.question.kind for step in found.steps if step.question}
    assert {"head", "choice", "text"} <= kinds
    assert found.teacher is not None
    assert sum(part.minutes for part in found.teacher.plan) == found.minutes


def test_the_manual_names_every_check_and_what_it_is_told() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", MANUAL, re.MULTILINE))
    assert {name for name in rows if name in CHECKS} == set(CHECKS)
    for name, check in CHECKS.items():
        for told in check.needs:
            assert f"`{told}" in rows[name], (name, told)
        assert check.kind in rows[name], name


def test_the_least_lesson() -> None:
    found = lesson_of(LEAST)
    assert (found.title.in_language("zh"), found.minutes, len(found.steps)) == ("One", 5, 1)
    assert found.steps[0].question is None
    assert found.teacher is None


@loop_over(
    ("more", "line", "said"),
    [
        ("[broken", 6, "not valid TOML"),
        ('txet = "x"', 6, "claim, question, text, title, view"),
        ("[[step]]\ntitle = 3\ntext = 'x'", 7, "“title” must be a text"),
        ("[[step]]\ntitle.english = 'x'\ntext = 'x'", 7, "“english” is not a language code"),
        ("[[step]]\n# first\n\ntitle = 'x'", 6, "“text” must be a text"),
        ("[step.view]\nlink = '/x/y z?text=a'", 7, "is not a page"),
        ("[step.view]\nlink = 'explore'\nhighlight = 'it'", 8, "“highlight” must be a list"),
        ("[step.question]\nkind = 'shout'\nask = 'x'", 7, "“shout” is not one of"),
        ("[step.question]\nkind = 'choice'\nask = 'x'\nchoices.a = 'x'\nright = 'a'", 9, "two answers"),
        (
            "[step.question]\nkind = 'choice'\nask = 'x'\nchoices = {a='x', b='y'}\nright = 'c'",
            10,
            "“c” is not one of",
        ),
        ("[step.question]\nkind = 'number'\nask = 'x'\nright = 'c'", 9, "not a number"),
        ("[step.question]\nkind = 'number'\nask = 'x'\ncheck = {name = 'guess'}", 9, "answers with a word"),
        ("[step.question]\nkind = 'word'\nask = 'x'\n[step.question.check]\nname = 'look'", 10, "“look” is not one of"),
        ("[step.question]\nkind = 'number'\nask = 'x'\n[step.question.check]\nname = 'pieces'", 10, "needs “word”"),
        (
            "[step.question]\nkind = 'number'\nask = 'x'\n[step.question.check]\nname = 'dot'\na = [1]\nb = ['x']",
            12,
            "“b”",
        ),
        ("[step.question]\nkind = 'head'\nask = 'x'", 6, "picked in a view"),
        ("[teacher]\naims = 'x'\n[[teacher.plan]]\nminutes = 4\nwhat = 'x'", 2, "takes 4 minutes, the lesson 5"),
    ],
)
def test_every_fault_has_its_line_and_its_reason(more: str, line: int, said: str) -> None:
    found = faults(f"{LEAST}{more}\n")
    assert any(at == line and said in reason for at, reason in found), found


@loop_over(("lesson", "plan"), [("5", "'0–5'"), ("'5'", "15")], ids=("plan", "lesson"))
def test_minutes_are_added_only_if_all_are_valid(lesson: str, plan: str) -> None:
    part = f"[teacher]\naims = 'x'\n[[teacher.plan]]\nminutes = {plan}\nwhat = 'x'\n"
    ((_line, reason),) = faults(LEAST.replace("minutes = 5", f"minutes = {lesson}") + part)
    assert reason.startswith("“minutes” must be")


def test_all_faults_are_told_at_once_in_their_order() -> None:
    found = faults("minutes = 'x'\n[[step]]\ntext = 1\n")
    assert [line for line, _ in found] == sorted(line for line, _ in found)
    assert len(found) == 4  # The lesson lacks title and minutes; its step lacks title and text.


@loop_over(
    "text",
    [
        "",
        "x" * (MOST_BYTES + 1),
        "a = " + "[" * 5_000,
        f"a = {'9' * 5_000}",
        "é\0" * 99,
        f"{LEAST}{'[[step]]' * 3}",
        LEAST + "[[step]]\ntitle='x'\ntext='x'\n" * 61,
        "step = 3",
        "step = [3]",
        'title = {en = ["x"]}',
    ],
    ids=range(10),
)
def test_hostile_files_are_refused(text: str) -> None:
    assert faults(text)


def test_a_line_is_told_behind_a_text_of_several_lines() -> None:
    found = faults(
        'title = "One"\nminutes = 5\n[[step]]\ntitle = "First"\ntext = """\nminutes = 3\n[[x]]\n"""\nodd = 1\n'
    )
    ((line, reason),) = found
    assert line == 9
    assert "“odd”" in reason


def test_a_link_is_taken_apart() -> None:
    view = (
        "[step.view]\nlink = 'http://class.example:8501/bertviz?text=It was late. [MASK]&layer=3'\nhighlight = ['it']\n"
    )
    (step,) = lesson_of(LEAST + view).steps
    assert step.view is not None
    assert (step.view.page, step.view.highlight) == ("bertviz", ("it",))
    assert dict(step.view.query) == {"text": "It was late. [MASK]", "layer": "3"}


@pytest.mark.parametrize(
    ("link", "model"),
    [
        ("https://class.example/app/attention_heads?layer=3", None),
        ("localhost:8501/attention_heads?layer=3", None),
        ("10.0.0.5:8501/translation?text=A cat.", "headlight-en-fr"),
        ("http://class.example/attention_heads?model=all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("/translate?text=A cat.&model=tiny", "tiny"),
        ("/explore?layer=3", None),
    ],
)
def test_only_links_to_the_translator_get_a_model(link: str, model: str | None) -> None:
    (step,) = lesson_of(LEAST + f"[step.view]\nlink = '/tokens'\nalso = ['{link}']\n").steps
    assert step.view is not None
    assert dict(step.view.also[0].query).get("model") == model


def test_a_view_has_other_views_and_a_lesson_its_group() -> None:
    view = "[step.view]\nlink = '/tokens?text=A cat.'\nalso = ['/tokens?view=vectors&show=words', '/block']\n"
    lesson = lesson_of('group = "Mine"\n' + LEAST + view)
    assert lesson.steps[0].view is not None
    assert [(one.page, dict(one.query)) for one in lesson.steps[0].view.also] == [
        ("vectors", {"show": "words"}),
        ("block", {}),
    ]
    assert lesson.group.in_language("zh") == "Mine"
    (line, reason) = faults(LEAST + "[step.view]\nlink = '/tokens'\nalso = ['/No page']\n")[0]
    assert "No page" in reason
    assert line == (LEAST + "[step.view]\nlink = ''").count("\n") + 2


def test_what_a_check_reads_may_be_another_text() -> None:
    check = "[step.question]\nkind = 'number'\nask = 'x'\ncheck = {name = 'tokens', text = 'A cat.', words = true}\n"
    (step,) = lesson_of(LEAST + check).steps
    assert step.question is not None
    assert step.question.check == CheckCall("tokens", (("text", "A cat."), ("words", True)))


def test_line_separators_inside_a_text_begin_no_line() -> None:
    for mark in ("\x85", "\u2028", "\x0c", "\x1c"):
        assert line_numbers(f'a = "x{mark}y"\r\nb = 2\n') == {("a",): 1, ("b",): 2}
