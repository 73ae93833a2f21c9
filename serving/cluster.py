"""The HTTP service on Ray Serve, with a number of replicas that follows the load.

``python -m serving.cluster`` runs the service on this machine; clusters start ``serving.cluster:application``
(docs/SERVING.md). The app imports neither this module nor Ray.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from inference.errors import Parser
from serving import haproxy
from serving.model_process import SubprocessBackend
from serving.protocol import MODEL, PORT, TOKEN
from serving.request_headers import is_loopback
from serving.service import Service

NAME = "headlight"
MODELS = 8  # model names announced by each replica; its memory limits the models it keeps (inference.byte_cache)
BATCH = 8  # maximal batch size, and the number of running requests per replica at which Ray scales up
INSIDE, WAITING = 64, 256  # requests inside a replica, and requests queued in front of all replicas
OBJECTS = 100_000_000  # bytes of Ray's object store, which this service does not use
# Set before Ray is imported: no usage statistics, a token for every connection, and short retries of a full router
# (with Ray's default of half a second, thirty visitors waited long).
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_SERVE_ROUTER_RETRY_INITIAL_BACKOFF_S": "0.005",
    "RAY_SERVE_ROUTER_RETRY_MAX_BACKOFF_S": "0.02",
    "OMP_NUM_THREADS": "1",
    # A node that is silent for about twenty seconds counts as lost, and an unhealthy replica is killed. Clients then
    # repeat their requests before they give up (serving.remote_backend.PATIENCE). With Ray's defaults this took over a
    # minute, and visitors read an error message.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_SERVE_FORCE_STOP_UNHEALTHY_REPLICAS": "1",
}


class Replica:
    """A process of the cluster that runs the HTTP service with its own backend and its own loaded models."""

    def __init__(self, batch: int = BATCH) -> None:
        self.service = Service(SubprocessBackend(), os.environ.get(TOKEN, ""), batch=batch, most=INSIDE)
        # Ray Serve sends requests only after __init__ returns, so no visitor waits for the imports.
        self.service.warm_up()

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Return the ASGI app that Ray Serve runs."""
        app = self.service.app()

        async def announce_models(scope: Scope, receive: Receive, send: Send) -> None:
            """Register the requested model with the router, then run the app."""
            name = dict(scope.get("headers", ())).get(MODEL.encode(), b"").decode("ascii", "replace")
            if name and len(name) < 300:
                await self.model(unquote(name))
            await app(scope, receive, send)

        return announce_models

    async def model(self, name: str) -> str:
        """Register with Ray Serve that this replica has a model; return the model's name.

        Ray's decorator then prefers this replica for requests for the model.
        """
        return name

    def check_health(self) -> None:
        """Raise RuntimeError if the embedded model could not be loaded; Ray then replaces the replica."""
        if self.service.failed:
            raise RuntimeError("The embedded model could not be prepared.")


def application(given: Mapping[str, Any] | None = None) -> Any:
    """Return the Ray Serve application that ``serve deploy`` and this module run.

    The keys of ``given`` are ``replicas`` (maximum), ``least`` (minimum), ``cpus`` per replica, and ``batch`` (largest
    batch of texts). A change of the key ``version``, which is not read, makes ``serve deploy`` replace the replicas a
    few at a time. Each replica reads its settings and its token from the environment of its own machine.
    """
    from ray import serve

    asked = dict(given or {})
    Replica.model = serve.multiplexed(max_num_models_per_replica=MODELS)(Replica.model)  # type: ignore[method-assign]
    made = serve.deployment(
        serve.ingress()(Replica),
        name=NAME,
        max_ongoing_requests=INSIDE,
        max_queued_requests=WAITING,
        autoscaling_config={
            "min_replicas": int(asked.get("least", 1)),
            "max_replicas": int(asked.get("replicas", 2)),
            "target_ongoing_requests": BATCH,
        },
        graceful_shutdown_timeout_s=20,
        health_check_period_s=5,
        health_check_timeout_s=10,  # Ray replaces a replica after three failed checks in a row
        # Access logging would take a good part of the time of a short answer.
        logging_config={"enable_access_log": False},
        ray_actor_options={"num_cpus": float(asked.get("cpus", 1))},
    )
    return made.bind(int(asked.get("batch", BATCH)))


def main() -> int:
    """Serve on this machine until the process is interrupted; return the exit status."""
    parser = Parser(prog="python -m serving.cluster", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help=f"another than the loopback's needs {TOKEN}")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--replicas", type=int, default=2, help="at most")
    parser.add_argument("--least", type=int, default=1, help="replicas that are there without anybody asking")
    parser.add_argument("--batch", type=int, default=BATCH, help="texts that go through a model together")
    wanted = parser.parse_args()
    if not is_loopback(wanted.host) and not os.environ.get(TOKEN, ""):
        print(f"Set {TOKEN}: whoever reaches {wanted.host} could ask.", file=sys.stderr)
        return 2
    # The prefix is short because socket paths inside this folder have a length limit.
    place = Path(tempfile.mkdtemp(prefix="hl-"))
    try:
        _serve(wanted, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return 0


def _serve(wanted: argparse.Namespace, place: Path) -> None:
    token = place / "token"
    token.touch(0o600)
    token.write_text(secrets.token_hex(32))
    before = haproxy.environment(place, wanted.host, MODEL)
    os.environ.update({**ENVIRONMENT, **before, "RAY_AUTH_TOKEN_PATH": str(token)})
    import ray
    from ray import serve

    # "auto" would join an existing cluster that this machine belongs to.
    ray.init(
        "local",
        include_dashboard=False,
        object_store_memory=OBJECTS,
        _temp_dir=str(place),
        _node_ip_address="127.0.0.1",
        num_cpus=wanted.replicas + 1,
    )
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # registered after ray.init, which installs its own handlers
        signal.signal(number, lambda *_: ended.set())
    try:
        host = haproxy.LOOPBACK if before[haproxy.WANTED] == "1" else wanted.host
        serve.start(http_options={"host": host, "port": wanted.port})
        asked = {"replicas": wanted.replicas, "least": wanted.least, "batch": wanted.batch}
        serve.run(application(asked), name=NAME)
        print(f"\n  The backend is at  HEADLIGHT_BACKEND=http://{wanted.host}:{wanted.port}", flush=True)
        ended.wait()
    finally:
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
