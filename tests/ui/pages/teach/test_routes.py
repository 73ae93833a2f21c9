"""Downloads of a fine-tuned model by its link, and messages for missing models."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.support.cases import loop_over
from tests.support.taughtfolders import taught_in
from tests.support.trainings import kept
from training.jobs.job import Training
from ui.pages.teach import saved_model
from ui.pages.teach.saved_model import PREFIX
from ui.routes.limits import ConcurrencyLimit


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path / "taught") as found:
        yield found


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=saved_model.routes()))


@pytest.fixture
def job(place: Path) -> Training:
    return kept(place, title='"; filename="evil.exe\r\nX-Evil: 1 情感')


def test_a_model_is_saved_whole_under_its_title(client: TestClient, job: Training, place: Path) -> None:
    answer = client.get(f"{PREFIX}/{job.id}.zip")
    assert answer.status_code == 200
    name = "headlight-filename-evil-exe-x-evil-1"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.zip"'
    assert answer.headers["cache-control"] == "no-store"
    assert "x-evil" not in answer.headers
    with zipfile.ZipFile(io.BytesIO(answer.content)) as read:
        for file in (place / job.id / "model").iterdir():
            assert read.read(f"{name}/{file.name}") == file.read_bytes()


@loop_over("name", ["a" * 22, "x", "..", "%2e%2e", "%00", "a" * 5_000])
def test_what_is_not_there_is_told(client: TestClient, job: Training, name: str) -> None:
    assert job.id
    answer = client.get(f"{PREFIX}/{name}.zip")
    assert answer.status_code in (404, 410)
    assert len(answer.text) < 200


def test_what_is_not_saved_yet_is_told(client: TestClient, job: Training, place: Path) -> None:
    (place / job.id / "model" / "evaluation.json").unlink()
    answer = client.get(f"{PREFIX}/{job.id}.zip")
    assert (answer.status_code, answer.text) == (410, saved_model.NO_MODEL)


def test_too_many_at_once_are_told_and_the_places_are_free_again(
    client: TestClient, job: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = ConcurrencyLimit(1, 0, saved_model.BUSY)
    monkeypatch.setattr(saved_model, "SENDING", sending)
    with sending.places:
        answer = client.get(f"{PREFIX}/{job.id}.zip")
        assert (answer.status_code, answer.text) == (503, saved_model.BUSY)
        assert int(answer.headers["retry-after"]) > 0
    for _ in range(3):
        assert client.get(f"{PREFIX}/{job.id}.zip").status_code == 200
