"""Files in SQuAD's JSON format: versions 1.1 and 2.0, division by passages, and refusals of broken files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inference.errors import UserError
from probing.labelled import files
from probing.labelled.files import File
from probing.labelled.squad import PassageQuestion, load_questions, parse_questions, split_questions
from tests.support.squadfiles import PASSAGES, question, squad

ROOT = Path(__file__).parents[3]
Change = Callable[[dict[str, Any]], object]


def test_letters_are_offsets_in_any_script() -> None:
    whole = squad([("安娜住在巴黎。", [question("1", "安娜住在哪里？", "巴黎", 4)])])
    [found] = parse_questions(File("zh.json", json.dumps(whole, ensure_ascii=False).encode())).questions
    assert [found.passage[one.start : one.end] for one in found.answers] == ["巴黎"]


def test_a_byte_order_mark_is_skipped() -> None:
    content = "\ufeff" + json.dumps(squad(PASSAGES))
    assert len(parse_questions(File("a.json", content.encode())).questions) == 4


def test_version_2_marks_questions_without_an_answer() -> None:
    impossible = {"id": "n", "question": "Who left?", "answers": [], "is_impossible": True}
    plausible = impossible | {"plausible_answers": [{"text": "Ann", "answer_start": 0}]}
    found = parse_questions(File("a.json", json.dumps(squad([("Ann stays.", [plausible])])).encode()))
    assert found.marked
    assert found.questions[0].answers == ()


def test_empty_questions_are_counted_and_left_out() -> None:
    entries = [question("1", " ", "Ann", 0), question("2", "Who?", "Ann", 0)]
    found = parse_questions(File("a.json", json.dumps(squad([("Ann stays.", entries)])).encode()))
    assert (len(found.questions), found.empty) == (1, 1)


def _entry(whole: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = whole["data"][0]["paragraphs"][0]["qas"][0]
    return found


BROKEN: dict[str, Change] = {
    "data": lambda whole: whole.pop("data"),
    "paragraphs": lambda whole: whole["data"][0].pop("paragraphs"),
    "paragraphs is no list": lambda whole: whole["data"][0].update(paragraphs="two"),
    "context": lambda whole: whole["data"][0]["paragraphs"][0].pop("context"),
    "context is empty": lambda whole: whole["data"][0]["paragraphs"][0].update(context=" "),
    "qas": lambda whole: whole["data"][0]["paragraphs"][0].pop("qas"),
    "question": lambda whole: _entry(whole).pop("question"),
    "answers": lambda whole: _entry(whole).pop("answers"),
    "answers of nothing": lambda whole: _entry(whole).update(answers=[]),
    "answers of texts": lambda whole: _entry(whole).update(answers=["Paris"]),
    "text": lambda whole: _entry(whole)["answers"][0].pop("text"),
    "text is a number": lambda whole: _entry(whole)["answers"][0].update(text=7),
    "answer_start": lambda whole: _entry(whole)["answers"][0].pop("answer_start"),
    "answer_start is true": lambda whole: _entry(whole)["answers"][0].update(answer_start=True),
    "answer_start is negative": lambda whole: _entry(whole)["answers"][0].update(answer_start=-1),
    "answer_start is wrong": lambda whole: _entry(whole)["answers"][0].update(answer_start=1),
    "answer_start is behind the end": lambda whole: _entry(whole)["answers"][0].update(answer_start=10**9),
    "is_impossible": lambda whole: _entry(whole).update(is_impossible="no"),
    "is_impossible with answers": lambda whole: _entry(whole).update(is_impossible=True),
    "half of a character": lambda whole: _entry(whole).update(question="\ud800?"),
}


# Changes whose message names another key, the place or the answer.
UNNAMED = ("paragraphs", "answers", "text", "answer_start is", "half")


def test_a_broken_file_is_refused_by_name_and_key(subtests: pytest.Subtests) -> None:
    for name in BROKEN:
        with subtests.test(name=name):
            whole = squad(PASSAGES)
            BROKEN[name](whole)
            with pytest.raises(UserError) as refusal:
                parse_questions(File("mine.json", json.dumps(whole).encode()))
            assert refusal.value.message.startswith("mine.json: ")
            assert (name.split()[0] in refusal.value.message) or name.startswith(UNNAMED)


def test_no_squad_file_is_refused(subtests: pytest.Subtests) -> None:
    for content in [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"data": []}', b"id,text\n1,a\n"]:
        with subtests.test(content=content), pytest.raises(UserError, match=r"^mine\.json"):
            parse_questions(File("mine.json", content))


def test_too_large_files_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    (tmp_path / "mine.json").write_text(json.dumps(squad(PASSAGES)))
    with pytest.raises(UserError, match=r"^mine\.json"):
        load_questions(tmp_path / "mine.json", None, None)


def test_division_keeps_passages_whole() -> None:
    some = [PassageQuestion(str(at), "Who?", f"passage {at // 3}", ()) for at in range(90)]
    divided = split_questions(some, ["dev", "test"], seed=3)
    passages = [{row.passage for row in rows} for rows in divided.values()]
    assert sum(map(len, divided.values())) == 90
    assert not passages[0] & passages[1] | passages[0] & passages[2] | passages[1] & passages[2]
    assert divided == split_questions(some, ["dev", "test"], seed=3) != split_questions(some, ["dev", "test"], seed=4)


def test_two_questions_are_too_few_to_divide() -> None:
    with pytest.raises(UserError):
        split_questions([PassageQuestion("1", "Who?", "a", ())] * 2, ["dev", "test"], seed=0)


def test_our_own_questions_are_in_the_format() -> None:
    found = load_questions(ROOT / "assets" / "tasks" / "questions-en.json", None, None)
    assert found.no_answer
    rows = [*found.train, *found.dev, *found.test]
    assert len(rows) == 157
    assert sum(not row.answers for row in rows) == 31
