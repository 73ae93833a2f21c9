"""Changes in a fine-tuned model's heads on the page: sentences, selected head, snapshots and file."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.edits import Ablate
from attention.spreadsheet import MARK
from attention.tokens import TokenRow
from inference.tasks.edit_effects import Effect
from inference.tasks.labels import CHOICE, LabelAnswer, WordTags
from probing.fine_tuning_changes import compare_drift, load_by_model
from tests.support.asking import LONGEST, notes, says
from tests.support.comparedfolders import LOOK, SHOWN, job
from ui.pages.teach.changes_effects import effects_without
from ui.pages.teach.changes_results import (
    HEADS,
    change_provenance,
    describe_changes,
    describe_head,
    describe_wait,
    heads_csv,
    heads_provenance,
    load_changes,
)
from ui.show.text import TOO_FEW
from viz.paper.notebook import figure_methods


def script(folder: str) -> None:
    """Draw the fragment on a page of its own, with links replaced by plain text."""
    from dataclasses import replace
    from pathlib import Path

    import streamlit as st

    from tests.support.comparedfolders import LOOK
    from ui.pages.teach.changes import draw_changes
    from ui.state.session import begin

    def link(_page: str, *, label: str, query_params: dict[str, str], **_more: object) -> None:
        st.html(f'<p class="headlight-note">{label}: {sorted(query_params.items())}</p>')

    st.page_link = link  # type: ignore[assignment]
    begin("teach")
    draw_changes(replace(LOOK, folder=Path(folder)))


@pytest.fixture
def plain_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore ``st.page_link`` after a test, because the script replaces it."""
    import streamlit as st

    monkeypatch.setattr(st, "page_link", st.page_link)


def shown(folder: Path, **query: object) -> AppTest:
    page = AppTest.from_function(script, default_timeout=LONGEST, kwargs={"folder": str(folder)})
    page.query_params.update({name: str(value) for name, value in query.items()})
    page.run()
    assert not page.exception
    return page


@pytest.mark.usefixtures("plain_links")
def test_it_says_how_far_the_maps_came_and_how_far_they_come_anyway(tmp_path: Path) -> None:
    job(tmp_path)
    page = shown(tmp_path)
    says(page, "shuffled labels")
    says(page, "1 of 6 heads")
    says(page, "chance (1-2)")
    says(page, "at most 5 of 100")
    says(page, "Head 1-2 changed")  # The head furthest beyond chance is selected.
    says(page, "It exceeds")
    says(page, "[('beside', 'taught/")
    assert [box.label for box in page.selectbox] == ["Sentence"]
    assert [slider.value for slider in page.select_slider] == [3]


@pytest.mark.slow
@pytest.mark.usefixtures("plain_links")
def test_the_address_brings_back_head_sentence_rows_and_frame(tmp_path: Path) -> None:
    job(tmp_path)
    page = shown(tmp_path, moved=1, example=2, rows="telling", frame=2)
    says(page, "Head 0-1 changed")
    says(page, "of [CLS]")
    assert page.selectbox[0].value == 2
    assert page.select_slider[0].value == 2
    page = shown(tmp_path, moved=77, example=9, frame=9)  # The address belongs to another model.
    says(page, "Head 1-2 changed")
    assert page.selectbox[0].value == SHOWN
    assert page.select_slider[0].value == 3


@pytest.mark.usefixtures("plain_links")
def test_what_was_not_filmed_or_has_no_tagged_word_is_said_or_left_out(tmp_path: Path) -> None:
    job(tmp_path, film=False, telling=False)
    page = shown(tmp_path)
    assert not page.select_slider
    assert notes(shown(tmp_path, rows="telling"))[-1].startswith("The sentences have no tagged word")


class Answering:
    """A backend whose label loses a tenth of a logit per head index, or that predicts no entity."""

    def predict(self, question: Any) -> Any:
        row = TokenRow(("hi",), (7,), (0,), (0,), ((0, 2),))
        if isinstance(question, WordTags):
            return LabelAnswer(row, ("O", "B-PER"), CHOICE, (), np.zeros((0, 2), np.float32))
        lost = [0.1 * (3 * one.layer + one.head) for (one,) in question.edits[1:]]
        return Effect(np.array([[1.0, 3.0], *([1.0, 3.0 - less] for less in lost)], np.float32), ("a", "b"))


