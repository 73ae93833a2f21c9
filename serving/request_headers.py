"""What a request says of itself: by which name it came, how long who asks still waits, and its body within bounds."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from starlette.requests import Request

from serving.protocol import DEADLINE, MOST_ASKED


async def wait_for_disconnect(request: Request) -> None:
    """Returns when who asked has left."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def host_of(request: Request) -> str:
    """The name by which this was asked, without its port."""
    named = request.headers.get("host", "").lower()
    return named.partition("]")[0] if named.startswith("[") else named.partition(":")[0]


def seconds_of(request: Request) -> float | None:
    """How long who asks still waits; None where nothing sensible is said."""
    try:
        stated = float(request.headers.get(DEADLINE, ""))
    except ValueError:
        return None
    return stated if 0 <= stated < 86_400 else None


class TooMuch(Exception):
    """More came than a question may be."""


async def body_of(request: Request) -> bytes:
    """What was sent; no more of it is taken in than a question may be."""
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
    """Whether a name or address is this machine's own, for itself alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
