"""What the service and its client agree on: addresses, headers, and what of a refusal travels."""

from __future__ import annotations

import dataclasses
from typing import Any

from inference.errors import UserError
from inference.files.hub import Offer
from serving.serialization import pack

TOKEN, PORT = "HEADLIGHT_BACKEND_TOKEN", 8765  # without a token only the loopback is answered
TYPE = "application/x-headlight"  # of bodies; no page of another site can send it unasked
DEADLINE = "x-headlight-seconds"  # how long who asks still waits
AFFINITY = "x-session-id"  # the question's key: a balancer that hashes it asks the same replica again
VISITOR = "x-headlight-visitor"  # one of many, who are served in turn
MODEL = "serve_multiplexed_model_id"  # Ray Serve sends it where that model is in memory
MOST_ASKED = 64 * 2**20  # bytes of a question: a picture's, or some dozens of long texts
MOST_ANSWERED = 2**30  # bytes of an answer
AT_ONCE = 16  # texts in one question

TRACES, ANSWER, ABOUT = "/v1/traces", "/v1/answer", "/v1/about"
LIVE, READY = "/healthz/live", "/healthz/ready"


def portable(value: Any) -> Any:
    """A value without what holds on its machine alone: where files lie, and what no frame holds.

    >>> portable(UserError("No.", details={"limit": 3, "file": object()})).details
    {'limit': 3}
    """
    if isinstance(value, Offer):
        return dataclasses.replace(value, folder=None)
    if isinstance(value, UserError):
        told = {name: portable(detail) for name, detail in value.details.items()}
        return UserError(value.message, way_out=value.way_out, details={k: v for k, v in told.items() if _packs(v)})
    return value


def _packs(value: Any) -> bool:
    try:
        pack(value)
    except TypeError:
        return False
    return True