@pytest.mark.slow
@pytest.mark.usefixtures("plain_links")
def test_what_each_head_is_used_for_stands_beside_what_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.pages.teach.changes_effects.get_backend", Answering)
    job(tmp_path)
    page = shown(tmp_path, removed=1, moved=4)
    says(page, "interval 0.400 to 0.400)")
    says(page, "head 1-1 changes")
    says(page, "by 0.40")
    says(page, "Rank correlation")
    assert [toggle.value for toggle in page.toggle] == [True]
    assert not any("Rank correlation" in said for said in notes(shown(tmp_path)))


def test_sentences_in_which_nothing_is_tagged_tell_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.pages.teach.changes_effects.get_backend", Answering)
    tagging = replace(LOOK, job=replace(LOOK.job, kind="tag"))
    assert effects_without(tagging, "hi", [(Ablate(0, 1),)]) is None
    told = effects_without(LOOK, "hi", [(Ablate(0, 1),), (Ablate(1, 2),)])
    assert told is not None
    np.testing.assert_allclose(told, [-0.1, -0.5], atol=1e-6)


def test_nothing_that_moved_is_said_to_be_nothing(tmp_path: Path) -> None:
    found = load_changes(job(tmp_path, task=1e-6).folder / "changes", "all")
    assert found is not None
    (unchanged,) = describe_changes(found)
    found = load_changes(job(tmp_path / "other", step=0).folder / "changes", "all")
    assert found is not None
    assert describe_changes(found) == [unchanged]


def test_too_few_sentences_for_the_test_give_no_count_of_heads(tmp_path: Path) -> None:
    folder = job(tmp_path).folder / "changes"
    found = load_changes(folder, "all")
    assert found is not None
    each = load_by_model(folder, "all")
    few = replace(found, across=compare_drift(each["task"][:4], each["twin"][:4]))
    (mean,) = describe_changes(few)
    assert mean.endswith(TOO_FEW)
    assert describe_head(few, (1, 2)).endswith(TOO_FEW)
    assert "significantly more than in the controls: 1" in describe_changes(found)[1]


@pytest.mark.parametrize(
    ("state", "phase", "said"),
    [
        ("running", "teach", "shuffled-label"),
        ("running", "twin", "Training control 2 of 2: step 30 of 90"),
        ("running", "changes", "Computing the comparison"),
        ("stopped", "twin", "“Go on”"),
        ("failed", "twin", "The comparison failed. The disk is full."),
    ],
)
def test_what_it_waits_for_is_said(tmp_path: Path, state: Any, phase: Any, said: str) -> None:
    run = tmp_path / "twin" / "run"
    run.mkdir(parents=True)
    lines = (
        '{"kind": "plan", "step": 0, "last": 90, "twin": 1}\n{"kind": "step", "step": 30, "loss": 1, "seconds": 9.0}\n'
    )
    (run / "metrics.jsonl").write_text(lines, encoding="utf-8")
    assert said in describe_wait(replace(LOOK, state=state, phase=phase, said="The disk is full.", folder=tmp_path))


def test_the_file_has_every_head_for_both_kinds_of_rows(tmp_path: Path) -> None:
    look = job(tmp_path)
    found = load_changes(look.folder / "changes", "all")
    assert found is not None
    assert change_provenance(look, found)["training"] == "=<b>a task</b>"
    rows = list(csv.DictReader(io.StringIO(heads_csv(found).removeprefix(MARK))))
    assert list(rows[0]) == list(HEADS)
    assert [(row["map rows"], row["layer"], row["head"]) for row in rows] == [
        (rows, str(layer), str(head))
        for rows in ("all tokens", "label positions, the row of [CLS]")
        for layer in range(2)
        for head in range(3)
    ]
    assert [at for at, row in enumerate(rows) if row["beyond chance"] == "True"] == [5, 11]
    assert float(rows[5]["task (bits)"]) == pytest.approx(float(found.across.change.mean[5]))
    assert set(heads_provenance(look, found)["columns"]) < set(HEADS)


def test_the_methods_name_the_rows_the_measure_and_the_controls(tmp_path: Path) -> None:
    look = job(tmp_path)
    folder = look.folder / "changes"
    every, telling = (
        figure_methods("Task", change_provenance(look, found), "")
        for rows in ("all", "telling")
        if (found := load_changes(folder, rows)) is not None
    )
    assert "map rows: all tokens;" in every
    assert "map rows: label positions, the row of [CLS];" in telling
    for methods in (every, telling):
        assert "Jensen–Shannon divergence" in methods
        assert "controls: 2 trainings on shuffled labels, 40 steps each" in methods
