"""The process of a fine-tuning job: its phases, their resumption, and its final status."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification, AutoTokenizer

from inference import LocalBackend, TraceRequest
from inference.errors import UserError
from inference.settings import Settings as Machine
from probing.labelled import ready_sets
from probing.labelled.files import File
from probing.labelled.labeled_texts import HeadKind
from probing.labelled.loading import TaskFiles
from probing.labelled.squad import QuestionSet, read_questions
from tests.support.labelledtexts import FAST, classified, machine
from tests.support.pausing import stopping
from tests.support.repository import ROOT
from tests.support.squadfiles import letters
from training.__main__ import main
from training.finetune import job_command as process
from training.finetune.job_command import JobContext
from training.jobs import job as jobs
from training.jobs.job import CHARACTERS, UNREADABLE, Status, Training, iterate_zip, new_job
from training.jobs.queue import TrainingQueue


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield the list of requested priorities; restore the SIGTERM handler and change no priority."""
    ranks: list[int] = []
    monkeypatch.setattr(os, "nice", ranks.append)
    monkeypatch.setattr(process, "end_with_parent", lambda: None)
    before = signal.getsignal(signal.SIGTERM)
    yield ranks
    signal.signal(signal.SIGTERM, before)


SQUAD = File("mine.json", json.dumps(letters(30)).encode())


def begun(place: Path, kind: HeadKind = "classify", rows: jobs.TaskRows | None = None, **changes: object) -> Path:
    """Return the folder of a waiting job on a visitor's own rows."""
    given: dict[str, object] = {"model": "some-model", "source": "mine <b>.csv", "settings": FAST, **changes}
    job = new_job("ann", "Toys", kind, **given)  # type: ignore[arg-type]
    folder = place / job.id
    folder.mkdir(parents=True)
    jobs.write(job, folder)
    if not job.data:
        jobs.write_rows(rows or classified(), folder / jobs.ROWS)
    jobs.set_status(folder, Status("waiting"))
    return folder


def take(monkeypatch: pytest.MonkeyPatch, **ends: Callable[[], bool]) -> list[tuple[str, Status]]:
    """Replace the phases by stubs with the results of ``ends``.

    Return a list of (phase, status at its start).
    """
    taken: list[tuple[str, Status]] = []

    def phase(name: str, end: Callable[[], bool]) -> Callable[[JobContext], bool]:
        def taking(asked: JobContext) -> bool:
            taken.append((name, jobs.status(asked.folder)))
            return end()

        return taking

    monkeypatch.setattr(process, "PHASES", tuple((name, phase(name, end)) for name, end in ends.items()))
    return taken


def test_the_phases_follow_each_other_and_each_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_before: list[int]
) -> None:
    folder = begun(tmp_path)
    taken = take(monkeypatch, teach=lambda: True, twin=lambda: True, changes=lambda: True)
    assert main(["job", str(folder)]) == 0
    assert [(name, status.state, status.phase, status.pid) for name, status in taken] == [
        (name, "running", name, os.getpid()) for name in ("teach", "twin", "changes")
    ]
    assert (jobs.status(folder).state, jobs.status(folder).phase) == ("done", "changes")
    assert as_before == [process.NICE]


def test_what_stops_in_a_phase_goes_on_with_that_phase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begun(tmp_path)
    ends = iter([True, False, True, True])
    taken = take(monkeypatch, **dict.fromkeys(("teach", "twin", "changes"), lambda: next(ends)))
    process.run(folder)
    assert (jobs.status(folder).state, jobs.status(folder).phase) == ("stopped", "twin")
    process.run(folder)
    assert [name for name, _ in taken] == ["teach", "twin", "twin", "changes"]
    assert jobs.status(folder).state == "done"


def test_asked_to_stop_outside_a_training_it_stops_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begun(tmp_path)

    def stopped() -> bool:
        os.kill(os.getpid(), signal.SIGTERM)
        return True

    take(monkeypatch, teach=lambda: True, twin=stopped)
    process.run(folder)
    assert (jobs.status(folder).state, jobs.status(folder).phase) == ("stopped", "twin")


def test_what_is_refused_is_told_in_the_folder_and_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = begun(tmp_path)

    def refused() -> bool:
        raise UserError("This will not do.")

    take(monkeypatch, teach=lambda: True, twin=refused)
    assert main(["job", str(folder)]) == 2
    assert jobs.status(folder) == Status("failed", "twin", "This will not do.", pid=os.getpid())
    assert capsys.readouterr().err == "This will not do.\n"


