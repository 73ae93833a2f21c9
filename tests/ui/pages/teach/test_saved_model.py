"""The page of a fine-tuned model: download for everybody, and removal for its owner only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inference.files import sources
from tests.support.asking import asked, notes, press, says
from tests.support.taughtfolders import taught_in
from tests.support.trainings import kept
from training.jobs.job import Training, read, write
from ui.pages.teach.saved_model import first_texts
from ui.run import fine_tuning

TITLE = "<b>Mine</b> [x](http://x.org) $x$"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path / "taught") as found:
        yield found


def given(page: AppTest, job: Training, place: Path) -> None:
    """Make the page's session the owner of the job, and rerun the page."""
    owner = fine_tuning.hash_cookie(page.session_state[fine_tuning.NOBODY])
    write(Training(**{**vars(read(place / job.id)), "owner": owner}), place / job.id)
    page.run()


def buttons(page: AppTest) -> set[str]:
    return {button.label for button in page.button}


@pytest.mark.slow
def test_whoever_has_the_link_may_have_the_model_and_only_its_teacher_removes_it(place: Path) -> None:
    job = kept(place, title=TITLE)
    page = asked("teach", job=job.id, show="keep")
    assert not page.exception
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    assert {"Open Attention heads"} <= set(links)
    assert f"model=taught%2F{job.id}" in links["Open Attention heads"].query_string
    assert "a+fine+film" in links["Open Attention heads"].query_string
    (save,) = (link.proto for link in page.get("link_button") if link.proto.label == "Save model (zip)")
    assert save.url == f"/headlight/taught/{job.id}.zip"
    assert "Remove" not in buttons(page)
    says(page, "link can")

    given(page, job, place)
    says(page, "of 2.0 GB")
    press(page, "Remove")
    says(page, f"“{TITLE}” will be")
    press(page, "Keep it")
    assert "Remove permanently" not in buttons(page)
    press(page, "Remove")
    press(page, "Remove permanently")
    assert not page.exception
    assert not (place / job.id).exists()
    assert "job" not in page.query_params


@pytest.mark.slow
def test_a_removed_model_is_not_the_chosen_one_any_more(place: Path) -> None:
    job = kept(place)
    page = asked("teach", job=job.id, show="keep", model=job.name)
    given(page, job, place)
    assert page.query_params["model"] == job.name
    press(page, "Remove")
    press(page, "Remove permanently")
    assert "model" not in page.query_params
    assert notes(page, "refusal") == []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"text": ', b"\xff\n", b"[" * 200_000])
def test_a_test_row_that_cannot_be_read_is_left(place: Path, content: bytes) -> None:
    job = kept(place)
    look = fine_tuning.queue().look(job.id)
    assert first_texts(look).text == "a fine film"
    (look.model / "predictions.jsonl").write_bytes(content)
    assert first_texts(look).text


@pytest.mark.slow
def test_ones_own_trainings_are_listed(place: Path) -> None:
    mine, others = kept(place, title="Mine"), kept(place, title="Not mine")
    page = asked("teach")
    given(page, mine, place)
    assert not page.exception
    says(page, "Mine · trained")
    assert all("Not mine" not in note for note in notes(page))
    press(page, "Open")
    assert page.query_params["job"] == mine.id
    assert json.loads((place / others.id / sources.JOB).read_text(encoding="utf-8"))["owner"] == "ann"
