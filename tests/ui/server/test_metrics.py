"""Metrics for monitoring: correct values, a bounded number of series, and restricted access."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from inference.byte_cache import ByteLru
from inference.scheduling import QueueStats
from tests.support.cases import loop_over
from ui.run.counters import REGISTRY
from ui.run.services import get_backend
from ui.server import metrics
from ui.server.metrics import TOKEN, ProcessMetrics, RequestMetrics
from ui.server.middleware import Guard

FILES = QueueStats()
HELD = ProcessMetrics({"files": FILES})


def page(_request: Request) -> Response:
    return PlainTextResponse("here")


def broken(_request: Request) -> Response:
    raise RuntimeError("broken")


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    await socket.receive_text()
    await socket.close()


def client(here: str = "127.0.0.1", host: str = "localhost:8501") -> TestClient:
    """Return a client at an address."""
    app = Starlette(
        routes=[
            Route("/test/{id}/page", page),
            Route("/test/broken", broken),
            WebSocketRoute("/test/stream", stream),
            Route(metrics.ADDRESS, metrics.metrics),
        ],
        middleware=[Middleware(RequestMetrics), Middleware(Guard, hosts=())],
    )
    return TestClient(app, base_url=f"http://{host}", client=(here, 50000), raise_server_exceptions=False)


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (TOKEN, "HEADLIGHT_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    REGISTRY.register(HELD)
    yield
    REGISTRY.unregister(HELD)


def value(name: str, **labels: str) -> float:
    """Return the value of a metric, or 0 if the series does not exist."""
    answer = client().get(metrics.ADDRESS)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = text_string_to_metric_families(answer.text)
    samples = [sample for family in families for sample in family.samples]
    return next((one.value for one in samples if one.name == name and one.labels == labels), 0.0)


def test_answers_are_counted_by_pattern_and_status() -> None:
    asked = {"name": "headlight_requests_total", "route": "/test/{id}/page", "status": "200"}
    before = value(**asked)
    for which in ("one", "two", "<script>"):
        assert client().get(f"/test/{which}/page").text == "here"
    assert value(**asked) == before + 3
    assert value("headlight_request_seconds_count", route="/test/{id}/page") >= 3


@pytest.mark.parametrize(
    ("path", "host", "route", "status"),
    [
        ("/nothing/of/that/name", "localhost", "other", "404"),
        ("/test/1/page", "foreign.example", "other", "403"),
        ("/test/broken", "localhost", "/test/broken", "500"),
    ],
)
def test_what_went_wrong_is_counted_too(path: str, host: str, route: str, status: str) -> None:
    before = value("headlight_requests_total", route=route, status=status)
    assert client().get(path, headers={"host": host}).status_code == int(status)
    assert value("headlight_requests_total", route=route, status=status) == before + 1


def test_open_pages_are_counted_while_they_are_open() -> None:
    before = value("headlight_sessions")
    with client().websocket_connect("ws://localhost:8501/test/stream", headers={"host": "localhost:8501"}) as one:
        assert value("headlight_sessions") == before + 1
        one.send_text("bye")
    assert value("headlight_sessions") == before


def test_what_is_in_memory_and_who_waits_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    traces: ByteLru[str] = ByteLru(5)
    for key in ("one", "two", "two"):
        traces.get_or_make(key, lambda: "xxxx", len)
    monkeypatch.setattr(get_backend(), "kept_traces", traces)
    monkeypatch.setattr(get_backend(), "status", None)  # Metrics must not call this method.
    of = {"cache": "traces"}
    assert value("headlight_cache_entries", **of) == 1
    assert value("headlight_cache_bytes", **of) == 4
    assert value("headlight_cache_budget_bytes", **of) == 5
    assert value("headlight_cache_hits_total", **of) == 1
    assert value("headlight_cache_additions_total", **of) == 2
    assert value("headlight_cache_evictions_total", **of) == 1
    came = FILES.enter()
    FILES.reject()
    assert value("headlight_waiting", line="files") == 1
    FILES.admit(came)
    assert value("headlight_waiting", line="files") == 0
    assert value("headlight_wait_seconds_count", line="files") == FILES.passed
    assert value("headlight_turned_away_total", line="files") == FILES.refused > 0


@pytest.mark.parametrize("here", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_program_on_this_machine_reads_it(here: str) -> None:
    assert client(here).get(metrics.ADDRESS).status_code == 200


@loop_over(
    ("here", "headers"),
    [
        ("192.0.2.7", {}),  # The client is another machine.
        ("172.17.0.1", {}),  # The request comes through a container's port.
        ("::ffff:192.0.2.7", {}),
        ("testclient", {}),  # The client has no address.
        ("127.0.0.1", {"x-forwarded-for": "192.0.2.7"}),  # The request comes through a proxy on this machine.
        ("127.0.0.1", {"forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"via": "1.1 proxy"}),
    ],
)
def test_nobody_else_reads_it(here: str, headers: dict[str, str]) -> None:
    answer = client(here).get(metrics.ADDRESS, headers=headers)
    assert (answer.status_code, answer.text) == (404, "Not Found")


def test_nobody_reads_it_without_a_token_where_a_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_HOSTS", "attention.example")
    assert client().get(metrics.ADDRESS).status_code == 404


@pytest.mark.parametrize("sent", ["", "Bearer ", "Bearer secre", "Bearer secret2", "secret", "Bearer sécret"])
def test_with_a_token_it_is_asked_for_everywhere(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    headers = {b"authorization": sent.encode("latin-1")} if sent else {}
    assert client().get(metrics.ADDRESS, headers=headers).status_code == 404
    right = {"authorization": "Bearer secret"}
    assert client("192.0.2.7").get(metrics.ADDRESS, headers=right).status_code == 200
