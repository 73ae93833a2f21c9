"""Clicks in the microscope of a page that AppTest runs: told as a browser tells them, without a run.

Fixtures, to be imported: ``clicks`` asks the route, ``written`` has the addresses that were sent to browsers.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from tests.support.asking import go
from ui.routes import selection_tokens
from ui.routes.selection_tokens import ADDRESS
from ui.server.guard import Guard
from ui.state.selection_token import SelectionToken


@pytest.fixture
def clicks() -> TestClient:
    """Who asks the route, behind the guard that all routes stand behind."""
    return TestClient(Starlette(routes=selection_tokens.routes(), middleware=[Middleware(Guard)]), "http://localhost")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Addresses that were sent to browsers; AppTest has none."""
    found: list[dict[str, str]] = []

    def write(slip: SelectionToken) -> bool:
        found.append(dict(slip.query))
        return True

    monkeypatch.setattr(selection_tokens, "write_address", write)
    return found


def picture(page: AppTest) -> dict[str, Any]:
    """What the microscope is given."""
    (part,) = (p.proto for p in page.get("bidi_component") if p.proto.component_name.startswith("headlight_explore"))
    found: dict[str, Any] = json.loads(part.json)
    return found


def keep(asking: TestClient, page: AppTest, **patch: object) -> int:
    """A click that changes these; the answer's status."""
    shown = picture(page)
    said = {"slip": shown["slip"]["token"], "selection": {**shown["selection"], **patch}}
    return asking.post(ADDRESS, json=said).status_code


def address(page: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}


def follow(page: AppTest, query: dict[str, str]) -> None:
    """The browser's address is this when it asks next."""
    page.query_params.clear()
    page.query_params.update(query)


def leave(page: AppTest, file: str) -> None:
    """Opens another page as a browser does, which takes nothing of the address along."""
    follow(page, {})
    go(page, file)
