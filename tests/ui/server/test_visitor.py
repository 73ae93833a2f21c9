"""The visitor's cookie: set with a page, kept if valid, and never copied from a request."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.support.cases import loop_over
from ui.server.middleware import NAME, VALUE, VisitorCookie

OURS = "AbCdEfGhIjKlMnOpQrSt-_"


def page(_request: Request) -> Response:
    return Response(status_code=304)  # Most visits have this status.


@pytest.fixture
def client() -> TestClient:
    """Return a browser's client that requests pages."""
    asks = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    return TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(VisitorCookie)]), headers=asks)


def given(headers: Any) -> SimpleCookie:
    cookies: SimpleCookie = SimpleCookie()
    cookies.load(headers["set-cookie"])
    return cookies


def test_a_page_brings_a_cookie_that_scripts_and_other_sites_do_not_get(client: TestClient) -> None:
    cookie = given(client.get("/").headers)[NAME]
    assert VALUE.fullmatch(cookie.value)
    assert (cookie["path"], cookie["samesite"], cookie["httponly"]) == ("/", "Lax", True)
    assert int(cookie["max-age"]) == 30 * 86_400
    assert not cookie["secure"]
    assert given(client.get("https://testserver/").headers)[NAME]["secure"]


def test_the_same_visitor_keeps_it_and_another_has_another(client: TestClient) -> None:
    first = given(client.get("/").headers)[NAME].value
    assert client.cookies[NAME] == first
    assert given(client.get("/").headers)[NAME].value == first
    client.cookies.clear()
    assert given(client.get("/").headers)[NAME].value != first


def test_what_is_no_page_brings_none(client: TestClient) -> None:
    assert "set-cookie" not in client.get("/", headers={"accept": "*/*"}).headers


@loop_over(
    "sent",
    [
        f"{NAME}=",
        f"{NAME}={OURS}x",
        f"{NAME}={OURS[1:]}",
        f"{NAME}=<script>alert(1)</script>",
        f'{NAME}="{OURS[:-1]}\\012"',
        f"{NAME}={OURS[:-1]}; Path=/; Domain=elsewhere",
        f"=;;;{NAME}",
        "\xff" * 30,
        "a=b; " * 5_000,
        f"other={OURS}",
    ],
)
def test_a_hostile_cookie_is_replaced(client: TestClient, sent: str) -> None:
    client.cookies.clear()
    answer = client.get("/", headers={b"cookie": sent.encode("latin-1")})
    value = given(answer.headers)[NAME].value
    assert VALUE.fullmatch(value)
    assert value not in sent
    assert len(answer.headers.get_list("set-cookie")) == 1


def test_ours_is_found_among_others(client: TestClient) -> None:
    answer = client.get("/", headers={"cookie": f"theme=dark; {NAME}={OURS}; other=1"})
    assert given(answer.headers)[NAME].value == OURS


def test_what_is_no_http_passes() -> None:
    seen = []

    async def inner(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(VisitorCookie(inner)({"type": "websocket"}, None, None))  # type: ignore[arg-type]
    assert seen == ["websocket"]
