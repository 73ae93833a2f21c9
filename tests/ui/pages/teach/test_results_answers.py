"""Results of a model that answers questions: headline, marks in the passage, filters, and hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from inference.errors import UserError
from probing.labelled.answer_predictions import load_answers
from probing.labelled.answer_scores import score_answer
from probing.labelled.squad import GoldAnswer, PassageQuestion
from tests.support.asking import notes
from ui.pages.teach import results_answers
from ui.pages.teach.results_answers import headline, mark_answers, title
from ui.state.view_state import ViewState

PASSAGE = "Ann lives in the old town of Paris. <b>Bob</b> lives in Rome."
SAID = [("Where does Ann live?", "old town", "town of Paris"), ("Where does Bob live?", "Rome", "Rome"),
        ("Who sings?", "", ""), ("Who sleeps?", "Bob", ""), ("What is old?", "", "town"),
        ("Where is Bob?", "Rome", "Rome")]  # fmt: skip


def script(folder: str) -> None:
    """Draw the results; AppTest runs this function as a script."""
    from pathlib import Path

    from ui.pages.teach.results_answers import draw_answers

    draw_answers(Path(folder), "taught/tiny")


def line(number: int, question: str, said: str, gold: str) -> dict[str, Any]:
    """Return a line of predictions.jsonl."""
    golds = (GoldAnswer(gold, PASSAGE.index(gold)),) if gold else ()
    exact, f1 = score_answer(said, PassageQuestion("", question, PASSAGE, golds), no_answer=True)
    return {
        "id": str(number), "question": question, "passage": PASSAGE, "answers": [gold] if gold else [],
        "answer_starts": [one.start for one in golds], "said": said,
        "answer_start": PASSAGE.index(said) if said else None, "probability": 0.5, "exact_match": exact, "f1": f1,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scores = {
        "task": "answer", "model": "tiny", "seed": 3, "no_answer": True, "steps": 50, "seconds": 90.0, "finished": True,
        "rows": {"train": 126, "dev": 16, "test": len(SAID)}, "dev": {"f1": 0.5, "step": 40},
    }  # fmt: skip
    (tmp_path / "evaluation.json").write_text(json.dumps(scores), encoding="utf-8")
    lines = (json.dumps(line(number, *row)) + "\n" for number, row in enumerate(SAID))
    (tmp_path / "predictions.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_means_are_those_of_the_rows_and_wrong_answers_come_first(folder: Path) -> None:
    found = load_answers(folder)
    assert [row.hit for row in found.rows] == [False] * 3 + [True] * 3
    f1 = [row.f1 for row in found.rows]
    assert found.f1.mean[0] == pytest.approx(np.mean(f1))
    assert found.f1.low[0] < np.mean(f1) < found.f1.high[0]
    assert found.lead.mean[0] == pytest.approx(np.mean(f1) - np.mean([row.baseline for row in found.rows]))
    text = " ".join(headline(found))
    assert f"{np.mean(f1):.3f}" in text
    assert "50.0%" in text
    assert "of 6 questions" in text


def test_each_word_has_the_verdict_of_the_answers_that_cover_it(folder: Path) -> None:
    (row,) = (row for row in load_answers(folder).rows if row.said == "old town")
    marks = {chip.text: chip.mark for chip in mark_answers(row)}
    assert (marks["old"], marks["town"], marks["of"], marks["Paris."], marks["Ann"]) == (
        "wrong", "right", "missed", "missed", "")  # fmt: skip


def test_long_passages_are_shown_around_the_answers(folder: Path) -> None:
    row = next(row for row in load_answers(folder).rows if row.said == "Rome")
    start = len(long := "word " * 5_000)
    asked = PassageQuestion("1", "Who?", f"{long}Rome. {long}", (GoldAnswer("Rome", start),))
    from dataclasses import replace

    chips = list(mark_answers(replace(row, asked=asked, place=(start, start + 4))))
    assert len(chips) < 60
    assert chips[0].text == chips[-1].text == "…"
    assert [chip.mark for chip in chips if chip.mark] == ["right"]


def test_titles_name_no_answer_and_both_answers(folder: Path) -> None:
    titles = {row.asked.question: title(row) for row in load_answers(folder).rows}
    assert "Bob" in titles["Who sleeps?"]
    assert titles["Who sleeps?"].count("no answer") == 1
    assert titles["Who sings?"].count("no answer") == 1
    assert titles["Where does Ann live?"].count("“") == 3


def test_the_page_lists_every_row_and_filters_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[ViewState] = []
    monkeypatch.setattr(results_answers, "answering_link", links.append)
    saved: list[list[object]] = []

    def keep_rows(_names: object, rows: list[object]) -> str:
        saved.append(list(rows))
        return ""

    monkeypatch.setattr(results_answers, "csv_table", keep_rows)
    page = AppTest.from_function(script, kwargs={"folder": str(folder)}, default_timeout=60)
    page.session_state["view"] = "teach"
    page.query_params["outcome"] = "misses"
    page.run()
    assert not page.exception
    strips = [part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_strip"]
    assert len(strips) == 3
    assert [len(rows) for rows in saved] == [len(load_answers(folder).rows)], "the file has all rows"
    assert {link.pair for link in links} == {PASSAGE}
    assert {link.model for link in links} == {"taught/tiny"}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("evaluation.json", ""),
        ("evaluation.json", "{}"),
        ("evaluation.json", "[" * 100_000),
        ("predictions.jsonl", ""),
        ("predictions.jsonl", "{}\n"),
        ("predictions.jsonl", '{"text": "a fine film"}\n'),
    ],
)
def test_damaged_files_are_named_in_a_sentence(folder: Path, file: str, content: str) -> None:
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as refusal:
        load_answers(folder)
    assert file in refusal.value.message
    page = AppTest.from_function(script, kwargs={"folder": str(folder)}, default_timeout=60).run()
    assert not page.exception
    assert any(file in note for note in notes(page, "refusal"))
