"""Who asks, as far as a server can tell: by the address that a connection comes from, and by the visitor's cookie."""

from __future__ import annotations

import os
from collections.abc import Mapping

from starlette.requests import HTTPConnection

from ui.server import host_guard
from ui.server.visitor import NAME, VALUE

PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")  # headers of a proxy


def may_be_proxied(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a proxy may have handed the question on, so that its address says nothing of who asks."""
    return bool(environ.get(host_guard.VARIABLE, "").strip()) or any(name in asked.headers for name in PASSED_ON)


def names_of(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Under which names a question counts: its address, where that tells machines apart, and its visitor's cookie.

    A cookie can be made up and left out, so the address counts too; this machine's own and a proxy's stand for many.
    """
    cookie = asked.cookies.get(NAME, "")
    address = host_guard.normalize_address(asked.client.host) if asked.client else ""
    known = bool(address) and address not in host_guard.LOOPBACK and not may_be_proxied(asked, environ)
    return (*([address] if known else []), *([cookie] if VALUE.fullmatch(cookie) else []))
