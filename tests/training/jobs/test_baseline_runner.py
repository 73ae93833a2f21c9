"""The runner of baselines: serial runs, cancellation, time limit and failures."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest

from inference.errors import UserError
from tests.support.repository import ROOT
from training.jobs import baseline_runs
from training.jobs.baseline_runs import BUSY, FULL, BaselineRequest, BaselineRunner, BaselineStatus

ASK, OTHER = BaselineRequest("parity", "lstm"), BaselineRequest("order", "lstm")
PROGRAM = {
    "waits": "(folder / 'progress.jsonl').write_text('[40, 0.5]\\n[80, 0.'); time.sleep(60)",
    "fails": "sys.exit('No room in /srv/models/here')",
    "learns": f"shutil.copy({str(ROOT / 'assets' / 'rivals' / baseline_runs.FILE)!r}, folder)",
}


def line(what: str, folder: Path, longest: float = 60.0) -> BaselineRunner:
    """Return a runner that executes the stub program ``what`` instead of training."""
    program = folder / f"{what}.py"
    head = "import shutil, sys, time\nfrom pathlib import Path\nfolder = Path(sys.argv[-1])\n"
    program.write_text(head + textwrap.dedent(PROGRAM[what]))
    return BaselineRunner((sys.executable, str(program)), longest)


def ended(runs: BaselineRunner, ask: BaselineRequest = ASK) -> BaselineStatus:
    """Wait until no run is active and return the status of ``ask``."""
    runs.wait()
    return runs.look(ask)


def test_what_was_trained_is_there_for_whoever_asks_for_it(tmp_path: Path) -> None:
    runs = line("learns", tmp_path)
    assert runs.look(ASK) == BaselineStatus("unasked")
    runs.start(ASK)
    seen = ended(runs)
    assert seen.state == "done"
    assert seen.found == baseline_runs.read(ROOT / "assets" / "rivals" / baseline_runs.FILE)
    runs.start(ASK)  # The recorded run is reused.
    assert runs.look(ASK) == seen


def test_one_at_a_time_and_it_can_be_stopped(tmp_path: Path) -> None:
    runs = line("waits", tmp_path)
    runs.start(ASK)
    runs.start(ASK)
    with pytest.raises(UserError, match=re.escape(BUSY)):
        runs.start(OTHER)
    assert runs.look(ASK).state == "running"
    runs.stop(OTHER)
    assert runs.look(ASK).state == "running"
    runs.stop(ASK)
    assert ended(runs) == BaselineStatus("stopped")


def test_a_line_that_is_half_written_is_not_read(tmp_path: Path) -> None:
    (tmp_path / baseline_runs.PROGRESS).write_text("[40, 0.5]\n[80, 0.")
    assert baseline_runs.losses(tmp_path / baseline_runs.PROGRESS) == ((40, 0.5),)
    assert baseline_runs.losses(tmp_path / "none") == ()


def test_a_failure_is_told_without_paths_of_the_machine(tmp_path: Path) -> None:
    runs = line("fails", tmp_path)
    runs.start(ASK)
    seen = ended(runs)
    assert (seen.state, seen.said) == (
        "failed",
        "This training ended unexpectedly. Its last output: No room in …",
    )


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    runs = line("waits", tmp_path, longest=0.01)
    runs.start(ASK)
    assert ended(runs) == BaselineStatus("failed", said=baseline_runs.TOO_LONG)


def test_no_more_are_kept_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_runs, "MOST_KEPT", 1)
    runs = line("learns", tmp_path)
    runs.start(ASK)
    runs.wait()
    with pytest.raises(UserError, match=re.escape(FULL)):
        runs.start(OTHER)
