"""Clicks in the microscope of a page that AppTest runs, sent to the route as a browser sends them.

Import the fixtures: ``clicks`` is a client of the route, ``written`` records the addresses that were sent to
browsers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from tests.support.asking import go
from ui.routes import selection_tokens
from ui.routes.selection_tokens import ADDRESS
from ui.server.middleware import Guard


@pytest.fixture
def clicks() -> TestClient:
    """Return a client of the route behind the guard of all routes."""
    return TestClient(Starlette(routes=selection_tokens.routes(), middleware=[Middleware(Guard)]), "http://localhost")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Return the list of addresses that were sent to browsers, because AppTest has no address bar."""
    found: list[dict[str, str]] = []

    def write(_session: str, query: Mapping[str, str]) -> bool:
        found.append(dict(query))
        return True

    monkeypatch.setattr(selection_tokens, "send_query", write)
    return found


def picture(page: AppTest) -> dict[str, Any]:
    """Return the data that the page passes to the microscope."""
    (part,) = (p.proto for p in page.get("bidi_component") if p.proto.component_name.startswith("headlight_explore"))
    found: dict[str, Any] = json.loads(part.json)
    return found


def keep(asking: TestClient, page: AppTest, **patch: object) -> int:
    """Send a click that changes the selection by ``patch``; return the status of the answer."""
    shown = picture(page)
    said = {"slip": shown["slip"]["token"], "selection": {**shown["selection"], **patch}}
    return asking.post(ADDRESS, json=said).status_code


def address(page: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}


def follow(page: AppTest, query: dict[str, str]) -> None:
    """Set the address that the browser will send with its next request."""
    page.query_params.clear()
    page.query_params.update(query)


def leave(page: AppTest, file: str) -> None:
    """Open another page as a browser does, without the parameters of the address."""
    follow(page, {})
    go(page, file)
