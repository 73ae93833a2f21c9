"""Building of an atlas from texts, block by block; a build reports progress, can be resumed and divided into shards."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from i18n import gettext_lazy
from inference.errors import UserError
from inference.request import EMBEDDED
from inference.tasks.atlas import AtlasAnswer, AtlasRequest, CutRequest, RandomAtlasRequest, Window
from inference.tasks.model_request import InspectRequest
from probing.atlas.state import AtlasState
from probing.atlas.texts import AtlasText, blocks, digest_files, read_texts

STATE = "state.safetensors"  # in the folder of an unfinished atlas or of a shard
PAUSE = 60.0  # seconds between two saves of the state
CONTROL_TOKENS = 100_000  # of the control with random weights
FORMAT = 1


class AtlasBackend(Protocol):
    """A protocol for backends that can answer the requests of an atlas build."""

    def inspect(self, request: InspectRequest[Any]) -> Any:
        """Return the answer to a request: texts cut into windows, or the statistics of windows."""
        ...


@dataclass(frozen=True)
class AtlasPlan:
    """The texts, the model and the limits of an atlas, and the part of the texts (shard) that is read.

    The shard (i, n) has every n-th block of texts, beginning with block i.
    """

    files: tuple[Path, ...]
    model: str = EMBEDDED
    revision: str | None = None
    tokens: int | None = None  # the limit, special tokens included; None reads all texts
    most: int = 40_000  # links of each head
    most_written: int = 1_000
    shard: tuple[int, int] = (0, 1)
    control: bool = False  # the architecture with random weights

    def sources(self) -> list[dict[str, Any]]:
        """Return the name, size and SHA-256 of each file of texts."""
        return digest_files(self.files)

    def key(self, sources: Sequence[dict[str, Any]]) -> str:
        """Return the SHA-256 of all settings and files that affect the result, which identifies a saved state."""
        stated = [FORMAT, sources, self.model, self.revision, self.tokens, self.most, self.most_written, self.shard]
        return hashlib.sha256(json.dumps([*stated, self.control]).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class _Block:
    number: int
    texts: list[AtlasText]
    owners: list[int]
    windows: list[Window]
    refusals: list[str]


def build(
    backend: AtlasBackend, plan: AtlasPlan, state: AtlasState | None = None, workers: int = 1
) -> Iterator[AtlasState]:
    """Read the blocks of texts that ``state`` lacks, and yield the state after each block.

    The yielded state is always the same object. ``workers`` requests run concurrently. The state is complete after
    every step, so the caller may stop iterating and continue later. Raise UserError if a file or the model cannot be
    read.
    """
    state = AtlasState(plan.most, plan.most_written) if state is None else state
    waiting: deque[tuple[_Block, Future[AtlasAnswer]]] = deque()
    with ThreadPoolExecutor(workers, "atlas") as pool:
        try:
            for block in cut_blocks(backend, plan, state.blocks):
                request = _request(plan, state, block)
                waiting.append((block, pool.submit(copy_context().run, backend.inspect, request)))
                while len(waiting) > workers:
                    yield _add(state, *waiting.popleft())
            while waiting:
                yield _add(state, *waiting.popleft())
        finally:
            for _block, future in waiting:
                future.cancel()


def cut_blocks(backend: AtlasBackend, plan: AtlasPlan, done: set[int]) -> Iterator[_Block]:
    """Yield the plan's blocks that are not in ``done``, cut into windows, up to its limit of tokens.

    A window is a text, or a part of a long text, that the model can read. ``done`` has the numbers of the blocks that
    were already read.
    """
    number, count = plan.shard
    left = plan.tokens
    for at, texts in enumerate(blocks(read_texts(plan.files))):
        mine = at % count == number and at not in done
        if not mine and left is None:
            continue
        given = tuple((text.text, text.target) for text in texts)
        answer = backend.inspect(CutRequest(plan.model, plan.revision, given))
        owners = [owner for owner, windows in enumerate(answer.windows) for _ in windows]
        windows = [window for found in answer.windows for window in found]
        sizes = [size for found in answer.sizes for size in found]
        if left is not None:
            kept = next((place for place, size in enumerate(sizes) if sum(sizes[:place]) >= left), len(sizes))
            owners, windows, left = owners[:kept], windows[:kept], left - sum(sizes[:kept])
        if mine:
            yield _Block(at, texts, owners, windows, [reason for reason in answer.refusals if reason])
        if left is not None and left <= 0:
            return


def _request(plan: AtlasPlan, state: AtlasState, block: _Block) -> AtlasRequest:
    """Return the request for the statistics of a block, with the present floors of the state."""
    kind = RandomAtlasRequest if plan.control else AtlasRequest
    floors = {part: stack.floors() for part, stack in state.stacks.items()}
    return kind(
        plan.model,
        plan.revision,
        tuple(block.windows),
        plan.most,
        plan.most_written,
        tuple((part, first) for part, (first, _second) in floors.items()),
        tuple((part, second) for part, (_first, second) in floors.items()),
    )


def _add(state: AtlasState, block: _Block, answer: Future[AtlasAnswer]) -> AtlasState:
    state.add(block.number, block.texts, block.owners, block.windows, answer.result())
    state.left_out += len(block.refusals)
    state.reason = state.reason or next(iter(block.refusals), "")
    return state


def resume(folder: Path, key: str) -> AtlasState | None:
    """Return the state that is saved in a folder, or None if there is none.

    Raise UserError if the file is damaged, or belongs to a plan whose key is not ``key``.
    """
    file = folder / STATE
    if not file.exists():
        return None
    try:
        state, run = AtlasState.load(file)
    except (OSError, ValueError) as error:
        raise UserError(gettext_lazy("{file} is damaged. Delete it and build the atlas again.", file=file)) from error
    if run != key:
        raise UserError(
            gettext_lazy(
                "{folder} has an unfinished atlas of other texts or settings. Delete it, or choose another folder.",
                folder=folder,
            )
        )
    return state


def run_plan(  # noqa: PLR0913  # the plan, and the ways to watch and to stop it
    backend: AtlasBackend,
    plan: AtlasPlan,
    folder: Path,
    key: str,
    workers: int = 1,
    progress: Callable[[int], None] = lambda _tokens: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[AtlasState, bool]:
    """Read the texts of a plan, or continue a stopped run; return the state, and True if it is complete.

    The state is saved in ``folder`` as it grows, and on an interruption; ``key`` identifies the plan of a saved state.
    ``progress`` is called with the number of tokens read. The run stops early if ``stopped`` returns True.
    """
    state = resume(folder, key) or AtlasState(plan.most, plan.most_written)
    saved = time.monotonic()
    try:
        for _ in build(backend, plan, state, workers):
            progress(state.tokens)
            if stopped():
                state.save(folder / STATE, key)
                return state, False
            if time.monotonic() - saved > PAUSE:
                state.save(folder / STATE, key)
                saved = time.monotonic()
    except KeyboardInterrupt:
        state.save(folder / STATE, key)
        return state, False
    return state, True
