"""Progress of a training, visible to everybody with its link and controlled by its owner only."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inference.files import sources
from tests.support.asking import LONGEST, go, notes, press, says, stands
from tests.support.repository import ROOT
from tests.support.taughtfolders import evaluation, plan, put, step, taught_in
from training.jobs import job as jobs
from training.jobs.job import Training
from training.jobs.queue import NO_JOB
from ui.pages.teach.own_files import WANTED
from ui.pages.teach.training_progress import BASELINES, NOT_RECORDED, curve_provenance
from ui.run.fine_tuning import queue
from viz.paper.notebook import figure_methods

ME = "a" * 22
MINE = hashlib.sha256(ME.encode()).hexdigest()[:32]
HALF_WAY = [plan(133), {"kind": "baseline", "accuracy": 0.75}, evaluation(0, accuracy=0.2), step(20, 1.5),
            evaluation(20, accuracy=0.9), step(40, 0.5)]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path) as place:
        yield place


def opened(job: Training, **query: str) -> AppTest:
    """Return the page at the link of a training, for visitor ``ME``."""
    page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    page.session_state["visitor"] = ME
    go(page, "teach", job=job.id, **query)
    stands(page)
    return page


def buttons(page: AppTest) -> set[str]:
    return {button.label for button in page.button} & {"Stop", "Go on"}


def bar(page: AppTest) -> Any:
    (found,) = page.get("progress")
    return found.proto


def test_one_that_waits_says_how_many_come_first(place: Path) -> None:
    put(place, "running")
    put(place, "waiting", owner="another")
    last = put(place, "waiting", owner=MINE)
    page = opened(last)
    says(page, "before it: 2.")
    assert buttons(page) == {"Stop"}


def test_one_that_learns_says_how_far_it_is_and_what_counting_words_reaches(place: Path) -> None:
    page = opened(put(place, lines=HALF_WAY, owner=MINE))
    assert bar(page).text == "Training: step 40 of 133, about 1.6 minutes left"
    assert bar(page).value == 30
    says(page, ": 0.750.")
    says(page, "accuracy 0.900 at")
    says(page, "· <b>tiny<")  # Markup is shown as text.
    assert len(page.get("plotly_chart")) == 2
    press(page, "Stop")
    says(page, "Stopping")
    assert not buttons(page)


def test_the_best_step_is_that_of_the_saved_weights(place: Path) -> None:
    tied = [plan(133), evaluation(20, accuracy=1.0), evaluation(40, accuracy=1.0),
            {**evaluation(60, accuracy=1.0), "best": False}]  # fmt: skip
    says(opened(put(place, lines=tied)), "accuracy 1.000 at step 40.")


def test_the_methods_of_the_curves_name_the_model_once_and_every_setting(place: Path) -> None:
    job = put(place, lines=HALF_WAY)
    facts = {"batch": 16, "rate": 0.0002, "length": 64, "train_rows": 22, "dev_rows": 4, "steps_per_epoch": 2}
    (place / job.id / "model" / "run" / "task.json").write_text(json.dumps(facts))
    said = figure_methods("Dev score", curve_provenance(queue().look(job.id), 0.75), "")
    assert said.startswith("Dev score: Toys, characters; computed with")
    settings = "train rows: 22; dev rows: 4; planned steps: 133; epochs: 66.5; batch: 16; peak learning rate: 0.0002;"
    for part in (settings, "frozen layers: 0;", "lowest dev loss", "logistic regression 0.750"):
        assert part in said
    earlier = {name: value for name, value in facts.items() if name != "steps_per_epoch"}
    (place / job.id / "model" / "run" / "task.json").write_text(json.dumps(earlier))
    assert curve_provenance(queue().look(job.id), 0.75)["epochs"] == NOT_RECORDED


def test_nobody_else_can_stop_it(place: Path) -> None:
    for state in ("running", "stopped", "failed", "waiting"):
        assert not buttons(opened(put(place, state, lines=HALF_WAY, owner="another")))


def test_the_twin_learns_while_the_results_are_there(place: Path) -> None:
    page = opened(put(place, phase="twin", lines=HALF_WAY, twin=[plan(66), step(33, 1.9)], saved=True))
    assert bar(page).text == "Training control 1 of 2: step 33 of 66, about 0.6 minutes left"
    assert "Training curves" in [expander.label for expander in page.expander]
    page = opened(put(place, phase="changes", lines=HALF_WAY, saved=True))
    assert bar(page).text.startswith("Computing the comparison")


def test_one_that_was_stopped_can_go_on(place: Path) -> None:
    job = put(place, "stopped", lines=HALF_WAY, owner=MINE, saved=True)
    page = opened(job)
    says(page, "Step 40 of 133; ")
    (place / job.id / sources.MODEL / sources.SCORES).write_text('{"steps": 47}')
    says(opened(job), "Step 47 of 133; ")  # the true number; the log has no line for each step
    press(page, "Go on")
    assert jobs.status(place / job.id).state == "waiting"
    says(page, "begins now")
    unsaved = opened(put(place, "stopped", lines=[plan(133)], owner=MINE))
    says(unsaved, "saved yet")
    press(unsaved, "Remove")
    assert "Remove permanently" in {button.label for button in unsaved.button}
    others = opened(put(place, "stopped", lines=[plan(133)]))
    assert "Remove" not in {button.label for button in others.button}
    says(opened(put(place, "stopped", "twin", "The app ended.", saved=True)), "app ended")


def test_what_the_queue_refuses_is_said_and_loses_nothing(place: Path) -> None:
    for _ in range(3):
        put(place, "waiting", owner=MINE)
    page = opened(put(place, "stopped", lines=HALF_WAY, owner=MINE))
    press(page, "Go on")
    says(page, "3 of your")
    assert buttons(page) == {"Go on"}


def test_one_that_is_removed_meanwhile_is_gone_at_the_next_look(place: Path) -> None:
    job = put(place, lines=HALF_WAY, owner=MINE)
    page = opened(job)
    shutil.rmtree(place / job.id)
    press(page, "Stop")
    says(page, NO_JOB)


def test_one_that_failed_says_why(place: Path) -> None:
    page = opened(put(place, "failed", said="The model <i>x</i> cannot be trained.", owner=MINE))
    assert notes(page, "refusal") == ["The model <i>x</i> cannot be trained."]
    assert buttons(page) == {"Go on"}


def test_a_collapse_is_said_until_it_is_over(place: Path) -> None:
    collapsed = [plan(99), evaluation(10, "a", accuracy=0.3), evaluation(20, "a", accuracy=0.3),
                 {"kind": "collapse", "step": 20, "only": "a"}]  # fmt: skip
    page = opened(put(place, lines=collapsed))
    assert notes(page, "refusal")[0].startswith("Two evaluations predicted “a”")
    over = [*collapsed, evaluation(30, accuracy=0.6)]
    assert notes(opened(put(place, lines=over)), "refusal") == []
    names = [plan(99), evaluation(20, "O", f1=0.0), {"kind": "collapse", "step": 20, "only": "O"}]
    page = opened(put(place, lines=names, kind="tag", data="wnut-17"))
    assert notes(page, "refusal")[0].startswith("Two evaluations predicted “O”")
    says(page, "F1 0.000 at")


def test_a_line_that_is_half_written_is_waited_for(place: Path) -> None:
    job = put(place, lines=HALF_WAY)
    curves = place / job.id / "model" / "run" / "metrics.jsonl"
    curves.write_text(curves.read_text() + '{"kind": "step", "step": 4')
    assert bar(opened(job)).text.startswith("Training: step 40 of 133")


def test_a_link_to_nothing_leads_back_to_the_data(place: Path) -> None:
    gone = put(place / "elsewhere", lines=HALF_WAY)
    page = opened(gone, data="own")
    says(page, NO_JOB)
    press(page, "New training")
    assert "job" not in page.query_params
    says(page, WANTED["classify"])  # The previous choice is restored.


def test_a_model_that_answers_has_its_curves_and_no_comparison(place: Path) -> None:
    lines = [plan(99), {"kind": "baseline", "f1": 0.125}, evaluation(20, f1=0.5, exact_match=0.25), step(20, 1.5)]
    page = opened(put(place, "done", lines=lines, kind="answer", data="questions-en", saved=True), show="changed")
    says(page, "F1 0.500 at")
    says(page, ": 0.125.")
    scores = page.get("plotly_chart")[0].proto.spec
    assert BASELINES["answer"] in scores
    assert BASELINES["classify"] not in scores
    found = [group.proto for group in page.get("button_group")]
    assert [len(group.options) for group in found] == [2]
