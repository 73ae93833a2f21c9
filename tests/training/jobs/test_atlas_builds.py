"""Visitors' builds of atlases: progress, Stop, limits, and uploads that nobody should trust."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inference import UserError
from probing.atlas.create import SHARDS
from probing.atlas.store import Atlas
from tests.support.cases import loop_over
from tests.support.tinymodels import save
from training.jobs import atlas_builds
from training.jobs.atlas_builds import MOST_FILES, MOST_OF_ONE, MOST_TOKENS, TEXTS, AtlasBuilds
from training.jobs.queue import OUT_OF_MEMORY, UNEXPECTED, TrainingQueue

# A double of the build's process: it obeys SIGTERM, and ends at once if a text says so.
DOUBLE = """
import json, signal, sys
from pathlib import Path
folder = Path(sys.argv[1])
content = (folder / "texts" / "0.txt").read_text()
(folder / "progress.json").write_text(json.dumps({"phase": "texts", "done": 7, "total": 9, "note": ""}))
if content == "end": sys.exit(0)
if content == "fail": print("MemoryError"); sys.exit(1)
signal.pause()
"""


@pytest.fixture
def builds(tmp_path: Path) -> AtlasBuilds:
    script = tmp_path / "double.py"
    script.write_text(DOUBLE, encoding="utf-8")
    return AtlasBuilds(tmp_path / "taught", (sys.executable, str(script)))


def begin(builds: AtlasBuilds, content: bytes = b"end", owner: str = "me", **changes: object) -> str:
    given = {"model": "bert", "revision": None, "tokens": 50, "files": [("a.txt", content)], **changes}
    return builds.start(owner, **given).id  # type: ignore[arg-type]


def test_a_running_build_can_be_stopped_and_removed(builds: AtlasBuilds) -> None:
    build_id = begin(builds, b"run")
    assert builds.look(build_id).state == "running"
    with pytest.raises(UserError, match=str(atlas_builds.BUSY)):
        begin(builds)
    builds.stop(build_id)
    builds.wait()
    assert builds.look(build_id).state == "stopped"
    builds.go_on(build_id)
    assert builds.look(build_id).state == "running"
    builds.remove(build_id)
    builds.wait()
    with pytest.raises(UserError):
        builds.look(build_id)
    assert not builds.builds_of("me")


@loop_over("content, said", ((b"end", UNEXPECTED), (b"fail", OUT_OF_MEMORY)))
def test_a_process_that_ends_without_a_status_has_failed(builds: AtlasBuilds, content: bytes, said: str) -> None:
    build_id = begin(builds, content)
    builds.wait()
    found = builds.look(build_id)
    assert (found.state, found.said) == ("failed", said)
    assert (found.step.done, found.step.total) == (7, 9)


def test_the_oldest_builds_of_a_visitor_are_removed(builds: AtlasBuilds) -> None:
    made = []
    for owner in ("other", *["me"] * (MOST_OF_ONE + 2)):
        made.append(begin(builds, owner=owner))
        builds.wait()
    assert [look.build.id for look in builds.builds_of("me")] == made[:2:-1]
    assert len(builds.builds_of("other")) == 1


@loop_over("files", ([], [("a.txt", b"a b")] * (MOST_FILES + 1)))
def test_too_many_files_are_refused(builds: AtlasBuilds, files: list[tuple[str, bytes]]) -> None:
    with pytest.raises(UserError):
        begin(builds, files=files)


def test_too_large_files_are_refused(builds: AtlasBuilds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas_builds, "MOST_BYTES", 5)
    with pytest.raises(UserError):
        begin(builds, b"123456")


def test_names_of_files_stay_inside_the_folder(builds: AtlasBuilds) -> None:
    names = ("../../up.txt", "/etc/passwd", "a\0b.jsonl", "x" * 500 + ".TSV", "<b>.exe")
    build_id = begin(builds, files=[(name, b"end") for name in names], tokens=10**9)
    builds.wait()
    found = builds.look(build_id)
    assert sorted(file.name for file in (found.folder / TEXTS).iterdir()) == [
        "0.txt",
        "1.txt",
        "2.jsonl",
        "3.tsv",
        "4.txt",
    ]
    assert found.build.tokens == MOST_TOKENS


@loop_over("build_id", ("", "..", "../x", "a" * 22, "a/b"))
def test_unknown_builds_are_refused(builds: AtlasBuilds, build_id: str) -> None:
    with pytest.raises(UserError):
        builds.look(build_id)


def test_the_queue_of_trainings_ignores_atlases(builds: AtlasBuilds) -> None:
    begin(builds)
    builds.wait()
    assert TrainingQueue(builds.root, 10**9).jobs_of("me") == ()


@pytest.mark.slow
def test_the_process_builds_an_atlas_and_says_why_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "models" / "bert", "bert")
    monkeypatch.setenv("HEADLIGHT_MODEL_FOLDERS", str(tmp_path / "models"))
    builds = AtlasBuilds(tmp_path / "taught")
    model = str(tmp_path / "models" / "bert")
    texts = json.dumps({"text": "the cat was tired and it crossed the street"}).encode() + b"\n"
    good = begin(builds, model=model, files=[("a.jsonl", texts * 40)])
    builds.wait()
    found = builds.look(good)
    assert (found.state, found.has_atlas) == ("done", True)
    assert Atlas.open(found.atlas).manifest["finished"]
    assert not (found.folder / TEXTS).exists()
    assert not (found.atlas / SHARDS).exists()
    bad = begin(builds, model=model, files=[("a.jsonl", b"{")])
    builds.wait()
    assert (builds.look(bad).state, builds.look(bad).has_atlas) == ("failed", False)
    assert "JSON" in builds.look(bad).said
