"""The parts of an HTTP request that the service uses: host, deadline, disconnection and body."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from starlette.requests import Request

from serving.protocol import DEADLINE, MOST_ASKED


async def wait_for_disconnect(request: Request) -> None:
    """Block until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def host_of(request: Request) -> str:
    """Return the lower-case host name of the request's Host header, without the port."""
    named = request.headers.get("host", "").lower()
    return named.partition("]")[0] if named.startswith("[") else named.partition(":")[0]


def seconds_of(request: Request) -> float | None:
    """Return the seconds for which the client still waits; None if its deadline header is missing or invalid."""
    try:
        stated = float(request.headers.get(DEADLINE, ""))
    except ValueError:
        return None
    return stated if 0 <= stated < 86_400 else None


class TooMuch(Exception):
    """Raised if a request body is longer than ``MOST_ASKED`` bytes."""


async def body_of(request: Request) -> bytes:
    """Return the body of a request; raise TooMuch as soon as it exceeds ``MOST_ASKED`` bytes."""
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > MOST_ASKED:
        raise TooMuch
    blocks, size = [], 0
    async for block in request.stream():
        size += len(block)
        if size > MOST_ASKED:
            raise TooMuch
        blocks.append(block)
    return b"".join(blocks)


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Return True if a host name or address is a loopback address of this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
