"""Health checks of this process, and its metrics in the OpenMetrics format."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

from prometheus_client import ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from inference.byte_cache import ByteLru
from inference.scheduling import QueueStats
from ui.run.counters import REGISTRY, REQUEST_SECONDS, REQUESTS, SESSIONS
from ui.run.services import get_backend, get_trace_store
from ui.server import middleware
from ui.server.middleware import may_be_proxied
from ui.server.warm_up import FAILED
from ui.state.view_state import DEFAULT_MODEL

NOW = {"Cache-Control": "no-store"}


async def liveness(_request: Request) -> Response:
    """Return 200, to show that the process answers."""
    return PlainTextResponse("live", headers=NOW)


def readiness(_request: Request) -> Response:
    """Return 503 if the default model failed to load and is still not in memory; else return 200.

    The server is ready while the model loads, because pages answer meanwhile.
    """
    if not FAILED.is_set() or get_backend().status(DEFAULT_MODEL) == "loaded":
        return PlainTextResponse("ready", headers=NOW)
    return PlainTextResponse("The default model could not be loaded; the log says why.", 503, headers=NOW)


def health_routes() -> list[Route]:
    """Return the routes of the health checks."""
    return [Route("/healthz/live", liveness), Route("/healthz/ready", readiness)]


ADDRESS = "/metrics"  # Outside the base path, so that a proxy for the base path does not expose the metrics.
TOKEN = "HEADLIGHT_METRICS_TOKEN"


class RequestMetrics:
    """Middleware that counts and times HTTP responses and counts the open WebSocket connections of pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._count_request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._count_connection(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _count_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, came = 500, perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            # A label of the route's pattern has few values and contains no ids, unlike the path.
            route = getattr(scope.get("route"), "path", None) or "other"
            REQUESTS.labels(route, str(status)).inc()
            REQUEST_SECONDS.labels(route).observe(perf_counter() - came)

    async def _count_connection(self, scope: Scope, receive: Receive, send: Send) -> None:
        accepted = False

        async def noting(message: Message) -> None:
            nonlocal accepted
            if message["type"] == "websocket.accept" and not accepted:
                accepted = True
                SESSIONS.inc()
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            if accepted:
                SESSIONS.dec()


class ProcessMetrics(Collector):
    """A Prometheus collector for the sizes of caches and the lengths of queues.

    ``lines`` are the queues of requests for files, by name.
    """

    def __init__(self, lines: Mapping[str, QueueStats]) -> None:
        self.lines = lines

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families of the caches and queues."""
        asked, shown = get_backend(), get_trace_store()
        yield from _caches(
            {
                "models": asked.kept_models,
                "traces": asked.kept_traces,
                "answers": asked.kept_answers,
                "opened": shown.opened,
                "surveys": shown.surveys,
            }
        )
        yield from _lines({"forwards": asked.forwards.waits, "surveys": shown.gate.waits, **self.lines})


def _caches(kept: Mapping[str, ByteLru[Any]]) -> Iterator[Metric]:
    label = ("cache",)
    entries = GaugeMetricFamily("headlight_cache_entries", "Values in memory: models, traces, …", labels=label)
    size = GaugeMetricFamily("headlight_cache_bytes", "Bytes that they take.", labels=label, unit="bytes")
    budget = GaugeMetricFamily("headlight_cache_budget_bytes", "Bytes that they may.", labels=label, unit="bytes")
    hits = CounterMetricFamily("headlight_cache_hits", "Values that were asked for and there.", labels=label)
    additions = CounterMetricFamily("headlight_cache_additions", "Values that were made and kept.", labels=label)
    evictions = CounterMetricFamily("headlight_cache_evictions", "Values let go for others' sake.", labels=label)
    for name, cache in kept.items():
        entries.add_metric((name,), len(cache))
        size.add_metric((name,), cache.nbytes)
        budget.add_metric((name,), cache.budget)
        hits.add_metric((name,), cache.hits)
        additions.add_metric((name,), cache.additions)
        evictions.add_metric((name,), cache.evictions)
    yield from (entries, size, budget, hits, additions, evictions)


def _lines(lines: Mapping[str, QueueStats]) -> Iterator[Metric]:
    label = ("line",)
    waiting = GaugeMetricFamily("headlight_waiting", "Who waits in a line now.", labels=label)
    waits = SummaryMetricFamily("headlight_wait_seconds", "How long who was let through waited.", labels=label)
    refused = CounterMetricFamily("headlight_turned_away", "Who found the line full.", labels=label)
    for name, line in lines.items():
        waiting.add_metric((name,), line.waiting)
        waits.add_metric((name,), line.passed, line.seconds)
        refused.add_metric((name,), line.refused)
    yield from (waiting, waits, refused)


def may_read(request: Request, environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if the request may read the metrics.

    If HEADLIGHT_METRICS_TOKEN is set, its bearer token decides. Otherwise only direct requests from this machine
    may read.
    """
    if token := environ.get(TOKEN, ""):
        sent = request.headers.get("authorization", "")
        return hmac.compare_digest(sent.encode("utf-8", "replace"), f"Bearer {token}".encode())
    if may_be_proxied(request, environ):
        return False
    came = middleware.normalize_address(request.client.host) if request.client else ""
    return came in middleware.LOOPBACK and middleware.name_of(request.headers.get("host", "")) in middleware.LOOPBACK


def metrics(request: Request) -> Response:
    """Return all metrics in the OpenMetrics format, or 404 if the request may not read them."""
    if not may_read(request):
        return PlainTextResponse("Not Found", 404)
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def metrics_routes(lines: Mapping[str, QueueStats]) -> list[Route]:
    """Register the collectors and return the route of the metrics; call this only once."""
    REGISTRY.register(ProcessMetrics(lines))
    ProcessCollector(registry=REGISTRY)
    return [Route(ADDRESS, metrics)]
