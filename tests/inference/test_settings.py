"""Settings from environment variables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inference.errors import UserError
from inference.settings import Settings, cores, machine_memory, parse_bytes
from tests.support.cases import loop_over


@loop_over("text", ["", "GB", "four GB", "-1GB", "1e9", "4 GBit"])
def test_amounts_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match='as "4GB"'):
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


def test_one_word_says_who_is_expected() -> None:
    plain, laptop, class_, public = (
        Settings.from_env({"HEADLIGHT_FOR": word} if word else {}) for word in ("", "laptop", " Class ", "public")
    )
    assert [found.only_here for found in (plain, laptop, class_, public)] == [False, True, False, False]
    assert [found.only_listed for found in (plain, laptop, class_, public)] == [False, False, False, True]
    assert plain.visitor_upload_bytes > class_.visitor_upload_bytes > public.visitor_upload_bytes
    assert (plain.at_a_stretch, laptop.at_a_stretch) == (None, None)
    assert class_.at_a_stretch is not None
    assert public.at_a_stretch is not None
    assert class_.at_a_stretch > public.at_a_stretch


def test_what_is_stated_goes_before_the_word() -> None:
    found = Settings.from_env({"HEADLIGHT_FOR": "public", "HEADLIGHT_ONLY_LISTED": "0"})
    assert not found.only_listed
    assert Settings.from_env({"HEADLIGHT_ONLY_LISTED": "1"}).only_listed


def test_another_word_stops_the_start() -> None:
    with pytest.raises(ValueError, match=r'"school" .*HEADLIGHT_FOR'):
        Settings.from_env({"HEADLIGHT_FOR": "school"})


@pytest.mark.parametrize(
    "setting", ["HEADLIGHT_THREADS", "HEADLIGHT_MODEL_MEMORY", "HEADLIGHT_TRACE_MEMORY", "HEADLIGHT_FOR"]
)
def test_a_setting_that_cannot_be_read_is_refused(setting: str) -> None:
    with pytest.raises(UserError, match='"two" was'):
        Settings.from_env({setting: "two"})
