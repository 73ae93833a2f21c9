"""Files that wait hold no thread that answers pages; who comes when the line is full is told to come again."""

from __future__ import annotations

import threading

import anyio
import httpx2
import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.routes import exports, traces
from ui.routes.limit import Limit


def test_many_files_in_line_leave_the_pages_their_threads() -> None:
    let = threading.Event()
    limit = Limit(1, 3, "Too many.")

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
                while limit.places.acquire(blocking=False):  # until all four are in line
                    limit.places.release()
                    await anyio.lowlevel.checkpoint()
                assert (await client.get("/page")).text == "page"
                told = await client.get("/file")
                assert (told.status_code, told.text, told.headers["retry-after"]) == (503, "Too many.", "10")
                let.set()

    anyio.run(visit)
    assert answers == [200] * 4
    assert (limit.waits.waiting, limit.waits.passed, limit.waits.refused) == (0, 4, 1)


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
