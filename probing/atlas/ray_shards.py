"""Building of an atlas in shards on a Ray cluster: an actor for each shard.

This process saves and joins the states of the actors. Ray is optional (requirements-cluster.txt). Without the variable
RAY_ADDRESS, the cluster is this machine. Every machine needs Headlight, the model, and the texts at the same path.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from inference.errors import UserError
from probing.atlas.build import PAUSE, STATE, AtlasPlan, build, resume
from probing.atlas.create import SHARDS, Progress, UncachedBackend
from probing.atlas.state import AtlasState, replace_file
from probing.command import open_backend

ADDRESS = "RAY_ADDRESS"  # Ray's own variable, the address of a cluster
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
OBJECTS = 500_000_000  # bytes of Ray's object store, which holds a state on its way; larger states go to the disk
STEP = 2.0  # seconds of work between two answers of an actor
RESTARTS = 3  # of an actor whose process or machine was lost
ROOT = Path(__file__).resolve().parents[2]


class ShardWorker:
    """A Ray actor with its own model, which reads the texts of a shard in steps."""

    def __init__(self, plan: AtlasPlan, key: str, saved: bytes | None) -> None:
        """Open the model and the texts; ``saved`` is an earlier state of the shard."""
        self.plan, self.key = plan, key
        self.state = AtlasState(plan.most, plan.most_written) if saved is None else AtlasState.decode(saved)[0]
        self.steps: Iterator[AtlasState] | None = None

    def advance(self, seconds: float) -> tuple[int, bool, str]:
        """Read blocks for some seconds; return the tokens so far, True if all are read, and an error or ""."""
        began = time.monotonic()
        try:
            if self.steps is None:
                self.steps = self._open()
            for _ in self.steps:
                if time.monotonic() - began > seconds:
                    return self.state.tokens, False, ""
        except UserError as refusal:
            return self.state.tokens, False, refusal.message
        return self.state.tokens, True, ""

    def snapshot(self) -> bytes:
        """Return the state of the shard as bytes, for ``AtlasState.decode``."""
        return b"".join(map(bytes, self.state.encode(self.key)))

    def _open(self) -> Iterator[AtlasState]:
        if self.plan.key(self.plan.sources()) != self.key:
            raise UserError(
                "A machine of the cluster has other texts at this path. Copy the same files to all machines."
            )
        backend, _model = open_backend(self.plan.model)
        return build(UncachedBackend(backend), self.plan, self.state)


@dataclass(eq=False)
class _Shard:
    """A shard with its actor, and the folder of its last saved state."""

    make: Callable[[AtlasPlan, str, bytes | None], Any]
    plan: AtlasPlan
    key: str
    folder: Path
    tokens: int = 0
    complete: bool = False
    restarts: int = 0
    saved: float = field(default_factory=time.monotonic)
    actor: Any = None

    def start(self) -> Any:
        """Start an actor from the saved state, and return its first answer to come."""
        state = resume(self.folder, self.key)
        self.tokens = 0 if state is None else state.tokens
        self.actor = self.make(self.plan, self.key, None if state is None else (self.folder / STATE).read_bytes())
        return self.advance()

    def advance(self) -> Any:
        """Return the answer to come of the next step."""
        return self.actor.advance.remote(STEP)

    def save(self, content: bytes) -> None:
        """Replace the saved state."""
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / STATE, [content])
        self.saved = time.monotonic()


def run_on_ray(
    shards: int, plan: AtlasPlan, folder: Path, progress: Progress, stopped: Callable[[], bool]
) -> tuple[AtlasState, bool]:
    """Read the texts of a plan in shards on a Ray cluster; return the joined state, and True if it is complete.

    The states of the shards are saved in the folder ``shards`` of ``folder`` every minute, and if the run is stopped.
    A lost actor starts again from its saved state. Raise UserError if Ray is not installed, if a machine has other
    texts, or if actors are lost again and again.
    """
    if find_spec("ray") is None:
        raise UserError("--ray needs Ray. Install it with: pip install -r requirements-cluster.txt")
    sources = plan.sources()
    with _cluster(shards) as ray:
        make = ray.remote(num_cpus=1)(ShardWorker).remote
        plans = [replace(plan, shard=(number, shards)) for number in range(shards)]
        every = [_Shard(make, one, one.key(sources), folder / SHARDS / str(number)) for number, one in enumerate(plans)]
        try:
            _advance_all(ray, every, progress, stopped)
        except KeyboardInterrupt:
            _save_all(ray, every)
    states = [state for shard in every if (state := resume(shard.folder, shard.key)) is not None]
    joined = states[0] if states else AtlasState(plan.most, plan.most_written)
    for state in states[1:]:
        joined.join(state)
    return joined, all(shard.complete for shard in every)


def _advance_all(ray: Any, every: list[_Shard], progress: Progress, stopped: Callable[[], bool]) -> None:
    """Advance all shards until they are complete or stopped, and save their states."""
    waiting = {shard.start(): shard for shard in every}
    while waiting:
        for answer in ray.wait(list(waiting))[0]:
            shard = waiting.pop(answer)
            try:
                shard.tokens, shard.complete, refusal = ray.get(answer)
                done = shard.complete or stopped()
                if done or time.monotonic() - shard.saved > PAUSE:
                    shard.save(ray.get(shard.actor.snapshot.remote()))
            except ray.exceptions.RayActorError as error:
                shard.restarts += 1
                if shard.restarts > RESTARTS:
                    raise UserError(
                        "A machine of the cluster was lost several times. See its memory and disk."
                    ) from error
                waiting[shard.start()] = shard
                continue
            if refusal:
                raise UserError(refusal)
            if not done:
                waiting[shard.advance()] = shard
        progress(sum(shard.tokens for shard in every))


def _save_all(ray: Any, every: list[_Shard]) -> None:
    """Save the state of every shard whose actor still answers; an actor answers after its present step."""
    for shard in every:
        if shard.actor is not None and not shard.complete:
            try:
                shard.save(ray.get(shard.actor.snapshot.remote()))
            except ray.exceptions.RayActorError:
                continue  # the state of the last minute is on the disk


@contextmanager
def _cluster(shards: int) -> Iterator[Any]:
    """Connect to the cluster of RAY_ADDRESS, or start one on this machine that only this process can use."""
    place = Path(tempfile.mkdtemp(prefix="hl-"))  # short, because paths of sockets have a limit
    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": "ERROR",
        "runtime_env": {"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}},
    }
    if not os.environ.get(ADDRESS):
        token = place / "token"
        token.touch(0o600)
        token.write_text(secrets.token_hex(32), encoding="ascii")
        os.environ.update({**ENVIRONMENT, "RAY_AUTH_TOKEN_PATH": str(token)})
        options |= {
            "address": "local",
            "include_dashboard": False,
            "object_store_memory": OBJECTS,
            "_temp_dir": str(place),
            "_node_ip_address": "127.0.0.1",
            "num_cpus": shards,
        }
    import ray

    try:
        ray.init(**options)
        yield ray
    finally:
        ray.shutdown()
        shutil.rmtree(place, ignore_errors=True)
