"""A guard against network access: connections and name lookups beyond the loopback fail in the whole process.

An audit hook sees each socket that goes through Python, independent of the library and of earlier imports, and
cannot be removed. It does not see libraries with their own network code (in Rust or C++); for these,
tests/house/test_network.py runs the app without a network. This module uses the standard library only.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable
from typing import Any

refused: list[str] = []  # Refused attempts so far, a sentence each.

_HOST_OF: dict[str, Callable[[tuple[Any, ...]], object]] = {
    "socket.connect": lambda arguments: _host(arguments[1]),
    "socket.sendto": lambda arguments: _host(arguments[1]),
    "socket.sendmsg": lambda arguments: _host(arguments[1]),
    "socket.getnameinfo": lambda arguments: _host(arguments[0]),
    "socket.getaddrinfo": lambda arguments: arguments[0],
    "socket.gethostbyname": lambda arguments: arguments[0],
    "socket.gethostbyaddr": lambda arguments: arguments[0],
}
# These addresses are reserved for documentation (RFC 5737) and routed nowhere. A datagram socket that is "connected" to
# them sends nothing and only finds this machine's address. The guard refuses them but does not report them.
_DOCUMENTATION = ipaddress.ip_network("192.0.2.0/24")
_reports: list[Callable[[str], object]] = []


class LeavesTheMachine(OSError):
    """Raised if code tries to reach another machine; an OSError, as on a machine without a network."""


def _host(address: object) -> object:
    # None is a Unix socket, or a socket that is connected already.
    return address[0] if isinstance(address, tuple) else None


def stays(host: object) -> bool:
    """Return True if a host, as passed to a socket, is this machine.

    >>> [stays(host) for host in ("localhost", "127.0.0.1", "::1", "", None, "example.org", "10.0.0.1")]
    [True, True, True, True, True, False, False]
    """
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if host in (None, "", "localhost", "0.0.0.0", "::") or not isinstance(host, str):
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return host.rstrip(".").endswith(".localhost")


def _counts(host: object) -> bool:
    try:
        return ipaddress.ip_address(str(host)) not in _DOCUMENTATION
    except ValueError:
        return True


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    find = _HOST_OF.get(event)
    if find is None:
        return
    host = find(arguments)
    if stays(host):
        return
    sentence = f"{event} to {host!r} was refused: the tests stay on this machine."
    if _counts(host):
        for report in _reports:
            report(sentence)
    raise LeavesTheMachine(sentence)


def install(report: Callable[[str], None] | None = None) -> None:
    """Guard this process from now on. ``report`` is called with a sentence for each refusal."""
    if not _reports:
        sys.addaudithook(_hook)
    _reports.append(report or refused.append)
