"""Recorded runs on the page "Why attention", and a run on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inference import UserError
from tests.support.asking import asked, go, notes, press, says, stands
from training.jobs import baseline_runs
from training.jobs.baseline_runs import BaselineRequest, BaselineStatus
from ui.pages.why_attention import train_one
from ui.pages.why_attention.recorded_runs import KEY, load_recorded, recorded_provenance


class Scripted:
    """A runner with preset statuses that records its requests."""

    def __init__(self) -> None:
        self.seen, self.busy = BaselineStatus("unasked"), False
        self.asked: list[BaselineRequest] = []

    def start(self, ask: BaselineRequest) -> None:
        if self.busy:
            raise UserError("Another one is trained.")
        self.asked.append(ask)
        self.seen = BaselineStatus("running", ((20, 1.5), (40, 1.0)))

    def stop(self, ask: BaselineRequest) -> None:
        self.asked.append(ask)
        self.seen = BaselineStatus("stopped")

    def look(self, _ask: BaselineRequest) -> BaselineStatus:
        return self.seen


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    found = Scripted()
    monkeypatch.setattr(train_one, "get_runs", lambda: found)
    return found


def _is_open(page: AppTest) -> bool:
    """Return True if the section of the recorded runs is open."""
    return bool(page.session_state[KEY])


@pytest.mark.slow
def test_a_link_says_the_task_and_the_moment() -> None:
    page = asked("why_attention", task="parity", when="before")
    stands(page)
    says(page, "is better")
    says(page, "Before training")
    (lstm,) = {run.chance for run in load_recorded().runs_of("parity", "lstm")}
    says(page, f"Guessing: {lstm:.3f}.")
    page.session_state[KEY] = False  # the visitor folds the section
    assert not _is_open(page.run())
    assert not _is_open(go(page, "why_attention", task="parity", when="before", n="64"))
    assert _is_open(go(page, "why_attention", task="order"))
    page = asked("why_attention")
    assert not _is_open(page)
    assert _is_open(go(page, "why_attention", when="before"))
    page = asked("why_attention", task="juggling")
    stands(page)
    says(page, "'juggling'")


@pytest.mark.slow
def test_one_is_trained_watched_and_stopped(runs: Scripted) -> None:
    page = asked("why_attention", task="order", network="lstm", off="norm", seed=99_999, steps=1)
    press(page, "Train")
    ask = BaselineRequest("order", "lstm", "", 999, 50)
    assert runs.asked == [ask]
    press(page, "Stop")
    assert runs.asked == [ask, ask]
    says(page, "Stopped. Nothing")
    runs.busy = True
    press(page, "Train")
    assert "Another one is trained." in notes(page, "refusal")
    stands(page)


@pytest.mark.slow
def test_what_was_trained_here_is_shown_beside_the_recorded_seeds(runs: Scripted, tmp_path: Path) -> None:
    one = load_recorded().runs_of("order", "transformer", "norm")[1]
    baseline_runs.write((one,), load_recorded().times, tmp_path / "found.json")
    runs.seen = BaselineStatus("done", found=baseline_runs.read(tmp_path / "found.json"))
    page = asked("why_attention", task="order", off="norm", seed=1)
    stands(page)
    says(page, " 0.00 at any")
    says(page, "256 tokens (× 16)")
    assert "Train" not in [button.label for button in page.button]


@pytest.mark.slow
def test_a_failure_is_said(runs: Scripted) -> None:
    runs.seen = BaselineStatus("failed", said="It was <b>ended</b>.")
    page = asked("why_attention")
    assert "It was <b>ended</b>." in notes(page, "refusal")


def test_the_saved_accuracies_state_their_seeds_and_texts() -> None:
    about = recorded_provenance()
    assert about["seeds"] == sorted({run.seed for run in load_recorded().runs})
    assert set(about["tasks"]) == {run.task for run in load_recorded().runs}
    assert "256" in about["answered_rightly"]
