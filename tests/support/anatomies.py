"""The architectures' builds for tests, each computed a single time."""

from __future__ import annotations

from functools import cache

from inference.record import capture
from inference.runners.anatomy import dissect
from inference.tasks.anatomy import Build
from tests.support.architectures import MAPS_ONLY, RECORDED, Architecture, build, named

LIMIT = 64
# The app opens models that read text and need no other model's output.
TEXT = [row for row in (*RECORDED, *MAPS_ONLY) if row.kind in ("encoder", "decoder", "encoder-decoder")]
NAMES = [row.name for row in TEXT]


@cache
def built(name: str) -> Build:
    """Return the cached build of an architecture of the table."""
    return taken_apart(named(name))


def taken_apart(row: Architecture) -> Build:
    """Dissect the model of a row as the app does."""
    capture.install()
    model = build(row, capture.NAME)
    records = capture.prepare(model)
    kind = {"sound": "encoder-decoder", "vision": "encoder", "cross": "decoder"}.get(row.kind, row.kind)
    return dissect(model, kind, records, LIMIT)


def lengths(build: Build) -> dict[str, int]:
    """Return the number of tokens of each stack; they differ if the model has an encoder and a decoder."""
    return {"encoder": 7, "decoder": 5} if build.kind == "encoder-decoder" else {"encoder": 7, "decoder": 7}