def test_rows_that_cannot_be_read_fail(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    (folder / jobs.ROWS).write_bytes(b"")
    assert main(["job", str(folder)]) == 2
    assert jobs.status(folder).said == jobs.UNREADABLE


def test_a_folder_without_a_job_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["job", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{jobs.UNREADABLE}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_texts_are_the_visitors_own_or_the_ready_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[JobContext] = []

    def see(asked: JobContext) -> bool:
        seen.append(asked)
        return True

    monkeypatch.setattr(process, "PHASES", (("teach", see),))
    process.run(begun(tmp_path, revision="v1"))
    process.run(begun(tmp_path, data="sib-200-en"))
    own, ready = seen
    assert (own.labelled_task.labels, own.labelled_task.name, own.labelled_task.called) == (
        classified(),
        "mine <b>.csv",
        "headlight-toys",
    )
    assert (own.settings, own.job.settings) == (replace(FAST, revision="v1"), FAST)
    assert ready.labelled_task.labels == ready_sets.load("sib-200-en")
    assert ready.labelled_task.licence == "CC-BY-SA-4.0"
    process.run(begun(tmp_path, "answer", data=ready_sets.QUESTIONS.id))
    process.run(begun(tmp_path, "answer", rows=read_questions(TaskFiles(SQUAD))))
    ready, own = seen[2:]
    assert isinstance(ready.task, QuestionSet)
    assert isinstance(own.task, QuestionSet)
    assert ready.task.train == ready_sets.load_questions(FAST.seed).train
    assert (own.task.name, own.task.called) == ("mine <b>.csv", "headlight-toys")
    with pytest.raises(TypeError):
        _ = own.labelled_task


def test_questions_end_after_their_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = take(monkeypatch, teach=lambda: True)
    folder = begun(tmp_path, "answer", data=ready_sets.QUESTIONS.id)
    process.run(folder)
    assert [name for name, _ in calls] == ["teach"]
    assert jobs.status(folder).state == "done"


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    folder = begun(tmp_path, "answer", rows=classified())
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        process.run(folder)
    assert jobs.status(folder).state == "failed"


@pytest.mark.slow
def test_questions_are_learned_stopped_and_resumed(tmp_path: Path) -> None:
    folder = begun(tmp_path, "answer", model=CHARACTERS, rows=read_questions(TaskFiles(SQUAD)))
    process.run(folder)
    scores = json.loads((folder / "model" / "evaluation.json").read_text(encoding="utf-8"))
    assert (scores["task"], scores["finished"]) == ("answer", True)
    AutoModelForQuestionAnswering.from_pretrained(folder / "model")
    assert "headlight-toys" in (folder / "model" / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_process_ends_with_the_app() -> None:
    """The process ends if the app closes its end of the pipe."""
    # The process computes instead of sleeping, because a signal just before a sleep is noticed only after the sleep.
    busy = (
        "from training.finetune import job_command as job\n"
        " job.lower_priority()\n job.end_with_parent()\n while True: pass"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", f"try:\n {busy}\nexcept KeyboardInterrupt: print('stopped')"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    said, _ = child.communicate(timeout=60)
    assert said == b"stopped\n"


@pytest.mark.slow
def test_a_job_that_is_stopped_in_each_phase_comes_to_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, where = machine(tmp_path)
    monkeypatch.setenv("HEADLIGHT_MODEL_FOLDERS", str(tmp_path))
    whole, parts = begun(tmp_path / "taught", model=name), begun(tmp_path / "taught", model=name)
    assert where.offline
    process.run(whole)
    pauses = stopping(monkeypatch, signal.SIGTERM)
    for phase, step in (("teach", 3), ("twin", 1)):
        pauses.append(step)
        process.run(parts)
        assert (jobs.status(parts).state, jobs.status(parts).phase) == ("stopped", phase)
    process.run(parts)
    for folder in (whole, parts):
        assert jobs.status(folder).state == "done"
        assert (folder / "changes" / "changes.json").is_file()
        assert not (folder / "twin" / "model.safetensors").exists()
    assert (whole / "model/model.safetensors").read_bytes() == (parts / "model/model.safetensors").read_bytes()
    process.run(parts)  # All phases are complete.
    assert jobs.status(parts).state == "done"


@pytest.mark.slow
@pytest.mark.timeout(900)  # The process has a low priority.
def test_a_real_process_teaches_and_what_it_saved_opens_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, where = machine(tmp_path)
    monkeypatch.setenv("HEADLIGHT_MODEL_FOLDERS", str(tmp_path))
    queue = TrainingQueue(tmp_path / "taught", 10**9, where)
    job = new_job("ann", "Toys", "classify", model=name, source="toys.csv", settings=replace(FAST, steps=2))
    queue.submit(job, classified())
    assert queue.wait(840)
    look = queue.look(job.id)
    assert (look.state, look.phase, look.said) == ("done", "changes", ""), (look.folder / jobs.LOG).read_text("utf-8")
    assert [line["step"] for line in look.lines("step", "teach")] == [1, 2]
    with zipfile.ZipFile(io.BytesIO(b"".join(iterate_zip(look.model, job.slug)))) as archive:
        archive.extractall(tmp_path / "elsewhere")
    _opens_with_transformers(look.model, tmp_path / "elsewhere" / job.slug)
    _opens_in_the_app(job, tmp_path)


def _opens_with_transformers(saved: Path, unpacked: Path) -> None:
    """Assert that both folders give the same logits in transformers."""
    said = []
    for folder in (saved, unpacked):
        model, tokenizer = (
            auto.from_pretrained(folder) for auto in (AutoModelForSequenceClassification, AutoTokenizer)
        )
        with torch.no_grad():
            said.append(model(**tokenizer("c c 1 2", return_tensors="pt")).logits)
        assert model.config.id2label == {0: "animal", 1: "plant", 2: "star"}
    assert torch.equal(*said)
    assert f'pipeline("text-classification", "{unpacked.name}")' in (unpacked / "README.md").read_text(encoding="utf-8")


def _opens_in_the_app(job: Training, root: Path) -> None:
    """Assert that the model's link and its unpacked folder give the same attention."""
    here = LocalBackend(Machine(taught=root / "taught", offline=True))
    there = LocalBackend(Machine(model_folders=(root / "elsewhere",), offline=True))
    one = here.trace(TraceRequest(job.name, "c c 1 2"))
    other = there.trace(TraceRequest(str(root / "elsewhere" / job.slug), "c c 1 2"))
    assert (one.model.name, other.model.name) == ("Toys", "headlight-toys")
    assert one.model.weights == other.model.weights
    assert (one.weights(0, 0) == other.weights(0, 0)).all()
