"""The limit for files: waiting requests hold no threads, and a full queue refuses requests."""

from __future__ import annotations

import threading

import anyio
import anyio.abc
import httpx2
import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.routes import exports, traces
from ui.routes.limits import ConcurrencyLimit
from ui.server.middleware import NAME


def test_many_files_in_line_leave_the_pages_their_threads() -> None:
    let = threading.Event()
    limit = ConcurrencyLimit(1, 3, "Too many.")

    def slow(_request: Request) -> PlainTextResponse:
        let.wait(60)
        return PlainTextResponse("file")

    def page(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("page")

    app = Starlette(routes=[Route("/file", limit.endpoint(slow)), Route("/page", page)])
    answers: list[int] = []

    async def visit() -> None:
        to_thread.current_default_thread_limiter().total_tokens = 1
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def save() -> None:
                answers.append((await client.get("/file")).status_code)

            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(save)
                while limit.places.acquire(blocking=False):  # The loop runs until all four requests are in the queue.
                    limit.places.release()
                    await anyio.lowlevel.checkpoint()
                assert (await client.get("/page")).text == "page"
                told = await client.get("/file")
                assert (told.status_code, told.text, told.headers["retry-after"]) == (503, "Too many.", "10")
                let.set()

    anyio.run(visit)
    assert answers == [200] * 4
    assert (limit.waits.waiting, limit.waits.passed, limit.waits.refused) == (0, 4, 1)


class Line:
    """A queue of six places whose responses complete when ``let`` is set, with requests from any visitor."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.limit = ConcurrencyLimit(1, 5, "Too many.", each=2)
        self.app = Starlette(routes=[Route("/file", self.limit.endpoint(self.file))])
        self.answers: list[tuple[str, int]] = []

    def file(self, _request: Request) -> PlainTextResponse:
        self.let.wait(60)
        return PlainTextResponse("file")

    async def ask(self, address: str, cookie: str = "", proxy: str = "") -> int:
        transport = httpx2.ASGITransport(app=self.app, client=(address, 1))
        headers = {**({"cookie": f"{NAME}={cookie}"} if cookie else {}), **({"via": proxy} if proxy else {})}
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            return (await client.get("/file")).status_code

    async def standing(self, group: anyio.abc.TaskGroup, many: int, *who: str) -> None:
        """Add ``many`` requests of a visitor and wait until they are in the queue."""
        before = self.limit.waits.waiting + self.limit.waits.passed
        for _ in range(many):
            group.start_soon(lambda: self.ask(*who))
        while self.limit.waits.waiting + self.limit.waits.passed < before + many:
            await anyio.lowlevel.checkpoint()


ANN, BOB = "a" * 22, "b" * 22


@pytest.mark.parametrize(
    ("first", "same", "another"),
    [
        # The address identifies a visitor, with or without a cookie.
        (("192.0.2.1",), ("192.0.2.1", ANN), ("192.0.2.2",)),
        # On this machine, the cookie identifies the visitor.
        (("127.0.0.1", ANN), ("127.0.0.1", ANN), ("127.0.0.1", BOB)),
        # Behind a proxy, the cookie identifies the visitor.
        (("192.0.2.9", ANN, "proxy"), ("192.0.2.9", ANN, "proxy"), ("192.0.2.9", BOB, "proxy")),
        # The cookie identifies a visitor at two addresses.
        (("192.0.2.1", ANN), ("192.0.2.2", ANN), ("192.0.2.2", BOB)),
    ],
)
def test_nobody_has_the_whole_line(first: tuple[str, ...], same: tuple[str, ...], another: tuple[str, ...]) -> None:
    line = Line()

    async def visit() -> None:
        async with anyio.create_task_group() as group:
            await line.standing(group, 2, *first)
            assert await line.ask(*same) == 503
            await line.standing(group, 1, *another)
            line.let.set()
        assert await line.ask(*same) == 200

    anyio.run(visit)
    assert (line.limit.waits.passed, line.limit.waits.refused) == (4, 1)


@pytest.mark.parametrize("name", [*exports.FILES, "trace.safetensors"])
def test_every_export_stands_in_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces.FILES, "places", threading.BoundedSemaphore(1))
    client = TestClient(Starlette(routes=[*traces.routes(), *exports.routes()]))
    address = f"{traces.PREFIX}/{'0' * 64}/{name}"
    assert client.get(address).status_code == 410
    with traces.FILES.places:
        answer = client.get(address)
    assert (answer.status_code, answer.text) == (503, traces.FILES.sentence)
    assert client.get(address).status_code == 410
