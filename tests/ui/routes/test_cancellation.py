"""Cancellation of a response if the client disconnects or its time is over."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from attention.storage import dump
from inference.cancellation import Cancelled, CancelToken, use_token, wait
from tests.support.traces import sentence_trace
from ui.routes.limits import ConcurrencyLimit, reader_endpoint
from ui.routes.traces import PREFIX, routes
from ui.run.services import ViewOptions, get_backend, get_trace_store, trace_seal


class Long:
    """A response that never completes: its thread waits until it is cancelled."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def make(self, _request: Request) -> PlainTextResponse:
        self.begun.set()
        try:
            wait(Future())
        except Cancelled:
            self.ended.set()
            raise
        return PlainTextResponse("never")


async def left(app: Starlette, long: Long) -> None:
    """Send a request and disconnect once the response is being computed."""
    sent: list[Message] = []
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/long",
        "headers": [],
        "query_string": b"",
        "client": None,
    }
    asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        if (first := next(asked, None)) is not None:
            return first
        await asyncio.to_thread(long.begun.wait, 60)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)


@pytest.mark.parametrize("file", [False, True])
def test_who_closes_the_page_ends_what_is_made_for_it(file: bool) -> None:
    long = Long()
    endpoint = ConcurrencyLimit(1, 1, "Too many.").endpoint(long.make) if file else reader_endpoint(long.make)
    asyncio.run(left(Starlette(routes=[Route("/long", endpoint)]), long))
    assert long.ended.is_set()


@pytest.mark.parametrize("what", ["grid", "tile", "columns", "trace.safetensors"])
def test_what_takes_too_long_is_told_in_a_sentence(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        get_backend(), "settings", replace(get_backend().settings, figure_seconds=-1.0, file_seconds=-1.0)
    )
    trace = get_trace_store().open(dump(sentence_trace()))
    asked = f"{PREFIX}/{trace.id}/{what}?{ViewOptions().query()}&seal={trace_seal(trace.id)}"
    answer = TestClient(Starlette(routes=routes())).get(asked)
    assert answer.status_code == 400
    assert "−1 seconds" in answer.text


def test_a_survey_ends_between_two_heads() -> None:
    trace, asked = get_trace_store().open(dump(sentence_trace())), count(1)
    with use_token(CancelToken(gone=lambda: next(asked) == 3)), pytest.raises(Cancelled):
        get_trace_store().survey(trace, ViewOptions(words=True))
    assert next(asked) == 4
    assert get_trace_store().survey(trace, ViewOptions(words=True)).thumbnails.shape[:2] == (trace.layers, trace.heads)


def test_files_are_made_in_turn_by_visitor() -> None:
    let, made = threading.Event(), list[str]()
    limit = ConcurrencyLimit(1, 30, "Too many.")

    def file(request: Request) -> PlainTextResponse:
        let.wait(60)
        made.append(request.query_params["of"])
        return PlainTextResponse("file")

    async def visit() -> None:
        app = Starlette(routes=[Route("/file", limit.endpoint(file))])

        async def ask(address: str, name: str) -> None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/file", "headers": []}
            scope |= {"query_string": f"of={name}".encode(), "client": (address, 1)}

            async def receive() -> Message:
                return await asyncio.Future()

            async def send(_message: Message) -> None:
                return

            await app(scope, receive, send)

        names = [("192.0.2.1", f"ann {at}") for at in range(20)] + [("192.0.2.2", "bob")]
        asking = []
        for place, (address, name) in enumerate(names, 1):
            asking.append(asyncio.ensure_future(ask(address, name.replace(" ", "+"))))
            while limit.waits.waiting + limit.waits.passed < place:
                await asyncio.sleep(0)
        let.set()
        await asyncio.gather(*asking)

    asyncio.run(visit())
    assert made.index("bob") <= 2
    assert len(made) == 21
