"""Faults of machines: missing or changed files, full disks and memory, and wrong answers of the hub.

Each fault gives an error message, and previous work continues.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inference import LocalBackend, TraceRequest, UserError
from inference.errors import OUT_OF_MEMORY
from inference.files import download, hub
from inference.files.download import Download
from inference.record import capture
from inference.settings import Settings
from inference.tasks.decoding import NextToken
from tests.support.fakehub import FakeHub, serving
from tests.support.tinymodels import save

NAME = "someone/tiny-bert"
TEXT = "The animal was tired."
HARMS = ("removed", "truncated", "replaced")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    save(root / "bert", "bert", vocab_size=20_000)
    save(root / "gpt2", "gpt2")
    return root


@pytest.fixture
def fake(models: Path) -> Iterator[FakeHub]:
    with serving() as running:
        running.add(NAME, models / "bert")
        yield running


@pytest.fixture
def settings(fake: FakeHub, tmp_path: Path) -> Settings:
    return Settings(endpoint=fake.endpoint, cache=tmp_path / "cache", hub_timeout=20.0)


def harm(folder: Path, how: str) -> None:
    """Remove, truncate or overwrite a model's weights on disk."""
    weights = folder / "model.safetensors"
    if how == "removed":
        shutil.rmtree(folder)
    elif how == "truncated":
        os.truncate(weights, 1000)
    else:
        weights.write_bytes(os.urandom(weights.stat().st_size))


LOADED = """
import sys
from pathlib import Path
from inference import LocalBackend, TraceRequest
from inference.settings import Settings
from tests.inference.test_faults import HARMS, TEXT, harm
for how in HARMS:
    print(how, flush=True)
    folder = Path(sys.argv[1]) / how / "bert"
    backend = LocalBackend(Settings(model_folders=(folder.parent,), offline=True))
    before = backend.trace(TraceRequest(model=str(folder), text=TEXT))
    harm(folder, how)
    backend.kept_traces.drop(before.id, before)
    again = backend.trace(TraceRequest(model=str(folder), text=TEXT))
    assert again is not before
    assert all((again.weights(layer, 0) == before.weights(layer, 0)).all() for layer in range(before.layers))
"""


@pytest.mark.slow
def test_a_loaded_model_outlives_its_files(models: Path, tmp_path: Path) -> None:
    """A subprocess is needed: truncation of a memory-mapped file ends the process that reads it."""
    for how in HARMS:
        shutil.copytree(models / "bert", tmp_path / how / "bert")
    done = subprocess.run([sys.executable, "-c", LOADED, str(tmp_path)], capture_output=True, text=True, timeout=280)
    told = done.stdout.split()
    assert (done.returncode, told) == (0, list(HARMS)), f"{told[-1:]}: {done.stderr}"


@pytest.mark.parametrize("how", HARMS)
def test_a_model_whose_files_were_harmed_is_refused_and_can_be_mended(models: Path, tmp_path: Path, how: str) -> None:
    folder = shutil.copytree(models / "bert", tmp_path / "bert")
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    harm(folder, how)
    with pytest.raises(UserError):
        backend.trace(TraceRequest(model=str(folder), text=TEXT))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(models / "bert", folder)
    assert backend.trace(TraceRequest(model=str(folder), text=TEXT)).text == TEXT


# --- Memory -------------------------------------------------------------------------------------------------------

NO_MEMORY = [
    MemoryError(),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
]


