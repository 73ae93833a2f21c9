"""Embedding runs over many sentences: resumption and identical downloads in all formats."""

from __future__ import annotations

import csv
import gc
import io
import shutil
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inference import LocalBackend, UserError
from inference.cancellation import CancelToken, check
from inference.settings import Settings
from inference.tasks.hidden_states import Pooled, TextVectors
from tests.support.savedfiles import parts
from ui.pages.vectors import corpus
from ui.pages.vectors.corpus import PART, VectorRun, csv_blocks, find, parquet_blocks, routes

COUNT = 3 * PART + 7
TEXTS = tuple(f"Sentence {at} is about {'cats' if at % 3 else 'the stock market'}." for at in range(COUNT))


class Model:
    """A stub that encodes a text's number in three channels and can cancel a run."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.run: VectorRun | None = None
        self.stop_after = 0

    def __call__(self, question: Pooled) -> TextVectors:
        self.asked.append(len(question.texts))
        if self.run is not None and len(self.asked) == self.stop_after:
            self.run.stop()
        numbers = np.array([[hash(text) % 97, len(text), 1] for text in question.texts], dtype=np.float32)
        refused = tuple("Too odd." if text.startswith("odd") else "" for text in question.texts)
        numbers[[bool(reason) for reason in refused]] = 0
        long = tuple(text.startswith("long") for text in question.texts)
        return TextVectors(numbers, (3,) * len(numbers), long, refused)


def table(run: VectorRun) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the provenance and the rows of the CSV file."""
    content, about = parts(b"".join(csv_blocks(run)))
    del about["table"], about["notes"]
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    plain = pd.read_csv(io.BytesIO(content))
    assert (plain.shape, plain.columns.tolist()) == ((len(rows) - 1, len(rows[0])), rows[0])
    return about, rows


def finished(run: VectorRun) -> VectorRun:
    run.start().wait(120)
    assert run.error is None
    return run


def test_a_run_ends_with_the_page_that_asked_for_it_and_goes_on_where_it_was() -> None:
    parts = 0

    def ask(asked: Pooled) -> TextVectors:
        nonlocal parts
        parts += 1
        check()
        return Model()(asked)

    run = finished(VectorRun(Pooled(texts=TEXTS), ask, lambda: CancelToken(gone=lambda: parts == 2)))
    assert (run.state, run.done, run.error) == ("stopped", PART, None)
    assert finished(run).state == "done"


def test_a_part_that_takes_too_long_is_told() -> None:
    def ask(asked: Pooled) -> TextVectors:
        check()
        return Model()(asked)

    run = VectorRun(Pooled(texts=TEXTS), ask, lambda: CancelToken(seconds=-1))
    run.start().wait(120)
    assert run.state == "failed"
    assert "−1 seconds" in str(run.error)


def test_a_run_stopped_and_resumed_equals_one_that_was_not() -> None:
    model = Model()
    whole = finished(VectorRun(Pooled(texts=TEXTS), Model()))
    broken = model.run = VectorRun(Pooled(texts=TEXTS), model)
    model.stop_after = 2
    broken.start().wait(120)
    assert (broken.state, broken.done) == ("stopped", 2 * PART)
    assert len(broken.vectors) == 2 * PART
    finished(broken)
    assert (broken.state, whole.state) == ("done", "done")
    assert model.asked == [PART, PART, PART, 7]
    assert broken.file.read_bytes() == whole.file.read_bytes()


@pytest.mark.slow
def test_a_run_over_the_embedded_model_equals_single_sentences() -> None:
    backend = LocalBackend(Settings())
    run = finished(VectorRun(Pooled(texts=TEXTS[: PART + 5]), backend.inspect))
    loaded = np.load(run.file)
    assert loaded.shape == (PART + 5, 384)
    for at in (0, 3, PART, PART + 4):
        single = backend.inspect(Pooled(texts=(TEXTS[at],)))
        np.testing.assert_allclose(loaded[at], single.vectors[0], atol=1e-5)


