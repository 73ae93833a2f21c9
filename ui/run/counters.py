"""Counters of this process for its operator; they contain nothing about visitors and texts.

ui/server/metrics.py serves them.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
# The range covers a cached answer and the loading of a model.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

REQUESTS = Counter(
    "headlight_requests",
    "Answers over http, by the route's pattern; what no route was found for is “other”.",
    ("route", "status"),
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "headlight_request_seconds",
    "From a request to the end of its answer. A class's page waits for news on purpose.",
    ("route",),
    unit="seconds",
    buckets=SECONDS,
    registry=REGISTRY,
)
PAGE_SECONDS = Histogram(
    "headlight_page_seconds",
    "How long a page's script ran, from a click to the last thing drawn.",
    ("page",),
    unit="seconds",
    buckets=SECONDS,
    registry=REGISTRY,
)
SESSIONS = Gauge("headlight_sessions", "Pages that are open: their connections.", registry=REGISTRY)
REFUSALS = Counter(
    "headlight_refusals",
    "Sentences by which a page refused what was asked, by the way out that it offered; “none” without one.",
    ("way_out",),
    registry=REGISTRY,
)
