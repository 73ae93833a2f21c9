"""Nothing leaves this machine: every connection and name lookup beyond the loopback fails, in the whole process.

An audit hook sees each socket that goes through Python, whichever library opens it and whatever it imported before,
and it cannot be taken off. Libraries with network code of their own (in Rust or C++) it cannot see; for these
tests/house/test_network.py runs the app where the system itself has no way out. Standard library only.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable
from typing import Any

refused: list[str] = []  # what was refused so far, a sentence each

_HOST_OF: dict[str, Callable[[tuple[Any, ...]], object]] = {
    "socket.connect": lambda arguments: _host(arguments[1]),
    "socket.sendto": lambda arguments: _host(arguments[1]),
    "socket.sendmsg": lambda arguments: _host(arguments[1]),
    "socket.getnameinfo": lambda arguments: _host(arguments[0]),
    "socket.getaddrinfo": lambda arguments: arguments[0],
    "socket.gethostbyname": lambda arguments: arguments[0],
    "socket.gethostbyaddr": lambda arguments: arguments[0],
}
# Set aside for documentation (RFC 5737), routed nowhere: a datagram socket "connected" to one of these sends nothing
# and only learns which address this machine has. Refused too, but no offence.
_DOCUMENTATION = ipaddress.ip_network("192.0.2.0/24")
_reports: list[Callable[[str], object]] = []


class LeavesTheMachine(OSError):
    """What code sees that tries: the error of a machine without a network."""


def _host(address: object) -> object:
    return address[0] if isinstance(address, tuple) else None  # None: a Unix socket, or already connected


def stays(host: object) -> bool:
    """Whether a host, as given to a socket, is this machine.

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
    """Guards this process from now on. ``report`` is called with each sentence."""
    if not _reports:
        sys.addaudithook(_hook)
    _reports.append(report or refused.append)
