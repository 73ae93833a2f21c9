"""Jobs as files: round trips, and refusal of invalid folders."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from i18n import gettext_lazy, translate, use_language
from inference.errors import UserError
from inference.files import sources
from tests.support.trainings import of
from training.jobs import job as jobs
from training.jobs.job import UNREADABLE, FinetuneSettings, JobStatus, Status, Training, new_job


@pytest.fixture
def job(tmp_path: Path) -> Training:
    settings = FinetuneSettings(seed=3, minutes=None, rate=1e-4, threads=2)
    made = new_job("ann", "<b>Title</b> | \n…", "tag", model="a/b", revision="main", source="x.csv", settings=settings)
    (tmp_path / made.id).mkdir()
    jobs.write(made, tmp_path / made.id)
    return made


def test_a_job_is_read_as_it_was_written(job: Training, tmp_path: Path) -> None:
    assert jobs.read(tmp_path / job.id) == job


def test_an_id_is_one_and_never_the_same() -> None:
    drawn = {of("x").id for _ in range(50)}
    assert len(drawn) == 50
    assert all(sources.ID.fullmatch(each) for each in drawn)


def test_long_titles_are_cut_and_no_title_makes_an_odd_file_name() -> None:
    assert len(new_job("", "x" * 999, "classify", model="m").title) == 120
    for title in ("../../etc/passwd", "con", "a\r\nb", "情感", "", '"; rm -rf', "x" * 500):
        slug = new_job("", title, "classify", model="m").slug
        assert slug.startswith("headlight-")
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        assert len(slug) <= 70


def changed(job: Training, **changes: Any) -> str:
    return json.dumps({**asdict(job), **changes})


def test_a_job_with_odd_values_is_refused(subtests: pytest.Subtests, job: Training, tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [
        {"id": "x" * 22},
        {"owner": "<script>"},
        {"owner": None},
        {"title": "x" * 200},
        {"kind": "write"},
        {"kind": ["classify"]},
        {"model": {"a": 1}},
        {"settings": None},
        {"settings": {"seed": "0"}},
        {"settings": {"minutes": True}},
    ]
    for changes in cases:
        with subtests.test(changes=changes):
            (tmp_path / job.id / "job.json").write_text(changed(job, **changes), encoding="utf-8")
            with pytest.raises(UserError, match=re.escape(UNREADABLE)):
                jobs.read(tmp_path / job.id)


@pytest.mark.parametrize("content", ["", "[]", "null", "[" * 100_000, '{"id": 1}', "\0", " " * 200_000 + "{}"])
def test_what_is_no_job_is_refused(job: Training, tmp_path: Path, content: str) -> None:
    (tmp_path / job.id / "job.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        jobs.read(tmp_path / job.id)
    (tmp_path / job.id / "job.json").unlink()
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        jobs.read(tmp_path / job.id)


def test_a_job_from_before_a_setting_was_there_has_its_default(job: Training, tmp_path: Path) -> None:
    settings = {name: value for name, value in asdict(job.settings).items() if name != "frozen"}
    (tmp_path / job.id / "job.json").write_text(changed(job, settings=settings), encoding="utf-8")
    assert jobs.read(tmp_path / job.id) == job


def test_a_status_is_read_as_it_was_written_and_is_stopped_where_it_cannot_be(tmp_path: Path) -> None:
    said = Status("failed", "twin", "…", turn=2, since=1.5, pid=3)
    jobs.set_status(tmp_path, said)
    assert jobs.status(tmp_path) == said
    jobs.update_status(tmp_path, "waiting", said="")
    assert jobs.status(tmp_path) == Status("waiting", "twin", "", turn=2, since=1.5, pid=3)
    assert [file.name for file in tmp_path.iterdir()] == ["status.json"]
    for content in ("", '{"state": "running"', '{"state": "flying"}', '{"state": "running", "pid": "1"}', "[]"):
        (tmp_path / "status.json").write_text(content, encoding="utf-8")
        assert jobs.status(tmp_path) == Status("stopped")


def look_at(folder: Path, phase: jobs.Phase = "teach") -> JobStatus:
    return JobStatus(of("x"), "running", phase, "", 0, folder)


def test_curves_are_those_of_the_phase_and_half_a_line_is_left_out(tmp_path: Path) -> None:
    for part, loss in (("model", 1.0), ("twin", 2.0)):
        (tmp_path / part / "run").mkdir(parents=True)
        lines = [{"kind": "plan", "last": 9}, {"kind": "step", "step": 1, "loss": loss}, {"kind": "step", "step": 2}]
        written = "\n".join(json.dumps(line) for line in lines)
        odd = '\n[1]\n"step"\n\xff\n' + "[" * 50_000 + "\n"
        (tmp_path / part / "run" / "metrics.jsonl").write_bytes((written + odd + '{"kind": "st').encode("latin-1"))
    assert [line["step"] for line in look_at(tmp_path).lines("step")] == [1, 2]
    assert look_at(tmp_path).lines("step")[0]["loss"] == 1.0
    assert look_at(tmp_path, "twin").lines("step")[0]["loss"] == 2.0
    assert look_at(tmp_path, "twin").lines("step", "teach")[0]["loss"] == 1.0
    assert look_at(tmp_path, "changes").lines("step") == []
    assert look_at(tmp_path / "none").lines("step") == []


def test_a_model_is_there_once_all_that_is_told_of_it_is(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for name in ("model.safetensors", "predictions.jsonl", "evaluation.json"):
        assert not look_at(tmp_path).has_model
        (tmp_path / "model" / name).touch()
    assert look_at(tmp_path).has_model


def test_why_it_failed_is_told_in_the_language_of_who_looks(tmp_path: Path) -> None:
    jobs.update_status(tmp_path, "failed", said=gettext_lazy("This could not be started: {reason}.", reason="x"))
    assert json.loads((tmp_path / jobs.STATUS).read_text())["said"] == "This could not be started: x."
    jobs.update_status(tmp_path, "failed", turn=2)  # Fields that are not passed keep their values.
    with use_language("zh"):
        assert translate(jobs.status(tmp_path).said) == "无法启动：x。"
