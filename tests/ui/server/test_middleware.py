"""Redirects of the addresses of earlier versions, and compressed and early scripts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.server import middleware
from ui.server.middleware import CHART_SCRIPT, ChartPreload, CompressedScripts, OldAddresses


def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.url.path)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/{path:path}", answer, methods=["GET", "POST"])]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(OldAddresses), Middleware(ChartPreload)]),
        follow_redirects=False,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/find", "/?view=find"),
        ("/bertviz/?text=%3Cb%3E&layer=3", "/?text=%3Cb%3E&layer=3&view=bertviz_views"),
        ("/pictures?vision=x", "/image_attention?vision=x"),
        ("/explore?head=1", "/?head=1"),
    ],
)
def test_an_address_of_an_earlier_version_is_redirected(client: TestClient, old: str, new: str) -> None:
    there = client.get(old)
    assert (there.status_code, there.headers["location"]) == (308, new)


@pytest.mark.parametrize("path", ["/", "/tokens?view=vectors", "/_stcore/health", "/find/_stcore/health", "//evil"])
def test_other_addresses_are_answered(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200


def test_only_requests_for_pages_are_redirected(client: TestClient) -> None:
    assert client.post("/find").status_code == 200


def test_below_a_prefix_the_prefix_stays(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BASE", "/some/path")
    assert client.get("/some/path/find").headers["location"] == "/some/path/?view=find"


def test_views_with_charts_preload_the_chart_script(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BASE", "/some")
    begins = {"/head_roles": True, "/": False, "/?view=find": True, "/tokens": False, "/no": False}
    for path, does in begins.items():
        found = client.get(f"/some{path}", headers={"accept": "text/html"}).headers
        assert found.get("link") == (f"</some{CHART_SCRIPT}>; rel=modulepreload" if does else None)
        assert "link" not in client.get(f"/some{path}").headers
    assert (Path(streamlit.__file__).parent / f"static{CHART_SCRIPT}").is_file()


SCRIPT = "const words = ['attention', 'attention'];\n" * 500


@pytest.fixture
def scripts(tmp_path: Path) -> TestClient:
    for name in ("a.js", "a.css", "a.woff2"):
        (tmp_path / name).write_text(SCRIPT, encoding="utf-8")
    app = Starlette(
        routes=[Mount("/static", StaticFiles(directory=tmp_path))], middleware=[Middleware(CompressedScripts)]
    )
    return TestClient(app)


@pytest.mark.parametrize("name", ["a.js", "a.css"])
def test_a_script_arrives_compressed_and_unchanged(scripts: TestClient, name: str) -> None:
    for _time in range(2):  # The second answer is kept.
        found = scripts.get(f"/static/{name}", headers={"accept-encoding": "gzip, br"})
        assert found.text == SCRIPT
        assert found.headers["content-encoding"] == "gzip"
        assert int(found.headers["content-length"]) < len(SCRIPT) / 20
        assert found.headers["vary"] == "Accept-Encoding"
        assert "accept-ranges" not in found.headers


@pytest.mark.parametrize(
    ("name", "asked", "status"),
    [
        ("a.js", {"accept-encoding": "identity"}, 200),
        ("a.js", {"accept-encoding": "gzip", "range": "bytes=0-9"}, 206),
        ("a.woff2", {"accept-encoding": "gzip"}, 200),
        ("b.js", {"accept-encoding": "gzip"}, 404),
    ],
)
def test_other_answers_are_passed_on(scripts: TestClient, name: str, asked: dict[str, str], status: int) -> None:
    found = scripts.get(f"/static/{name}", headers=asked)
    assert found.status_code == status
    assert "content-encoding" not in found.headers


def test_a_kept_script_is_not_sent_again(scripts: TestClient) -> None:
    first = scripts.get("/static/a.js", headers={"accept-encoding": "gzip"})
    again = scripts.get("/static/a.js", headers={"accept-encoding": "gzip", "if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def cut_off(_scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a script, but without a body if the client has gone, as middleware of Starlette does."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(SCRIPT))]})
    if (await receive())["type"] != "http.disconnect":
        await send({"type": "http.response.body", "body": SCRIPT.encode()})


async def broken(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with half of the bytes that the headers state."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(SCRIPT))]})
    await send({"type": "http.response.body", "body": SCRIPT[: len(SCRIPT) // 2].encode()})


@pytest.mark.parametrize(("app", "first"), [(cut_off, SCRIPT), (broken, SCRIPT[: len(SCRIPT) // 2])])
def test_a_client_that_leaves_spoils_the_script_for_nobody(app: ASGIApp, first: str) -> None:
    compressed = CompressedScripts(app)
    sent: list[Message] = []
    asked = {
        "type": "http", "method": "GET", "path": "/static/a.js", "query_string": b"",
        "headers": [(b"accept-encoding", b"gzip")],
    }  # fmt: skip

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def keep(message: Message) -> None:
        sent.append(message)

    asyncio.run(compressed(asked, gone, keep))
    found = TestClient(compressed).get("/static/a.js", headers={"accept-encoding": "gzip"})
    assert found.text == first
    assert ("content-encoding" in found.headers) == (first == SCRIPT), "half a script is not kept"
