"""Security headers of all responses."""

from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.pages.bertviz_views import page as bertviz_views
from ui.server.middleware import POLICY, SecurityHeaders


async def own(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("here", headers={"Content-Security-Policy": "sandbox"})


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(
        Starlette(routes=[Route("/own", own), *bertviz_views.routes()], middleware=[Middleware(SecurityHeaders)])
    )


@pytest.mark.parametrize("path", ["/nothing", "/own"])
def test_other_sites_get_neither_the_answer_nor_the_window(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert {"camera=()", "microphone=()", "geolocation=()"} <= set(headers["permissions-policy"].split(", "))


def test_an_answer_s_own_policy_stands(client: TestClient) -> None:
    assert client.get("/own").headers["content-security-policy"] == "sandbox"
    assert client.get("/nothing").headers["content-security-policy"] == POLICY


def test_no_policy_lets_other_hosts_or_inline_scripts_in() -> None:
    stated = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert stated["default-src"] == "'self'"
    assert "'unsafe" not in stated["script-src"]
    assert not re.search(r"https?:|\*", POLICY)
    assert {"object-src": "'none'", "form-action": "'self'", "base-uri": "'self'"}.items() <= stated.items()


def test_a_sandbox_may_load_the_scripts_that_it_shows_bertviz_with(client: TestClient) -> None:
    answer = client.get(f"{bertviz_views.VENDOR}/d3.js")
    assert answer.status_code == 200
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
