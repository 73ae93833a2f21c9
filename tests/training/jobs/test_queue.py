"""The job queue: order, serial execution, cancellation, resumption and failures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from inference.errors import UserError
from probing.labelled.labeled_texts import LabeledDataset, LabeledText
from tests.support.cases import loop_over
from tests.support.trainings import Trainings, of, trainings
from training.jobs import job as jobs
from training.jobs import queue
from training.jobs import queue as queues
from training.jobs.job import UNREADABLE, Status
from training.jobs.queue import NO_JOB, TrainingQueue


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Trainings]:
    with trainings(tmp_path) as made:
        yield made


def test_one_at_a_time_and_a_visitors_second_waits_behind_the_others_first(line: Trainings) -> None:
    first = line.submit("waits")
    assert line.begun() == first.id
    second, third = line.submit("learns"), line.submit("learns")
    other = line.submit("learns", "bob")
    last = line.submit("learns", "bob")
    ahead = {job.id: line.queue.look(job.id).ahead for job in (first, other, second, last, third)}
    assert list(ahead.values()) == [0, 1, 2, 3, 4]
    assert line.queue.look(first.id).state == "running"
    assert {look.job.id for look in line.queue.jobs_of("bob")} == {other.id, last.id}
    line.queue.stop(first.id)
    assert [line.begun() for _ in range(4)] == [other.id, second.id, last.id, third.id]
    assert line.ended(third).state == "done"
    assert line.queue.look(first.id).state == "stopped"
    assert line.queue.look(first.id).said == ""


def test_jobs_of_one_visitor_come_in_their_order(line: Trainings) -> None:
    submitted = [line.submit("waits").id, line.submit("learns").id, line.submit("learns").id]
    begun = [line.begun()]
    line.queue.stop(begun[0])
    begun += [line.begun(), line.begun()]
    assert begun == submitted
    assert line.queue.wait(60)
    assert [look.job.id for look in line.queue.jobs_of("ann")] == submitted[::-1]


def test_what_waits_can_be_stopped_and_goes_on(line: Trainings) -> None:
    first, second = line.submit("waits"), line.submit("learns")
    line.begun()
    line.queue.stop(second.id)
    assert line.queue.look(second.id).state == "stopped"
    line.queue.go_on(second.id)
    assert line.queue.look(second.id).state == "waiting"
    line.queue.go_on(second.id)  # Resuming is idempotent.
    assert line.queue.look(second.id).ahead == 1
    line.queue.stop(first.id)
    assert line.begun() == second.id
    assert line.ended(second).state == "done"
    line.queue.go_on(second.id)
    assert line.queue.look(second.id).state == "done"


def test_the_phase_stays_when_a_job_goes_on(line: Trainings) -> None:
    job = line.submit("dies")
    line.begun()
    look = line.ended(job)
    jobs.set_status(look.folder, Status("stopped", "twin"))
    line.queue.go_on(job.id)
    assert line.queue.look(job.id).phase == "twin"
    line.begun()


def test_a_process_that_says_that_memory_ran_out_is_told_so(line: Trainings) -> None:
    job = line.submit("takes too much")
    line.begun()
    assert line.ended(job).said == queue.OUT_OF_MEMORY


def test_a_process_that_dies_is_told_with_its_last_words_and_without_this_machines_paths(line: Trainings) -> None:
    job = line.submit("dies")
    line.begun()
    look = line.ended(job)
    assert look.state == "failed"
    assert look.said == "This training ended unexpectedly. Its last output: OddError: no …"


@pytest.mark.parametrize("begun", [False, True])
def test_a_process_that_is_killed_was_probably_too_large_and_goes_on_where_there_is_a_checkpoint(
    line: Trainings, begun: bool
) -> None:
    job = of("is killed")
    line.queue.submit(job)
    if begun:
        saved = line.queue.look(job.id).folder / "model" / "run" / "checkpoint.pt"
        saved.parent.mkdir(parents=True)
        saved.touch()
    line.begun()
    look = line.ended(job)
    assert look.state == ("stopped" if begun else "failed")
    assert "lack of memory" in look.said


def test_jobs_that_ran_when_the_app_ended_are_stopped_and_those_that_waited_begin(line: Trainings) -> None:
    jobs_of = [of("learns"), of("learns")]
    states: tuple[jobs.State, ...] = ("running", "waiting")
    for job, state in zip(jobs_of, states, strict=True):
        folder = line.queue.place / job.id
        folder.mkdir(parents=True)
        jobs.write(job, folder)
        jobs.set_status(folder, Status(state, pid=2**22 + 1))  # No process has this id.
    with trainings(line.pipe.parent) as again:
        look = again.queue.look(jobs_of[0].id)
        assert (look.state, look.said) == ("stopped", queues.CUT_OFF)
        assert again.begun() == jobs_of[1].id
        assert again.ended(jobs_of[1]).state == "done"
        again.queue.go_on(jobs_of[0].id)
        assert again.begun() == jobs_of[0].id


def test_the_training_of_another_app_runs_and_can_be_stopped_from_here(line: Trainings) -> None:
    job = of("learns")
    folder = line.queue.place / job.id
    folder.mkdir(parents=True)
    jobs.write(job, folder)
    sleeper = [sys.executable, "-S", "-E", "-c", "import os; os.write(1, b'.'); os.read(0, 1)", str(folder)]
    with subprocess.Popen(sleeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read(1)  # The process has its own command line, by which the queue recognises it.
        jobs.set_status(folder, Status("running", pid=child.pid))
        assert line.queue.look(job.id).state == "running"
        line.queue.stop(job.id)
        assert child.wait(60) != 0
    assert line.queue.look(job.id).state == "stopped"


def test_a_process_of_the_same_number_that_does_something_else_is_left_alone(line: Trainings) -> None:
    job = of("learns")
    folder = line.queue.place / job.id
    folder.mkdir(parents=True)
    jobs.write(job, folder)
    with subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", "import os; os.read(0, 1)"], stdin=subprocess.PIPE
    ) as child:
        jobs.set_status(folder, Status("running", pid=child.pid))
        assert line.queue.look(job.id).state == "stopped"
        line.queue.stop(job.id)
        line.queue.remove(job.id)
        assert child.poll() is None


@pytest.mark.slow
def test_two_apps_with_one_folder_take_turns(line: Trainings) -> None:
    first = line.submit("waits")
    line.begun()
    other = TrainingQueue(line.queue.place, 10**9, line.queue.machine, line.queue.command)
    second = of("learns", "bob")
    other.submit(second)
    assert other.look(first.id).state == "running"
    assert other.look(second.id).ahead == 1
    assert not other.wait(0.2)
    assert other.look(second.id).state == "waiting"
    line.queue.stop(first.id)
    assert line.begun() == second.id
    assert line.ended(second).state == "done"
    assert other.wait(60)


def test_a_job_that_is_removed_is_gone_with_its_process(line: Trainings) -> None:
    job = line.submit("waits")
    line.begun()
    line.queue.remove(job.id)
    assert line.queue.wait(60)
    with pytest.raises(UserError, match=re.escape(NO_JOB)):
        line.queue.look(job.id)
    assert [place.name for place in line.queue.place.iterdir()] == [".lock"]


@loop_over("name", ["", "..", "../taught", "a" * 21, "a" * 22 + "/", "a" * 21 + "\n", "ä" * 22, "\0" * 22])
def test_what_is_no_id_names_nothing(line: Trainings, name: str) -> None:
    for ask in (line.queue.look, line.queue.stop, line.queue.go_on, line.queue.remove, line.queue.size):
        with pytest.raises(UserError, match=re.escape(NO_JOB)):
            ask(name)


def test_a_link_is_no_training(line: Trainings, tmp_path: Path) -> None:
    job = of("learns")
    elsewhere = tmp_path / "elsewhere" / job.id
    elsewhere.mkdir(parents=True)
    jobs.write(job, elsewhere)
    line.queue.place.mkdir()
    (line.queue.place / job.id).symlink_to(elsewhere)
    with pytest.raises(UserError, match=re.escape(NO_JOB)):
        line.queue.remove(job.id)
    assert line.queue.jobs_of("ann") == ()
    assert jobs.read(elsewhere) == job


def test_a_job_that_cannot_be_read_is_told_in_a_sentence_and_does_not_hide_the_others(line: Trainings) -> None:
    job = line.submit("learns")
    line.begun()
    broken = line.queue.place / of("x").id
    broken.mkdir()
    (broken / "job.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        line.queue.look(broken.name)
    line.ended(job)
    assert [look.job for look in line.queue.jobs_of("ann")] == [job]
    line.queue.remove(broken.name)
    assert not broken.exists()


def test_a_visitor_may_have_so_many_waiting_and_all_together_so_many(
    line: Trainings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "MOST_WAITING", 4)
    stopped = line.submit("waits")
    line.begun()
    line.queue.stop(stopped.id)
    assert line.queue.wait(60)
    for _ in range(queues.MOST_OF_ONE):
        line.submit("waits")
    line.begun()
    with pytest.raises(UserError, match=r"^3 of your"):
        line.submit("learns")
    with pytest.raises(UserError, match=r"^3 of your"):
        line.queue.go_on(stopped.id)
    line.submit("learns", "bob")
    with pytest.raises(UserError, match=r"^4 trainings"):
        line.submit("learns", "eve")
    assert len(line.queue.jobs_of("ann")) == 4
    assert not list(line.queue.place.glob(".new-*"))


def test_what_is_refused_leaves_nothing(line: Trainings, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [LabeledText("a", "x"), LabeledText("b", "y")]
    monkeypatch.setattr(jobs, "MOST_ROWS", 5)
    with pytest.raises(UserError, match=r"6 rows; .* 5"):
        line.queue.submit(of("learns"), LabeledDataset("classify", ("x", "y"), some, some, some))
    with pytest.raises(UserError, match=r"/model .*machine"):
        line.queue.submit(jobs.new_job("ann", "x", "classify", model="some/model", data="sib-200-en"))
    assert list(line.queue.place.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="be written"):
        TrainingQueue(tmp_path / "file" / "taught", 10**9, command=("false",)).submit(of("learns"))


@pytest.mark.slow
def test_the_oldest_go_when_a_new_one_begins_and_are_named_before(tmp_path: Path) -> None:
    with trainings(tmp_path, budget=9_500_000) as line:
        made = []
        for _ in range(3):
            made.append(line.submit("learns"))
            line.begun()
            (line.ended(made[-1]).folder / "weights").write_bytes(b"0" * 1_000_000)
        going = [look.job for look in line.queue.pushed_out(made[0].model)]
        assert going == made[:1]
        with FileLock(line.queue.place / ".lock"):  # The lock simulates training by another app, so the job waits.
            job = line.submit("learns")
            assert line.queue.look(made[0].id)  # Nothing is evicted before the space is needed.
        line.begun()
        assert line.ended(job).state == "done"
        assert [look.job for look in line.queue.jobs_of("ann")] == [job, *made[:0:-1]]


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="this system knows no sessions")
def test_a_training_is_of_the_app_s_session_and_out_of_reach_of_its_terminal(tmp_path: Path) -> None:
    """The process keeps the app's session for scheduling and has its own process group."""
    asked = "import os; print(os.getsid(0), os.getpgid(0) == os.getpid())"
    child = queue.TrainingProcess((sys.executable, "-S", "-E", "-c", asked), tmp_path)
    assert child.wait() == 0
    assert queue.last_words(tmp_path / jobs.LOG) == f"{os.getsid(0)} True"
