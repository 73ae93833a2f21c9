"""Fine-tuned models by name: opened from their folder only, never looked up on the hub, up to date."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from inference import LocalBackend, TraceRequest, UserError
from inference.files import hub, sources
from inference.files.sources import GONE
from inference.settings import Settings
from tests.support.cases import loop_over
from tests.support.trainings import kept, learn_on, of
from training.jobs.job import write


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings for empty folders, and fail the test if the hub is contacted."""

    def asked(*_arguments: object) -> NoReturn:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(hub, "fetch_offer", asked)
    monkeypatch.setattr(hub, "cached_folder", asked)
    return Settings(taught=tmp_path / "taught", cache=tmp_path / "cache")


def test_the_place_is_the_operators_or_in_the_cache(settings: Settings, tmp_path: Path) -> None:
    assert sources.fine_tuned_root(settings) == tmp_path / "taught"
    assert sources.fine_tuned_root(Settings(cache=tmp_path / "cache")) == tmp_path / "cache" / "headlight" / "taught"


def test_the_operator_names_place_and_budget() -> None:
    named = Settings.from_env({"HEADLIGHT_TAUGHT": "/models", "HEADLIGHT_TAUGHT_BYTES": "5 GB"})
    assert (named.taught, named.taught_bytes) == (Path("/models"), 5_000_000_000)
    assert (Settings.from_env({}).taught, Settings.from_env({}).taught_bytes) == (None, 2_000_000_000)


def test_a_taught_model_goes_by_its_title(settings: Settings) -> None:
    job = kept(sources.fine_tuned_root(settings))
    source = sources.find(job.name, "whatever", settings)
    assert (source.name, source.revision) == (job.title, None)
    assert source.folder == sources.fine_tuned_root(settings) / job.id / "model"
    assert sources.is_local(job.name, None, settings)


@loop_over(
    "name", ["taught/", "taught/x", "taught/../taught", f"taught/{'a' * 22}", f"taught/{'a' * 22}/model", "taught/\0"]
)
def test_a_name_without_a_model_is_refused_in_a_sentence(settings: Settings, name: str) -> None:
    kept(sources.fine_tuned_root(settings))
    with pytest.raises(UserError, match=re.escape(GONE)):
        sources.find(name, None, settings)
    assert not sources.is_local(name, None, settings)
    assert sources.state_stamp(name, settings) is None


def test_links_are_not_followed(settings: Settings, tmp_path: Path) -> None:
    place = sources.fine_tuned_root(settings)
    elsewhere, linked = kept(tmp_path / "elsewhere"), kept(place)
    (place / elsewhere.id).symlink_to(tmp_path / "elsewhere" / elsewhere.id)
    shutil.move(place / linked.id / "model", tmp_path / "moved")
    (place / linked.id / "model").symlink_to(tmp_path / "moved")
    for job in (elsewhere, linked):
        with pytest.raises(UserError, match=re.escape(GONE)):
            sources.find(job.name, None, settings)


def test_what_is_not_saved_yet_is_told(settings: Settings) -> None:
    job = of("x")
    folder = sources.fine_tuned_root(settings) / job.id
    (folder / "model" / "run").mkdir(parents=True)
    write(job, folder)
    with pytest.raises(UserError, match="still training"):
        sources.find(job.name, None, settings)


@pytest.mark.parametrize("content", ["", "[]", '{"title": ', "[" * 100_000])
def test_a_broken_job_opens_nothing(settings: Settings, content: str) -> None:
    job = kept(sources.fine_tuned_root(settings))
    (sources.fine_tuned_root(settings) / job.id / "job.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(GONE)):
        sources.find(job.name, None, settings)


@pytest.mark.slow
def test_a_model_that_went_on_learning_is_read_anew_and_one_that_is_gone_not_at_all(settings: Settings) -> None:
    job = kept(sources.fine_tuned_root(settings))
    backend = LocalBackend(settings)
    asked = TraceRequest(job.name, "a fine film")
    before = backend.trace(asked)
    assert backend.trace(asked) is before
    assert backend.traces([asked]) == [before]
    assert backend.recent(before.id) is before
    assert backend.status(job.name) == "loaded"
    assert backend.identity(job.name).name == job.title
    learn_on(sources.fine_tuned_root(settings) / job.id)
    assert backend.status(job.name) == "here"
    after = backend.trace(asked)
    assert after.id != before.id
    assert after.model.weights != before.model.weights
    assert backend.identity(job.name).weights == after.model.weights
    shutil.rmtree(sources.fine_tuned_root(settings) / job.id)
    with pytest.raises(UserError, match=re.escape(GONE)):
        backend.trace(asked)
    assert backend.status(job.name) == "absent"
