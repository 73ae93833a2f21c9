"""Requests that wait: batches of texts for one model, and a bounded line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from attention.trace import Trace
from inference.backend import LocalBackend
from inference.cancellation import CancelToken, use_token
from inference.errors import UserError
from inference.request import TraceRequest
from inference.scheduling import FairThreadPool, QueueStats
from serving.protocol import Block, blocks_of

Made = TypeVar("Made")


class QueueFull(Exception):
    """Nobody more is let into the line now."""


class WorkQueue:
    """``places`` threads work; with those that wait, no more than ``most`` are inside.

    They are taken up in turn by visitor. What has begun counts as inside until it has ended, which it does at its next
    layer when nobody waits for it any more (inference.cancellation).
    """

    def __init__(self, places: int, most: int) -> None:
        self.most = most
        self.waits = QueueStats()
        self._crew = FairThreadPool(places, "answering")
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def is_full(self) -> bool:
        """Whether nobody more is let in."""
        return self._inside >= self.most

    @property
    def is_busy(self) -> bool:
        """Whether anybody is inside."""
        return self._inside > 0

    async def run(self, work: Callable[[], Made], who: str = "") -> Made:
        """What the work gives, in its visitor's turn; raises Full. Cancelled, it ends, or is never begun."""
        with self._lock:
            if self._inside >= self.most:
                self.waits.reject()
                raise QueueFull
            self._inside += 1
        came = self.waits.enter()
        stop = CancelToken(who)

        def stoppable() -> Made:
            with use_token(stop):
                return work()

        future = self._crew.submit(who, stoppable)
        future.add_done_callback(lambda done: self._leaves(done, came))
        try:
            return await asyncio.wrap_future(future)
        finally:
            stop.stop()

    def _leaves(self, _done: Future[Any], came: float) -> None:
        with self._lock:
            self._inside -= 1
        self.waits.admit(came)

    def close(self) -> None:
        """Ends the threads as they come free."""
        self._crew.close()


Model = tuple[str, str | None]


class BatchedText:
    """A text, the frame that it will give, and how many wait for that."""

    def __init__(self, request: TraceRequest) -> None:
        self.request, self.people = request, 0
        self.future: asyncio.Future[list[Block]] = asyncio.get_running_loop().create_future()


class TraceBatch:
    """Texts by their keys, and the task that reads them."""

    def __init__(self) -> None:
        self.asked: dict[str, BatchedText] = {}
        self.task: asyncio.Task[None] | None = None

    def takes(self, key: str, most: int) -> bool:
        """Whether a text may still come along."""
        return key in self.asked or len(self.asked) < most

    async def wait_for(self, request: TraceRequest) -> list[Block]:
        """The frame of what a text gives. The batch ends when nobody waits for any of its texts."""
        one = self.asked.setdefault(request.key, BatchedText(request))
        one.people += 1
        try:
            return await asyncio.shield(one.future)
        finally:
            one.people -= 1
            if self.task is not None and self.is_abandoned:
                self.task.cancel()

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody waits for it."""
        return not any(one.people for one in self.asked.values())


def trace_batch(backend: LocalBackend, requests: Sequence[TraceRequest]) -> list[list[Block] | UserError]:
    """For each request the frame of its own trace, or a refusal; what is wrong with one text is no other's."""
    try:
        traces = backend.traces(requests)
    except UserError:
        return [_trace_single(backend, request) for request in requests]
    return [_encode_trace(request, trace) for request, trace in zip(requests, traces, strict=True)]


def _trace_single(backend: LocalBackend, request: TraceRequest) -> list[Block] | UserError:
    try:
        return _encode_trace(request, backend.trace(request))
    except UserError as refusal:
        return refusal


def _encode_trace(request: TraceRequest, trace: Trace) -> list[Block]:
    return blocks_of(((request.key,), (trace,)))


class Batcher:
    """Up to ``most`` texts that come within ``wait`` seconds of the first, one batch; the same text once.

    Where nobody is computed for, the first goes at once.
    """

    def __init__(self, backend: LocalBackend, line: WorkQueue, most: int = 8, wait: float = 0.004) -> None:
        self.backend, self.line, self.most, self.wait = backend, line, most, wait
        self._waiting: dict[Model, TraceBatch] = {}

    async def frame(self, request: TraceRequest) -> list[Block]:
        """The frame of a trace and its key; raises Refusal, or Full where the line is."""
        model = (request.model, request.revision)
        batch = self._waiting.get(model)
        if batch is None or batch.is_abandoned or not batch.takes(request.key, self.most):
            batch = self._waiting[model] = TraceBatch()
            batch.task = asyncio.create_task(self._run(model, batch))
        return await batch.wait_for(request)

    async def _run(self, model: Model, batch: TraceBatch) -> None:
        try:
            # One who comes to an idle server would wait for nobody.
            await asyncio.sleep(self.wait if self.line.is_busy else 0)
        finally:
            if self._waiting.get(model) is batch:
                del self._waiting[model]
        wanted = [one for one in batch.asked.values() if one.people]
        requests = [one.request for one in wanted]
        try:
            found: Sequence[list[Block] | BaseException] = await self.line.run(
                lambda: trace_batch(self.backend, requests)
            )
        except Exception as error:
            found = [error] * len(requests)
        for one, made in zip(wanted, found, strict=True):
            if isinstance(made, BaseException):
                one.future.set_exception(made)
                one.future.exception()  # where all who asked are gone, nobody else looks at it
            else:
                one.future.set_result(made)
