"""The service on Ray Serve: the same app in as many replicas as the crowd takes, each with the models it is asked for.

``python -m serving.cluster`` runs it on this machine; clusters start ``serving.cluster:application`` (docs/SERVING.md).
Ray is imported here alone, and by nothing that the app imports.
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
MODELS = 8  # names that one replica is known for; what it keeps of them its memory decides (inference.byte_cache)
BATCH = 8  # texts that go through a model together
INSIDE, WAITING = 64, 256  # questions within a replica, and before all of them
OBJECTS = 100_000_000  # bytes of shared memory, of which nothing here takes any
# Before Ray is imported: nothing is told to its makers, whoever connects needs a token, and a crowded router looks
# again soon (its own half second made thirty visitors wait for three).
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_SERVE_ROUTER_RETRY_INITIAL_BACKOFF_S": "0.005",
    "RAY_SERVE_ROUTER_RETRY_MAX_BACKOFF_S": "0.02",
    "OMP_NUM_THREADS": "1",
    # A node that says nothing for about twenty seconds is lost, and a replica that hangs is not asked to leave: what
    # they were asked is asked again within the patience of who asks (serving.remote_backend). By Ray's own numbers it
    # took over a minute, and visitors read that nobody answers.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_SERVE_FORCE_STOP_UNHEALTHY_REPLICAS": "1",
}


class Replica:
    """One process of many: the service, with a backend of its own."""

    def __init__(self, batch: int = BATCH) -> None:
        self.service = Service(SubprocessBackend(), os.environ.get(TOKEN, ""), batch=batch, most=INSIDE)
        self.service.warm_up()  # Ray Serve sends questions here when this has returned: none waits for the libraries

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The app that Ray Serve runs."""
        app = self.service.app()

        async def announce_models(scope: Scope, receive: Receive, send: Send) -> None:
            """Has the router know which models were asked for here."""
            name = dict(scope.get("headers", ())).get(MODEL.encode(), b"").decode("ascii", "replace")
            if name and len(name) < 300:
                await self.model(unquote(name))
            await app(scope, receive, send)

        return announce_models

    async def model(self, name: str) -> str:
        """A model that was asked for here; the router then sends its questions here first."""
        return name

    def check_health(self) -> None:
        """Raises where this replica is of no use any more."""
        if self.service.failed:
            raise RuntimeError("The embedded model could not be prepared.")


def application(given: Mapping[str, Any] | None = None) -> Any:
    """What Ray Serve deploys; ``given`` is ``replicas``, the most of them, ``least``, and the ``cpus`` of each.

    And ``batch``, the most texts that go through a model together; and ``version``, which nothing reads: another one
    has ``serve deploy`` replace the replicas, a few at a time.
    Settings and the token are the environment's of the machine that a replica runs on.
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
        health_check_timeout_s=10,  # three in a row: then it hangs, and is replaced
        logging_config={"enable_access_log": False},  # which would take a good part of a short answer
        ray_actor_options={"num_cpus": float(asked.get("cpus", 1))},
    )
    return made.bind(int(asked.get("batch", BATCH)))


def main() -> int:
    """Serves on this machine until it is interrupted."""
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
    place = Path(tempfile.mkdtemp(prefix="hl-"))  # short: sockets lie in it, and their paths may not be long
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

    # Not "auto", which would join whatever cluster this machine has been part of.
    ray.init(
        "local",
        include_dashboard=False,
        object_store_memory=OBJECTS,
        _temp_dir=str(place),
        _node_ip_address="127.0.0.1",
        num_cpus=wanted.replicas + 1,
    )
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # after Ray, which handles them in its own way
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
