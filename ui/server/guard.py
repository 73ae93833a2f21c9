"""Which requests are answered: hosts, origins, clients, and security headers."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.server.visitor import NAME, VALUE


def inline_scripts() -> str:
    """The hashes by which a policy allows the scripts written into Streamlit's own page, as installed."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


POLICY = (
    f"default-src 'self'; script-src 'self' blob: {inline_scripts()}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; frame-ancestors 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
UNUSED = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
    *("midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)  # what a browser would ask the visitor for, and no page here has a use for
KEPT_APART = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",  # a page that opened this one cannot reach into its window
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED),
}


class SecurityHeaders:
    """Adds the headers to answers that do not bring their own policy (a BertViz page brings a stricter one)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                # No other site's page may hold an answer of ours as its picture or script.
                headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
                headers.update(KEPT_APART)
            await send(message)

        await self.app(scope, receive, with_headers)


VARIABLE = "HEADLIGHT_HOSTS"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CLOSED = ("/_stcore/metrics/",)  # Streamlit's: how many are here and with what
FOREIGN_HOST = (
    "This server does not answer under the name that was asked for. Use the address that it printed when it started;"
    f" its operator can allow other names with {VARIABLE}."
)
FOREIGN_ORIGIN = (
    "This server answers no page of another site. Open it in a window of its own; behind a proxy its operator allows"
    f" the proxy's name with {VARIABLE}."
)

ONLY_HERE = "This server answers this machine's own browser alone. Its operator can allow others with HEADLIGHT_FOR."


class Guard:
    """Refuses with 403, a WebSocket before it is opened, what comes under a foreign Host or from a foreign Origin.

    And from another machine, where the app is for this one alone (``only_here``).

    Hosts: the loopback's names, the address at which the connection arrived, and ``hosts``, "name" or "name:port".
    Origins: the Host itself, port included, and ``hosts``, port included where it is not the scheme's own.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] | None = None, only_here: bool = False) -> None:
        self.app = app
        self.only_here = only_here
        stated = os.environ.get(VARIABLE, "").split(",") if hosts is None else hosts
        self._origins = frozenset(host.strip().lower() for host in stated if host.strip())
        self._names = frozenset((*LOOPBACK, *(name_of(host) for host in self._origins)))
        if "" in self._names:
            raise ValueError(
                f"{VARIABLE} is {stated!r}; names are expected, such as attention.example,other.example:8443."
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif any(part in f"{scope['path']}/" for part in CLOSED):
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        elif sentence := self._refusal(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})  # not accepted: answered with 403
            else:
                await PlainTextResponse(sentence, 403)(scope, receive, send)
        else:
            await self.app(_of_one_site(scope), receive, send)

    def _refusal(self, scope: Scope) -> str:
        """What is said to who may not ask; empty for everybody else."""
        if self.only_here and not _from_here(scope):
            return ONLY_HERE
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or name_of(hosts[0]) not in (*self._names, *_server_address(scope)):
            return FOREIGN_HOST
        allowed = (hosts[0].lower(), *self._origins)
        return "" if all(_site(origin) in allowed for origin in origins) else FOREIGN_ORIGIN


def name_of(host: str) -> str:
    """The name in a Host header without its port, an address in its shortest form; empty where there is none.

    >>> name_of("LocalHost:8501"), name_of("[::1]:8501"), name_of("[0:0::1]"), name_of("user@localhost"), name_of("[")
    ('localhost', '::1', '::1', '', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        name = parts.hostname or ""
    except ValueError:
        return ""
    return "" if "@" in host or parts.path or parts.query or parts.fragment else normalize_address(name) or name


def _site(origin: str) -> str:
    """An Origin without its scheme; empty for "null", which every sandboxed page says, and for what is none.

    >>> _site("https://Example.org"), _site("http://localhost:8501"), _site("null"), _site("file://")
    ('example.org', 'localhost:8501', '', '')
    """
    scheme, mark, site = origin.partition("://")
    return site.lower() if mark and scheme in ("http", "https") else ""


def _from_here(scope: Scope) -> bool:
    """Whether who asks is on this machine, by the address that the connection came from."""
    address = normalize_address(str((scope.get("client") or ("",))[0]))
    return bool(address) and ip_address(address).is_loopback


def _server_address(scope: Scope) -> tuple[str, ...]:
    """The machine's address at which the connection arrived, which a name that was made to point to it is not."""
    address = normalize_address(str((scope.get("server") or ("",))[0]))
    return (address,) if address else ()


def normalize_address(address: str) -> str:
    """An address in its usual form, an IPv4 one that a socket of both kinds tells as IPv6 too; empty for a name.

    >>> normalize_address("::ffff:192.0.2.1"), normalize_address("0:0::1"), normalize_address("localhost")
    ('192.0.2.1', '::1', '')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)


def _of_one_site(scope: Scope) -> Scope:
    """The same, its Origin told as that of its Host: which sites may ask is settled here, and here alone.

    Where the two differ, Streamlit's own check of a WebSocket asks a server on the internet for this machine's
    address, and nobody is served meanwhile.
    """
    if scope["type"] != "websocket" or "origin" not in (headers := Headers(scope=scope)):
        return scope
    changed = {**scope, "headers": list(scope["headers"])}
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    MutableHeaders(scope=changed)["origin"] = f"{scheme}://{headers['host']}"
    return changed


PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")  # headers of a proxy


def may_be_proxied(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a proxy may have handed the question on, so that its address says nothing of who asks."""
    return bool(environ.get(VARIABLE, "").strip()) or any(name in asked.headers for name in PASSED_ON)


def names_of(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Under which names a question counts: its address, where that tells machines apart, and its visitor's cookie.

    A cookie can be made up and left out, so the address counts too; this machine's own and a proxy's stand for many.
    """
    cookie = asked.cookies.get(NAME, "")
    address = normalize_address(asked.client.host) if asked.client else ""
    known = bool(address) and address not in LOOPBACK and not may_be_proxied(asked, environ)
    return (*([address] if known else []), *([cookie] if VALUE.fullmatch(cookie) else []))
