"""The guard against foreign Host and Origin headers for HTTP and WebSocket, without name look-ups."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

from tests.support.cases import loop_over
from ui.server.middleware import FOREIGN_HOST, FOREIGN_ORIGIN, ONLY_HERE, Guard

MACHINE = "192.0.2.20"  # The address is reserved for documentation (RFC 5737).


def page(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


async def stream(socket: WebSocket) -> None:
    """Accept a WebSocket after Streamlit's own check of the origin."""
    if _is_origin_allowed(socket.headers.get("origin"), socket.headers.get("host")):
        await socket.accept()
    await socket.close()


def client(arrived: str = "127.0.0.1", hosts: tuple[str, ...] = ()) -> TestClient:
    """Return a client of a server whose connection arrived at this address."""
    app = Starlette(
        routes=[Route("/", page, methods=["GET", "POST"]), WebSocketRoute("/stream", stream)],
        middleware=[Middleware(Guard, hosts=hosts)],
    )
    return TestClient(app, base_url=f"http://[{arrived}]:8501" if ":" in arrived else f"http://{arrived}:8501")


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> str:
        raise AssertionError("A server on the internet would have been asked for this machine's address.")

    monkeypatch.setattr(net_util, "get_external_ip", asked)


def opened(asking: TestClient, headers: dict[str, str]) -> bool:
    """Return True if the WebSocket was accepted."""
    accepted, address = False, f"{asking.base_url}/stream".replace("http", "ws", 1)
    with suppress(WebSocketDisconnect), asking.websocket_connect(address, headers=headers):
        accepted = True
    return accepted


GOOD = [
    ("127.0.0.1", {"host": "127.0.0.1:8501"}),
    ("127.0.0.1", {"host": "localhost:8501", "origin": "http://localhost:8501"}),
    ("127.0.0.1", {"host": "LocalHost", "origin": "http://localhost"}),
    ("::1", {"host": "[::1]:8501", "origin": "http://[::1]:8501"}),
    (MACHINE, {"host": f"{MACHINE}:8501", "origin": f"http://{MACHINE}:8501"}),  # A phone is in the same network.
    (f"::ffff:{MACHINE}", {"host": f"{MACHINE}:8501", "origin": f"http://{MACHINE}:8501"}),
    # The request comes through a container's port.
    (MACHINE, {"host": "localhost:8501", "origin": "http://localhost:8501"}),
    # A proxy sends the address of its backend.
    ("127.0.0.1", {"host": "127.0.0.1:8501", "origin": "https://attention.example"}),
    # A proxy forwards the Host header.
    ("127.0.0.1", {"host": "attention.example", "origin": "https://attention.example"}),
]


@loop_over(("arrived", "headers"), GOOD)
def test_who_asks_under_the_server_s_own_name_is_answered(arrived: str, headers: dict[str, str]) -> None:
    asking = client(arrived, hosts=("attention.example",))
    assert asking.get("/", headers=headers).text == "here"
    assert opened(asking, headers)


FOREIGN_HOSTS = [
    "attention.example:8501",
    MACHINE,
    "localhost.attention.example",
    "localhost@attention.example",
    "[",
    "",
]


@loop_over("host", FOREIGN_HOSTS)
def test_a_name_that_was_made_to_point_here_is_refused(host: str) -> None:
    headers = {"host": host, "origin": f"http://{host}"}
    answer = client().get("/", headers=headers)
    assert (answer.status_code, answer.text) == (403, FOREIGN_HOST)
    assert not opened(client(), headers)


FOREIGN_ORIGINS = [
    "http://attention.example",
    "http://localhost:8502",  # Another port is another origin.
    "http://localhost",
    "http://127.0.0.1:8501",  # Another name of this server is another origin, too.
    "null",
    "file://",
    "http://localhost:8501@attention.example",
    "chrome-extension://localhost:8501",
]


@loop_over("origin", FOREIGN_ORIGINS)
def test_another_site_s_page_is_refused(origin: str) -> None:
    headers = {"host": "localhost:8501", "origin": origin}
    for ask in (client().get, client().post):
        answer: Any = ask("/", headers=headers)
        assert (answer.status_code, answer.text) == (403, FOREIGN_ORIGIN)
    assert not opened(client(), headers)


def test_a_name_is_allowed_at_its_own_port_alone() -> None:
    asking = client(hosts=("attention.example:8443",))
    headers = {"host": "attention.example:8443", "origin": "https://attention.example:8443"}
    assert opened(asking, headers)
    assert not opened(asking, {**headers, "host": "localhost:8501", "origin": "https://attention.example"})


def test_the_operator_names_them_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_HOSTS", " Attention.example , other.example:8443")
    app = Starlette(routes=[Route("/", page)], middleware=[Middleware(Guard)])
    asking = TestClient(app, base_url="http://127.0.0.1")
    for host, status in {"attention.example": 200, "other.example": 200, "third.example": 403}.items():
        assert asking.get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize("stated", ["https://attention.example", "attention.example/app", "["])
def test_what_is_no_name_is_not_taken_for_one(stated: str) -> None:
    with pytest.raises(ValueError, match="HEADLIGHT_HOSTS is"):
        Guard(Starlette(), hosts=(stated,))


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/base/_stcore/metrics/"])
def test_what_streamlit_tells_of_everybody_is_closed(path: str) -> None:
    async def open_to_all(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("3 are here")

    app = Starlette(routes=[Route("/{path:path}", open_to_all)], middleware=[Middleware(Guard, hosts=())])
    asking = TestClient(app, base_url="http://localhost")
    assert asking.get("/_stcore/health").status_code == 200
    assert asking.get(path).status_code == 404
    assert asking.options(path).status_code == 404


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"localhost"]])
def test_none_or_two_hosts_are_refused(hosts: list[bytes]) -> None:
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    headers = [(b"host", host) for host in hosts]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "server": ("127.0.0.1", 8501)}
    asyncio.run(Guard(Starlette())(scope, None, send))  # type: ignore[arg-type]  # nothing is received
    assert told[0]["status"] == 403


@pytest.mark.parametrize(
    ("came", "answered"),
    [("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), (MACHINE, False), ("", False)],
)
def test_where_the_app_is_for_this_machine_alone_no_other_is_answered(came: str, answered: bool) -> None:
    app = Starlette(routes=[Route("/", page)], middleware=[Middleware(Guard, hosts=(), only_here=True)])
    client = TestClient(app, base_url="http://127.0.0.1:8501", client=(came, 5))
    answer = client.get("/")
    assert (answer.status_code, answer.text) == ((200, "here") if answered else (403, ONLY_HERE))
