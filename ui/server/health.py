"""Whether the app lives and whether it is ready, for what starts and restarts it: a container, a cluster, a proxy.

Both stand beside the path that the app may be served below, tell everybody the same few words, and cost nothing.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from inference import EMBEDDED
from ui.run.services import get_backend
from ui.server.warm_up import FAILED

NOW = {"Cache-Control": "no-store"}


async def liveness(_request: Request) -> Response:
    """The process answers."""
    return PlainTextResponse("live", headers=NOW)


def readiness(_request: Request) -> Response:
    """Readers may be sent here: the embedded model is in memory, or nothing has gone wrong on its way there.

    Pages answer while it is loaded, so loading is no reason to send nobody; a model that could not be loaded is, until
    somebody's page has loaded it after all.
    """
    if not FAILED.is_set() or get_backend().status(EMBEDDED) == "loaded":
        return PlainTextResponse("ready", headers=NOW)
    return PlainTextResponse("The embedded model could not be loaded; the log says why.", 503, headers=NOW)


def routes() -> list[Route]:
    """The routes, for the app."""
    return [Route("/healthz/live", liveness), Route("/healthz/ready", readiness)]
