"""Texts of one model that arrive together go through it together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attention.trace import Trace
from inference.backend import LocalBackend
from inference.errors import Refusal
from inference.request import TraceRequest
from serving.line import Line
from serving.values import Block, blocks_of

Model = tuple[str, str | None]


class Asked:
    """A text, the frame that it will give, and how many wait for that."""

    def __init__(self, request: TraceRequest) -> None:
        self.request, self.people = request, 0
        self.future: asyncio.Future[list[Block]] = asyncio.get_running_loop().create_future()


class Batch:
    """Texts by their keys, and the task that reads them."""

    def __init__(self) -> None:
        self.asked: dict[str, Asked] = {}
        self.task: asyncio.Task[None] | None = None

    def takes(self, key: str, most: int) -> bool:
        """Whether a text may still come along."""
        return key in self.asked or len(self.asked) < most

    async def found(self, request: TraceRequest) -> list[Block]:
        """The frame of what a text gives. The batch ends when nobody waits for any of its texts."""
        one = self.asked.setdefault(request.key, Asked(request))
        one.people += 1
        try:
            return await asyncio.shield(one.future)
        finally:
            one.people -= 1
            if self.task is not None and self.left:
                self.task.cancel()

    @property
    def left(self) -> bool:
        """Whether nobody waits for it."""
        return not any(one.people for one in self.asked.values())


def together(backend: LocalBackend, requests: Sequence[TraceRequest]) -> list[list[Block] | Refusal]:
    """For each request the frame of its own trace, or a refusal; what is wrong with one text is no other's."""
    try:
        traces = backend.traces(requests)
    except Refusal:
        return [_alone(backend, request) for request in requests]
    return [_framed(request, trace) for request, trace in zip(requests, traces, strict=True)]


def _alone(backend: LocalBackend, request: TraceRequest) -> list[Block] | Refusal:
    try:
        return _framed(request, backend.trace(request))
    except Refusal as refusal:
        return refusal


def _framed(request: TraceRequest, trace: Trace) -> list[Block]:
    return blocks_of(((request.key,), (trace,)))


class Batches:
    """Up to ``most`` texts that come within ``wait`` seconds of the first, one batch; the same text once.

    Where nobody is computed for, the first goes at once.
    """

    def __init__(self, backend: LocalBackend, line: Line, most: int = 8, wait: float = 0.004) -> None:
        self.backend, self.line, self.most, self.wait = backend, line, most, wait
        self._waiting: dict[Model, Batch] = {}

    async def frame(self, request: TraceRequest) -> list[Block]:
        """The frame of a trace and its key; raises Refusal, or Full where the line is."""
        model = (request.model, request.revision)
        batch = self._waiting.get(model)
        if batch is None or batch.left or not batch.takes(request.key, self.most):
            batch = self._waiting[model] = Batch()
            batch.task = asyncio.create_task(self._run(model, batch))
        return await batch.found(request)

    async def _run(self, model: Model, batch: Batch) -> None:
        try:
            # One who comes to an idle server would wait for nobody.
            await asyncio.sleep(self.wait if self.line.busy else 0)
        finally:
            if self._waiting.get(model) is batch:
                del self._waiting[model]
        wanted = [one for one in batch.asked.values() if one.people]
        requests = [one.request for one in wanted]
        try:
            found: Sequence[list[Block] | BaseException] = await self.line.run(lambda: together(self.backend, requests))
        except Exception as error:
            found = [error] * len(requests)
        for one, made in zip(wanted, found, strict=True):
            if isinstance(made, BaseException):
                one.future.set_exception(made)
                one.future.exception()  # where all who asked are gone, nobody else looks at it
            else:
                one.future.set_result(made)
