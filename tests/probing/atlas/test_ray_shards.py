"""Shards on a cluster give the atlas of a single run, also if actors are lost or the run is stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headlight.command import main
from inference import UserError
from probing.atlas import ray_shards
from probing.atlas import texts as atlas_texts
from probing.atlas.build import AtlasPlan, build
from probing.atlas.create import SHARDS, UncachedBackend, create_atlas
from probing.atlas.ray_shards import RESTARTS, ShardWorker, run_on_ray
from probing.atlas.state import AtlasState
from probing.command import open_backend
from tests.support.tinymodels import save

SENTENCES = ["the playing cat was tired .", "it crossed the street ! the cat saw it", "the animal was it", "a cat saw"]


class LostActor(Exception):
    """Raised by the double of Ray if an actor is lost."""


class RayDouble:
    """Ray's functions in this process: an answer is a call that is made when it is fetched."""

    exceptions = SimpleNamespace(RayActorError=LostActor)

    def __init__(self, losses: int) -> None:
        self.losses = losses  # calls of ``advance`` that lose their actor
        self.actors = 0

    def remote(self, **_options: Any) -> Callable[[type], Any]:
        return lambda kind: SimpleNamespace(remote=lambda *given: self.start(kind(*given)))

    def start(self, worker: ShardWorker) -> Any:
        self.actors += 1

        def advance(_seconds: float) -> Any:
            if self.losses:
                self.losses -= 1
                raise LostActor
            return worker.advance(0)  # a single block

        names = {"advance": advance, "snapshot": worker.snapshot}
        return SimpleNamespace(
            **{
                name: SimpleNamespace(remote=lambda *given, call=call: partial(call, *given))
                for name, call in names.items()
            }
        )

    def wait(self, answers: list[Any]) -> tuple[list[Any], list[Any]]:
        return answers[:1], answers[1:]

    def get(self, answer: Any) -> Any:
        return answer()


@pytest.fixture
def plan(tmp_path: Path) -> AtlasPlan:
    save(tmp_path / "bert", "bert")
    file = tmp_path / "texts.txt"
    file.write_text("\n\n".join(SENTENCES * 3), encoding="utf-8")
    return AtlasPlan((file,), str(tmp_path / "bert"), most=60, most_written=5)


@pytest.fixture
def use_double(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], RayDouble]:
    def use(losses: int) -> RayDouble:
        double = RayDouble(losses)
        monkeypatch.setattr(ray_shards, "_cluster", lambda _shards: nullcontext(double))
        monkeypatch.setattr(ray_shards, "find_spec", lambda _name: object())
        monkeypatch.setattr(ray_shards, "PAUSE", 0)
        monkeypatch.setattr(atlas_texts, "BLOCK_TEXTS", 2)
        return double

    return use


def single_run(plan: AtlasPlan) -> AtlasState:
    state = AtlasState(plan.most, plan.most_written)
    for _ in build(UncachedBackend(open_backend(plan.model)[0]), plan, state):
        pass
    return state


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def build_atlas(plan: AtlasPlan, folder: Path, shards: int, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Build an atlas, in one process if ``shards`` is 0, and return True if it is complete."""
    run = (lambda plan, folder, _key, say, stopped: run_on_ray(shards, plan, folder, say, stopped)) if shards else None
    backend = UncachedBackend(open_backend(plan.model)[0])
    return create_atlas(backend, plan, folder, stopped=stopped, checks=False, run=run)[1]


def test_shards_with_a_lost_actor_equal_one_run(
    plan: AtlasPlan, tmp_path: Path, use_double: Callable[[int], RayDouble]
) -> None:
    double = use_double(2)
    assert build_atlas(plan, tmp_path / "whole", 0)
    assert build_atlas(plan, tmp_path / "shards", 3)
    assert double.actors == 5
    assert contents(tmp_path / "shards") == contents(tmp_path / "whole")


def test_stopped_shards_are_continued(plan: AtlasPlan, tmp_path: Path, use_double: Callable[[int], RayDouble]) -> None:
    use_double(0)
    assert build_atlas(plan, tmp_path / "whole", 0)
    folder = tmp_path / "stopped"
    assert not build_atlas(plan, folder, 2, lambda: True)
    assert (folder / SHARDS).is_dir()
    assert build_atlas(plan, folder, 2)
    assert contents(folder) == contents(tmp_path / "whole")


def test_actors_that_are_always_lost_end_the_run(
    plan: AtlasPlan, tmp_path: Path, use_double: Callable[[int], RayDouble]
) -> None:
    double = use_double(99)
    with pytest.raises(UserError):
        build_atlas(plan, tmp_path / "atlas", 1)
    assert double.actors == RESTARTS + 1


def test_a_machine_with_other_texts_is_refused(plan: AtlasPlan) -> None:
    worker = ShardWorker(plan, plan.key(plan.sources()), None)
    plan.files[0].write_text("other texts here", encoding="utf-8")
    tokens, complete, refusal = worker.advance(1)
    assert (tokens, complete) == (0, False)
    assert refusal


def test_a_snapshot_continues_elsewhere(plan: AtlasPlan) -> None:
    key = plan.key(plan.sources())
    first = ShardWorker(plan, key, None)
    assert first.advance(600)[1]
    second = ShardWorker(plan, key, first.snapshot())
    assert second.state.tokens == single_run(plan).tokens
    assert second.advance(600) == (second.state.tokens, True, "")


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_command_says_how_to_get_it(
    plan: AtlasPlan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(plan.files[0]), "--model", plan.model, "--out", str(tmp_path / "atlas")]
    assert main(["atlas", "build", *given, "--ray", "2"]) == 2
    assert "requirements-cluster.txt" in capsys.readouterr().err
    assert main(["atlas", "build", *given, "--ray", "2", "--shard", "0/2"]) == 2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: requirements-cluster.txt")
def test_two_ray_workers_equal_one_run(plan: AtlasPlan, tmp_path: Path) -> None:
    plan.files[0].write_text("\n\n".join(SENTENCES * 200), encoding="utf-8")  # four blocks
    given = [str(plan.files[0]), "--model", plan.model, "--links", "60", "--no-control"]
    assert main(["atlas", "build", *given, "--out", str(tmp_path / "whole")]) == 0
    assert main(["atlas", "build", *given, "--out", str(tmp_path / "ray"), "--ray", "2"]) == 0
    assert contents(tmp_path / "ray") == contents(tmp_path / "whole")
