"""A bounded queue of requests, and batches of texts for the same model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from attention.codec import Block
from attention.trace import Trace
from inference.backend import LocalBackend
from inference.cancellation import CancelToken, use_token
from inference.errors import UserError
from inference.request import TraceRequest
from inference.scheduling import FairThreadPool, QueueStats
from serving.protocol import blocks_of

Made = TypeVar("Made")


class QueueFull(Exception):
    """Raised if the queue accepts no more requests."""


class WorkQueue:
    """A queue of requests for ``places`` threads; at most ``most`` requests wait or run at a time.

    Visitors take turns. A cancelled request that already runs stops at its next layer (inference.cancellation) and
    occupies its place until then.
    """

    def __init__(self, places: int, most: int) -> None:
        self.most = most
        self.waits = QueueStats()
        self._crew = FairThreadPool(places, "answering")
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def is_full(self) -> bool:
        """Return True if the queue accepts no more requests."""
        return self._inside >= self.most

    @property
    def is_busy(self) -> bool:
        """Return True if a request is queued or running."""
        return self._inside > 0

    async def run(self, work: Callable[[], Made], who: str = "") -> Made:
        """Run ``work`` in a thread when it is the turn of the visitor ``who``, and return the result.

        If this coroutine is cancelled, the work stops or does not start. Raise QueueFull if the queue is full.
        """
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
        """Stop each thread as soon as it is idle."""
        self._crew.close()


Model = tuple[str, str | None]


class BatchedText:
    """A text in a batch: the future of its trace, and the number of requests that wait for the trace."""

    def __init__(self, request: TraceRequest) -> None:
        self.request, self.people = request, 0
        self.future: asyncio.Future[list[Block]] = asyncio.get_running_loop().create_future()


class TraceBatch:
    """A batch of texts for the same model, and the task that computes their traces.

    ``asked`` maps the key of a trace request to its text.
    """

    def __init__(self) -> None:
        self.asked: dict[str, BatchedText] = {}
        self.task: asyncio.Task[None] | None = None

    def takes(self, key: str, most: int) -> bool:
        """Return True if the batch has a text with this request key, or fewer than ``most`` texts."""
        return key in self.asked or len(self.asked) < most

    async def wait_for(self, request: TraceRequest) -> list[Block]:
        """Add a text to the batch, wait for its trace, and return the trace as an encoded message.

        If the wait is cancelled and nobody waits for another text of the batch, the batch is cancelled, too.
        """
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
        """Return True if no request waits for the batch."""
        return not any(one.people for one in self.asked.values())


def trace_batch(backend: LocalBackend, requests: Sequence[TraceRequest]) -> list[list[Block] | UserError]:
    """Trace a batch of texts; return an encoded message or a UserError for each text.

    If the batch fails, its texts are traced one by one, so that a bad text affects no other text.
    """
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
    """A collector of texts for the same model, so that they are traced together.

    A batch has up to ``most`` texts that arrive within ``wait`` seconds of its first text. Equal requests count as one
    text. If the queue is idle, the first text starts without waiting.
    """

    def __init__(self, backend: LocalBackend, line: WorkQueue, most: int = 8, wait: float = 0.004) -> None:
        self.backend, self.line, self.most, self.wait = backend, line, most, wait
        self._waiting: dict[Model, TraceBatch] = {}

    async def frame(self, request: TraceRequest) -> list[Block]:
        """Trace a text as part of a batch; return its request key and its trace as an encoded message.

        Equal requests share a trace. May raise UserError or QueueFull.
        """
        model = (request.model, request.revision)
        batch = self._waiting.get(model)
        if batch is None or batch.is_abandoned or not batch.takes(request.key, self.most):
            batch = self._waiting[model] = TraceBatch()
            batch.task = asyncio.create_task(self._run(model, batch))
        return await batch.wait_for(request)

    async def _run(self, model: Model, batch: TraceBatch) -> None:
        try:
            # At an idle server, waiting would delay the request for no benefit.
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
                one.future.exception()  # marks the exception as retrieved, in case every client has disconnected
            else:
                one.future.set_result(made)
