"""Redirects of the addresses of earlier versions."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.server import middleware
from ui.server.middleware import OldAddresses


def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.url.path)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/{path:path}", answer, methods=["GET", "POST"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(OldAddresses)]), follow_redirects=False)


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
