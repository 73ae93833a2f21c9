"""The network of this server: the availability of the Hugging Face hub, and the addresses of the app."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import psutil
import streamlit as st

from ui.run.services import get_backend

AGAIN = 300.0  # Seconds after a failure of the hub until it is tried again.
NOWHERE = ("192.0.2.1", 9)  # Reserved for documentation (RFC 5737); nothing is sent to it.

HOSTS = "HEADLIGHT_HOSTS"  # Public names of the app, for example a proxy's.
EVERYWHERE = (None, "", "0.0.0.0", "::")  # Addresses of a server that listens on all interfaces.

failures: list[float] = []  # Time of the hub's last failure, by the monotonic clock.


def note_hub_failure() -> None:
    """Record that the Hugging Face hub did not answer."""
    failures[:] = [time.monotonic()]


def hub_in_reach() -> bool:
    """Return True if the Hugging Face hub may answer.

    Return False if the hub is disabled, has failed within the last AGAIN seconds, or if the machine is offline.
    """
    lately = bool(failures) and time.monotonic() - failures[-1] < AGAIN
    return not (get_backend().settings.offline or lately) and has_route()


def has_route() -> bool:
    """Return True if the system has a network route to other machines; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return False
    return True


def is_open(environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if other machines can reach the app, directly or through a proxy of HEADLIGHT_HOSTS."""
    if get_backend().settings.only_here:
        return False
    return bool(environ.get(HOSTS, "").strip()) or not is_loopback(st.get_option("server.address"))


def is_loopback(address: str | None) -> bool:
    """Return True if a server at this address can be reached only from its own machine.

    >>> [is_loopback(address) for address in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", None, "192.0.2.7")]
    [True, True, True, False, False, False]
    """
    plain = (address or "").strip("[]").lower()
    try:
        return ip_address(plain).is_loopback
    except ValueError:
        return plain == "localhost" or plain.endswith(".localhost")


def reached_by(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the names or addresses by which other machines reach this server.

    HEADLIGHT_HOSTS states them if it is set.
    """
    stated = tuple(host.strip() for host in environ.get(HOSTS, "").split(",") if host.strip())
    return stated or network_addresses()


def shared_origins(here: str) -> list[str]:
    """Return the app's addresses for other machines, of scheme, host and port; none if they cannot reach the app.

    ``here`` is the address in the visitor's browser. If it is a loopback address, the result has this machine's network
    addresses with the same port.
    """
    place = urlsplit(here)
    scheme = place.scheme or "http"
    if place.hostname and not is_loopback(place.hostname):
        return [f"{scheme}://{place.netloc}"]
    if not is_open():
        return []
    port = f":{place.port}" if place.port else ""
    names = [name if name.rpartition(":")[2].isdigit() else f"{name}{port}" for name in reached_by()]
    return [f"{scheme}://{name}" for name in names]


def network_addresses() -> tuple[str, ...]:
    """Return the addresses at which the server listens for other machines, the default route's first."""
    address = st.get_option("server.address")
    if address in EVERYWHERE:
        return machine_addresses()
    return () if is_loopback(address) else (str(address),)


def machine_addresses() -> tuple[str, ...]:
    """Return this machine's IPv4 addresses, the default route's first."""
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
    """Return the source address of this machine's default route, or None; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return None
        return str(probe.getsockname()[0])
