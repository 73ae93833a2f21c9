"""A saved model as a zip file: content, memory use, and exclusion of the run's files."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from training.jobs import job


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "checkpoint.pt").write_bytes(b"secret")
    (folder / "model.safetensors").write_bytes(os.urandom(300_000))
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "empty").touch()
    (folder / "link").symlink_to(tmp_path)
    (folder / "file-link").symlink_to(folder / "run" / "checkpoint.pt")
    return folder


def test_the_files_come_out_as_they_went_in(model: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(b"".join(job.iterate_zip(model, "mine")))) as read:
        assert read.testzip() is None
        assert read.namelist() == ["mine/config.json", "mine/empty", "mine/model.safetensors"]
        for name in read.namelist():
            assert read.read(name) == (model / name.removeprefix("mine/")).read_bytes()


def test_a_block_is_in_memory_at_a_time(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "BLOCK", 10_000)
    sizes = [len(block) for block in job.iterate_zip(model, "mine")]
    assert len(sizes) > 30
    assert max(sizes) < 11_000


def test_what_is_removed_while_it_is_sent_comes_whole(model: Path) -> None:
    weights = (model / "model.safetensors").read_bytes()
    blocks = job.iterate_zip(model, "mine")
    first = next(blocks)
    for file in model.iterdir():
        if file.is_file():
            file.unlink()
    with zipfile.ZipFile(io.BytesIO(first + b"".join(blocks))) as read:
        assert read.read("mine/model.safetensors") == weights
