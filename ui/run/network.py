"""The network around this server: whether the hub is in reach, and the addresses under which others reach the app."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from ipaddress import ip_address

import psutil
from streamlit import config

from ui.run.services import get_backend

AGAIN = 300.0  # seconds after which a hub that did not answer may be there again
NOWHERE = ("192.0.2.1", 9)  # an address kept for documentation (RFC 5737): nothing is there, and nothing is sent

HOSTS = "HEADLIGHT_HOSTS"  # names under which others reach the app, such as a proxy's
EVERYWHERE = (None, "", "0.0.0.0", "::")  # addresses of a server that listens in every network of its machine

failures: list[float] = []  # when the hub did not answer last, by the steady clock


def note_hub_failure() -> None:
    """The hub has been asked, and did not answer."""
    failures[:] = [time.monotonic()]


def hub_in_reach() -> bool:
    """False where the operator has switched the hub off, there is no way out of this machine, or it failed lately."""
    lately = bool(failures) and time.monotonic() - failures[-1] < AGAIN
    return not (get_backend().settings.offline or lately) and has_route()


def has_route() -> bool:
    """Whether the system knows a way to other machines; a datagram socket looks one up and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return False
    return True


def is_open(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether other machines reach the app, at its own address or through a proxy of HEADLIGHT_HOSTS."""
    if get_backend().settings.only_here:
        return False
    return bool(environ.get(HOSTS, "").strip()) or not is_loopback(config.get_option("server.address"))


def is_loopback(address: str | None) -> bool:
    """Return whether a server at this address, or name, is reached from its own machine only.

    >>> [is_loopback(address) for address in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", None, "192.0.2.7")]
    [True, True, True, False, False, False]
    """
    plain = (address or "").strip("[]").lower()
    try:
        return ip_address(plain).is_loopback
    except ValueError:
        return plain == "localhost" or plain.endswith(".localhost")


def reached_by(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the names or addresses under which other machines reach this server: those of HEADLIGHT_HOSTS if set."""
    stated = tuple(host.strip() for host in environ.get(HOSTS, "").split(",") if host.strip())
    return stated or network_addresses()


def network_addresses() -> tuple[str, ...]:
    """Return the addresses at which the server listens for other machines, that of the way out first."""
    address = config.get_option("server.address")
    if address in EVERYWHERE:
        return machine_addresses()
    return () if is_loopback(address) else (str(address),)


def machine_addresses() -> tuple[str, ...]:
    """Return this machine's IPv4 addresses in its networks, that of the way out first."""
    first = _own_address()
    found = [first] if first else []
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    for name, its in sorted(psutil.net_if_addrs().items()):
        found += [one.address for one in its if one.family == socket.AF_INET and name in up]
    usable = (
        address for address in found if not (ip_address(address).is_loopback or ip_address(address).is_link_local)
    )
    return tuple(dict.fromkeys(usable))


def _own_address() -> str | None:
    """Return the address from which this machine reaches others, or None; a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return None
        return str(probe.getsockname()[0])