def test_what_was_not_ordinary_is_counted() -> None:
    texts = ("plain", "odd one", *["plain"] * PART, "long one", "odd two")
    run = finished(VectorRun(Pooled(texts=texts), Model()))
    assert run.notes == corpus.VectorNotes(cut=1, refused=2, first="Sentence 2: Too odd.")
    assert (run.vectors[1] == 0).all()
    assert run.vectors[-2].any()


def test_a_refusal_ends_the_run_in_words_and_it_can_go_on() -> None:
    def refuse(_question: Pooled) -> TextVectors:
        raise UserError("The model is gone.")

    run = VectorRun(Pooled(texts=TEXTS), refuse)
    run.start().wait(60)
    assert (run.state, run.done) == ("failed", 0)
    assert run.error is not None
    assert run.error.message == "The model is gone."
    run.ask = Model()
    assert finished(run).state == "done"


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage)
    run = VectorRun(Pooled(texts=TEXTS), Model())
    run.start().wait(60)
    assert run.error is not None
    assert "0 MB" in run.error.message


def test_a_run_that_nobody_looks_at_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LEFT_ALONE", -1.0)
    run = VectorRun(Pooled(texts=TEXTS), Model())
    run.start().wait(60)
    assert (run.state, run.done) == ("stopped", PART)


@pytest.mark.slow
def test_the_file_goes_with_the_run() -> None:
    run = finished(VectorRun(Pooled(texts=TEXTS), Model()))
    folder, token = run.folder, run.token
    assert find(token) is run
    assert folder.exists()
    del run
    gc.collect()
    assert find(token) is None
    assert not folder.exists()


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the shared backend by a new one, because files name weights only of loaded models."""
    fresh = LocalBackend()
    monkeypatch.setattr(corpus, "get_backend", lambda: fresh)


@pytest.mark.usefixtures("nothing_loaded")
def test_csv_and_parquet_hold_the_same_numbers() -> None:
    import pyarrow.parquet as pq

    texts = ('He said "no, no".', "=1+1", "zwei\nZeilen", *TEXTS)
    run = finished(VectorRun(Pooled(texts=texts), Model()))
    about, rows = table(run)
    assert about == {"model": run.asked.model, "layers": "last", "tokens": "mean"}
    assert rows[0] == ["sentence", "channel 0", "channel 1", "channel 2"]
    assert [row[0] for row in rows[1:]] == [text if text != "=1+1" else "'=1+1" for text in texts]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], dtype=np.float32), run.vectors)
    read = pq.read_table(io.BytesIO(b"".join(parquet_blocks(run))))
    assert read["sentence"].to_pylist() == list(texts)
    assert {name.decode(): said.decode() for name, said in read.schema.metadata.items()} == about
    np.testing.assert_array_equal(np.array(read["vector"].to_pylist(), dtype=np.float32), run.vectors)


def test_numbers_survive_csv_bit_for_bit() -> None:
    values = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    run = finished(VectorRun(Pooled(texts=TEXTS[:5]), lambda _: TextVectors(values, (3,) * 5, (False,) * 5, ("",) * 5)))
    rows = table(run)[1][1:]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], dtype=np.float32), values)


@pytest.mark.usefixtures("nothing_loaded")
def test_files_are_served_by_an_address_that_cannot_be_guessed() -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    run = finished(VectorRun(Pooled(texts=TEXTS), Model()))
    assert len(run.token) >= 20
    client = TestClient(Starlette(routes=routes()))
    answer = client.get(f"/headlight/vectors/{run.token}/vectors.npy")
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), run.vectors)
    assert answer.headers["Cache-Control"] == "no-store"
    assert client.get(f"/headlight/vectors/{run.token}/vectors.parquet").content[:4] == b"PAR1"
    assert client.get(f"/headlight/vectors/{run.token}/vectors.csv").content.startswith(b"PK")
    assert f"vectors-{run.asked.model}-last-mean.npy" in answer.headers["Content-Disposition"]
    gone = client.get("/headlight/vectors/nobody/vectors.npy")
    assert (gone.status_code, gone.text) == (410, str(corpus.GONE))
    assert (
        client.get(f"/headlight/vectors/{VectorRun(Pooled(texts=TEXTS), Model()).token}/vectors.npy").status_code == 410
    )