@pytest.mark.parametrize("error", NO_MEMORY, ids=str)
@pytest.mark.parametrize("kind", ["a trace", "an answer"])
def test_a_pass_that_runs_out_of_memory_is_told_so_and_the_next_one_runs(
    models: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    backend = LocalBackend(Settings(model_folders=(models,), offline=True))
    folder = str(models / "gpt2")

    def ask(text: str) -> Any:
        if kind == "a trace":
            return backend.trace(TraceRequest(model=folder, text=text))
        return backend.predict(NextToken(model=folder, text=text))

    ask("The model is loaded.")
    with monkeypatch.context() as patch:

        def full(*_: object, **__: object) -> None:
            raise error

        patch.setattr(capture, "record_parts", full)
        patch.setattr("torch.nn.Embedding.forward", full)
        with pytest.raises(UserError, match=re.escape(OUT_OF_MEMORY)):
            ask(TEXT)
    assert ask(TEXT) is not None


# --- Disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_meanwhile_is_told_and_the_download_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    running = Download(hub.fetch_offer(NAME, None, settings), settings)

    def stream(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(running, "_stream", stream)
        with pytest.raises(UserError, match=f"^The disk is full: {NAME} does not fit") as caught:
            running.start().wait(60)
    assert (caught.value.way_out, running.state) == ("retry", "failed")
    assert hub.cached_folder(NAME, None, settings) is None
    assert running.start().wait(60)


# --- Hub ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("lie", [-70_000, -1])
def test_a_file_longer_than_announced_is_thrown_away(fake: FakeHub, settings: Settings, lie: int) -> None:
    fake.lie = lie
    running = Download(hub.fetch_offer(NAME, None, settings), settings)
    with pytest.raises(UserError, match="arrived damaged"):
        running.start().wait(60)
    assert hub.cached_folder(NAME, None, settings) is None


@pytest.mark.slow
def test_a_file_shorter_than_announced_is_not_asked_for_for_ever(
    fake: FakeHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.lie = 5000
    monkeypatch.setattr(download, "_TRIES", 2)
    running = Download(hub.fetch_offer(NAME, None, settings), settings)
    with pytest.raises(UserError, match=r"arrived|reached"):
        running.start().wait(120)
    assert hub.cached_folder(NAME, None, settings) is None


@pytest.mark.slow
def test_a_hub_that_falls_silent_is_left_and_what_came_is_kept(
    fake: FakeHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_SILENCE", 0.0)
    monkeypatch.setattr(download, "_TRIES", 1)
    offer = hub.fetch_offer(NAME, None, settings)
    fake.silent_after = 300_000
    running = Download(offer, replace(settings, hub_timeout=3.0))
    with pytest.raises(UserError, match="be reached") as caught:
        running.start().wait(60)
    assert (caught.value.way_out, running.state) == ("retry", "failed")
    kept = running.progress.done
    fake.silent_after = None
    again = Download(offer, settings)
    assert again.start().wait(60)
    assert 0 < kept < offer.nbytes
    assert fake.ranges(), "it goes on where it was"


@pytest.mark.slow
def test_two_servers_on_one_cache_fetch_a_file_once_and_both_have_it(fake: FakeHub, settings: Settings) -> None:
    offer = hub.fetch_offer(NAME, None, settings)
    fake.pause = 0.02  # The pause makes both downloads overlap.
    patient = replace(settings, hub_timeout=60.0)  # A busy machine may answer after the usual timeout.
    both = [Download(offer, patient).start() for _ in range(2)]
    assert [one.wait(120) for one in both] == [True, True]
    fetched = [path for method, path, _ in fake.asked if method == "GET" and path.endswith("model.safetensors")]
    assert len(fetched) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("fake")
def test_two_backends_on_one_cache_answer_while_the_other_fetches(settings: Settings) -> None:
    """A model has the status "here" only after its download is complete, in both backends."""
    found: list[int] = []
    first, second = LocalBackend(settings), LocalBackend(settings)

    def ask() -> None:
        while second.status(NAME) != "here":
            with pytest.raises(UserError):
                second.trace(TraceRequest(NAME, TEXT))
        found.append(len(second.trace(TraceRequest(NAME, TEXT)).source))

    asking = threading.Thread(target=ask)
    asking.start()
    first.download(first.look(NAME)).wait(60)
    asking.join()
    same = first.trace(TraceRequest(NAME, TEXT))
    assert found == [len(same.source)]
    assert np.isfinite(same.weights(0, 0)).all()
