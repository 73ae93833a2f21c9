"""Settings from the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inference.settings import Settings, cores, machine_memory, parse_bytes


@pytest.mark.parametrize("text", ["", "GB", "four GB", "-1GB", "1e9", "4 GBit"])
def test_amounts_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match='write it as "4GB"'):
        parse_bytes(text)


def test_everything_comes_from_the_environment() -> None:
    found = Settings.from_env(
        {
            "HEADLIGHT_MODEL_MEMORY": "4GB",
            "HEADLIGHT_TRACE_MEMORY": "512 MB",
            "HEADLIGHT_MODEL_FOLDERS": os.pathsep.join(["/models", "", "more"]),
            "HEADLIGHT_THREADS": "3",
            "HF_HUB_OFFLINE": "1",
        }
    )
    assert (found.model_memory_bytes, found.trace_memory_bytes) == (4 * 10**9, 512 * 10**6)
    assert found.model_folders == (Path("/models"), Path("more").absolute())
    assert found.offline
    assert found.forward_threads == 3


def test_without_an_environment_it_stays_within_the_machine() -> None:
    plain = Settings.from_env({})
    assert plain.model_memory_bytes + plain.trace_memory_bytes < machine_memory()
    assert plain.model_folders == ()
    assert not plain.offline


def test_forwards_and_threads_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.settings.cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert (Settings().forward_threads, Settings().forwards) == (4, 2)
    assert Settings(threads=16).forwards == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert (Settings().forward_threads, Settings().forwards) == (1, 8)
    assert cores() >= 1
