"""Results of a fine-tuned model on the page: sentences, figures, tables and choices."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from probing.labelled.predictions import load_predictions
from tests.support import toldfolders
from tests.support.asking import choose, notes, says
from tests.support.toldfolders import HOSTILE
from ui.pages.teach import results_rows
from ui.pages.teach.results import headline
from ui.pages.teach.results_data import EvaluationResults, evaluation_provenance, load_results
from ui.pages.teach.results_figures import describe_worst
from ui.state.view_state import ViewState
from viz.paper.notebook import figure_methods

TAGGED = [
    ("Ann sings in Rome", "B-PER O O B-LOC", "B-PER O O O", (0.9, 0.8, 0.99, 0.97)),
    ("Rome met Bo", "B-LOC O B-PER", "B-PER O B-PER", (0.6, 0.9, 0.95)),
    ("nobody here", "O O", "O O", (0.9, 0.8)),
]


def script(folder: str) -> None:
    from pathlib import Path

    from ui.pages.teach.results import draw_results
    from ui.state.session import begin

    begin("teach")
    draw_results(Path(folder), "taught/tiny", Path(folder).name)


@pytest.fixture(autouse=True)
def linked(monkeypatch: pytest.MonkeyPatch) -> list[ViewState]:
    """Return the list of views that the page links to Explore."""
    found: list[ViewState] = []
    monkeypatch.setattr(results_rows, "explore_link", found.append)
    return found


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return toldfolders.drawn(tmp_path / "texts", classes=3, rows=60, right=0.7)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return toldfolders.words(tmp_path / "words", TAGGED)


def asked(folder: Path, **query: object) -> AppTest:
    page = AppTest.from_function(script, kwargs={"folder": str(folder)}, default_timeout=60)
    page.query_params.update({name: str(value) for name, value in query.items()})
    page.run()
    assert not page.exception
    return page


def strips(page: AppTest) -> list[Any]:
    """Return the data of all token strips on the page."""
    parts = [part.proto for part in page.get("bidi_component") if part.proto.component_name == "headlight_strip"]
    return [json.loads(part.json) for part in parts]


def changed(found: EvaluationResults, **scores: object) -> EvaluationResults:
    """Return the results with other saved scores."""
    return replace(found, predictions=replace(found.predictions, scores={**found.predictions.scores, **scores}))


def test_the_page_has_figures_tables_and_the_surest_mistakes(texts: Path, linked: list[ViewState]) -> None:
    page = asked(texts)
    titles = [strip["title"] for strip in strips(page)]
    assert len(titles) == 6
    assert all(title.startswith("Miss · predicted ") for title in titles)
    assert [heading.value for heading in page.header] == [
        "Scores by label", "Confusion matrix", "Test rows", "Calibration",
    ]  # fmt: skip
    assert len(page.get("plotly_chart")) == 2
    assert len(page.get("download_button")) == 4
    assert {choice.model for choice in linked} == {"taught/tiny"}
    says(page, "scored 1×")


def test_a_cell_of_the_address_opens_its_rows_and_the_lists_choose_another(texts: Path) -> None:
    found = load_predictions(texts)
    inside = [row for row in found.rows if row.pairs == ((1, 1),)]
    page = asked(texts, true=1, said=1, outcome="all")
    says(page, f"{len(inside)} test rows")
    assert all(strip["title"].startswith("Hit") for strip in strips(page))
    true, said = page.selectbox
    assert (true.label, true.value, said.value) == ("True label", 1, 1)
    assert true.options == ["any", *found.labels]
    true.set_value(-1).run()
    assert not page.exception
    says(page, f"{sum(row.pairs[0][1] == 1 for row in found.rows)} test rows")
    assert page.query_params["said"] == "1"
    assert "true" not in page.query_params
    choose(page, "Shown", "misses")
    assert all(strip["title"].startswith("Miss") for strip in strips(page))


def test_rows_that_are_all_right_are_shown(tmp_path: Path) -> None:
    folder = toldfolders.texts(tmp_path, ("a", "b"), [("one", 0, (0.9, 0.1)), ("two", 1, (0.2, 0.8))])
    assert [strip["title"][:3] for strip in strips(asked(folder))] == ["Hit", "Hit"]


def test_a_label_that_is_not_there_is_no_cell(texts: Path) -> None:
    says(asked(texts, true=99, said=0), "19 test rows")


@pytest.mark.slow
def test_names_are_marked_by_form_and_in_words(words: Path) -> None:
    page = asked(words, outcome="all", true=1)
    first, second = strips(page)
    marks = [
        [(chip["text"], chip.get("mark", ""), chip.get("label", "")) for chip in strip["chips"]]
        for strip in (first, second)
    ]
    assert ("Ann", "right", "PER") in marks[0] + marks[1]
    assert ("Rome", "missed", "missed LOC") in marks[0] + marks[1]
    assert ("Rome", "wrong", "predicted PER, true LOC") in marks[0] + marks[1]
    shaded = [chip["text"] for strip in (first, second) for chip in strip["chips"] if chip.get("shade")]
    assert shaded == ["Rome", "Rome"], "the words of the chosen row of the matrix"
    says(page, "0.571 (")


def test_a_label_that_looks_like_markup_or_turns_the_line_stays_text(texts: Path) -> None:
    page = asked(texts)
    quoting = [sentence for sentence in notes(page) if "<b>shout" in sentence]
    assert quoting
    assert all(sentence.count("\u2068") == sentence.count("\u2069") > 0 for sentence in quoting)


@pytest.mark.parametrize(
    ("counted", "sentence"),
    [
        (0.5, "of 60 rows: baseline (TF-IDF, logistic regression) 30 (50.0%), model 42."),
        (0.9, ") 54 ("),
        (None, ") 42 ("),
    ],
)
def test_where_counting_words_wins_the_page_says_so(texts: Path, counted: float | None, sentence: str) -> None:
    found = load_results(texts)
    test = {**found.predictions.test, "accuracy": 0.7, "baseline_accuracy": 0.7 if counted is None else counted}
    assert sentence in headline(changed(found, test=test))[1]


@pytest.mark.parametrize(
    ("model", "baseline", "p"), [(0, 0, "= 1"), (8, 0, "= 0.0078"), (2, 10, "= 0.039"), (40, 5, "< ")]
)
def test_the_lead_over_the_baseline_has_a_paired_p(texts: Path, model: int, baseline: int, p: str) -> None:
    found = load_results(texts)
    test = {**found.predictions.test, "only_model_right": model, "only_baseline_right": baseline}
    assert f"Sign test, two-sided: p {p}" in headline(changed(found, test=test))[1]


def test_a_model_that_says_one_label_of_everything_has_collapsed(tmp_path: Path) -> None:
    rows = [("a", 0, (0.9, 0.1)), ("b", 1, (0.8, 0.2))]
    alike = load_results(toldfolders.texts(tmp_path / "texts", (HOSTILE, "b"), rows))
    assert any("collapse" in sentence for sentence in headline(alike))
    nothing = toldfolders.words(tmp_path / "words", [("a b", "B-X O", "O O", (0.9, 0.9))])
    says(asked(nothing), "collapsed")
    says(asked(nothing), "no word")


def test_a_training_that_was_stopped_says_so(texts: Path) -> None:
    found = load_results(texts)
    assert "stopped early" in headline(changed(found, finished=False))[-1]
    assert "stopped" not in headline(found)[-1]


def test_the_settings_are_in_the_sentence_and_in_the_methods(texts: Path) -> None:
    recipe = {"rate": 0.0002, "batch": 16, "length": 64, "frozen layers": 0}
    found = changed(load_results(texts), data="own.csv", epochs=50.0, recipe=recipe, weights_sha256="28537960")
    assert "50 steps (50.0 epochs, batch 16, learning rate 0.0002) in" in headline(found)[-1]
    said = figure_methods("Scores", evaluation_provenance(found.predictions.scores, "taught/tiny"), "")
    assert said.startswith("Scores: 60 test rows of own.csv, taught/tiny (weights SHA-256 28537960); computed")
    for part in ("epochs: 50.0;", "batch: 16;", "peak learning rate: 0.0002;", "train rows: 1200;", "step: 40;"):
        assert part in said
    older = load_results(texts)
    assert "not recorded) in" in headline(older)[-1]
    said = figure_methods("Scores", evaluation_provenance(older.predictions.scores, "taught/tiny"), "")
    for part in ("epochs", "batch", "peak learning rate", "(data set", "weights SHA-256"):
        assert re.search(rf"{re.escape(part)}:? not recorded", said), part


def test_many_labels_are_added_up_in_the_figure_and_the_reader_says_how_many(tmp_path: Path) -> None:
    page = asked(toldfolders.drawn(tmp_path, classes=30, rows=90, right=0.8), classes=20)
    (shown,) = (box for box in page.number_input if box.label == "Labels shown")
    assert shown.value == 20


def test_what_cannot_be_read_is_said(texts: Path) -> None:
    (texts / "predictions.jsonl").write_text("{", encoding="utf-8")
    assert "predictions.jsonl is missing or damaged" in notes(asked(texts), "refusal")[0]


def test_the_worst_cell_is_named() -> None:
    assert "“\u2068a\u2069” is predicted as “\u2068b\u2069” (3 of 5)" in describe_worst(
        np.array([[2, 3], [1, 9]]), ["a", "b"], "rows"
    )
    assert describe_worst(np.eye(2, dtype=np.int64), ["a", "b"], "rows") == "All 2 rows are right."


def test_rows_that_are_written_anew_are_read_anew(texts: Path) -> None:
    before = load_results(texts)
    assert load_results(texts) is before, "counted once"
    file = texts / "predictions.jsonl"
    written = file.stat().st_mtime_ns
    file.write_text("".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:10]), encoding="utf-8")
    os.utime(file, ns=(written, written + 1))
    assert len(load_results(texts).rows) == 10


def test_texts_that_were_cut_are_counted(texts: Path) -> None:
    found = load_results(texts)
    long = changed(found, cut={"texts": 14, "of": 4403, "length": 64})
    said = "14 of 4,403 texts were cut to 64 tokens."
    assert said in headline(long)
    assert not any("were cut" in line for line in headline(found))
    assert not any("were cut" in line for line in headline(changed(found, cut={"texts": 0, "of": 9, "length": 64})))
