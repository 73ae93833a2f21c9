"""Texts of one model that arrive together go through it together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attention.trace import Trace
from inference.backend import LocalBackend
from inference.errors import Refusal
from inference.request import TraceRequest
from serving.line import Line

Model = tuple[str, str | None]
Waiting = dict[str, tuple[TraceRequest, "asyncio.Future[Trace]"]]


def together(backend: LocalBackend, requests: Sequence[TraceRequest]) -> list[Trace | Refusal]:
    """For each request its own trace or refusal; what is wrong with one text is no other's."""
    try:
        return list(backend.traces(requests))
    except Refusal:
        return [_alone(backend, request) for request in requests]


def _alone(backend: LocalBackend, request: TraceRequest) -> Trace | Refusal:
    try:
        return backend.trace(request)
    except Refusal as refusal:
        return refusal


class Batches:
    """Up to ``most`` texts that come within ``wait`` seconds of the first, one batch; the same text once.

    Where nobody is computed for, the first goes at once.
    """

    def __init__(self, backend: LocalBackend, line: Line, most: int = 8, wait: float = 0.004) -> None:
        self.backend, self.line, self.most, self.wait = backend, line, most, wait
        self._waiting: dict[Model, Waiting] = {}
        self._running: set[asyncio.Task[None]] = set()  # a task that nothing holds may vanish

    async def trace(self, request: TraceRequest) -> Trace:
        """The trace; raises Refusal, or Full where the line is."""
        model = (request.model, request.revision)
        waiting = self._waiting.get(model)
        if waiting is None or (len(waiting) >= self.most and request.key not in waiting):
            waiting = self._waiting[model] = {}
            task = asyncio.create_task(self._run(model, waiting))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        if request.key not in waiting:
            waiting[request.key] = (request, asyncio.get_running_loop().create_future())
        return await asyncio.shield(waiting[request.key][1])

    async def _run(self, model: Model, waiting: Waiting) -> None:
        # One who comes to an idle server would wait for nobody.
        await asyncio.sleep(self.wait if self.line.busy else 0)
        if self._waiting.get(model) is waiting:
            del self._waiting[model]
        requests = [request for request, _future in waiting.values()]
        try:
            found: Sequence[Trace | BaseException] = await self.line.run(lambda: together(self.backend, requests))
        except Exception as error:
            found = [error] * len(requests)
        for (_request, future), made in zip(waiting.values(), found, strict=True):
            if isinstance(made, BaseException):
                future.set_exception(made)
                future.exception()  # where all who asked are gone, nobody else looks at it
            else:
                future.set_result(made)
