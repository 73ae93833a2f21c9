"""What the tests know about the architectures' builds, each taken apart once."""

from __future__ import annotations

from functools import cache

from inference.record import capture
from inference.runners.anatomy import dissect
from inference.tasks.anatomy import Build
from tests.support.architectures import MAPS_ONLY, RECORDED, Architecture, build, named

LIMIT = 64
# What the app opens: models that read text, without what another model would have to give them.
TEXT = [row for row in (*RECORDED, *MAPS_ONLY) if row.kind in ("encoder", "decoder", "encoder-decoder")]
NAMES = [row.name for row in TEXT]


@cache
def built(name: str) -> Build:
    """The build of an architecture of the table."""
    return taken_apart(named(name))


def taken_apart(row: Architecture) -> Build:
    """The build of a row, as the app would have it."""
    capture.install()
    model = build(row, capture.NAME)
    records = capture.prepare(model)
    kind = {"sound": "encoder-decoder", "vision": "encoder", "cross": "decoder"}.get(row.kind, row.kind)
    return dissect(model, kind, records, LIMIT)


def lengths(build: Build) -> dict[str, int]:
    """Tokens on either side; unequal."""
    return {"encoder": 7, "decoder": 5} if build.kind == "encoder-decoder" else {"encoder": 7, "decoder": 7}
