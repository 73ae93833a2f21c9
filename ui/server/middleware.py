"""Middleware for every request: hosts, security headers, visitor cookie, old addresses, and scripts."""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import IPv6Address, ip_address
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.state.navigation import BY_PATH, CHART_VIEWS, FIELD, new_address, view_at
from ui.streamlit_internals import METRICS, chart_script, inline_scripts
from viz.components.base_path import BASE

NAME = "headlight_visitor"
VALUE = re.compile(r"[A-Za-z0-9_-]{22}")
DAYS = 30


def _change_headers(send: Send, change: Callable[[MutableHeaders], None]) -> Send:
    """Return a ``send`` that first calls ``change`` with the headers of the response."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed


def _is_page_request(scope: Scope) -> bool:
    """Return True if a browser requests a page; the response may be 304 (not modified)."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


class VisitorCookie:
    """Middleware that sets the visitor cookie with every page, and renews a valid cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_page_request(scope):
            cookie = _cookie_header(cookie_of(Headers(scope=scope)), scope["scheme"] == "https")
            send = _change_headers(send, lambda headers: headers.append("Set-Cookie", cookie))
        await self.app(scope, receive, send)


def cookie_of(headers: Headers) -> str:
    """Return the visitor cookie of a request if it is valid, else a new cookie."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        cookies.clear()
    value = cookies[NAME].value if NAME in cookies else ""
    return value if VALUE.fullmatch(value) else secrets.token_urlsafe(16)


def _cookie_header(value: str, secure: bool) -> str:
    only = "; Secure" if secure else ""
    return f"{NAME}={value}; Max-Age={DAYS * 86_400}; Path={BASE or '/'}; HttpOnly; SameSite=Lax{only}"


CHART_SCRIPT = chart_script()


class ChartPreload:
    """Middleware that preloads the script of Plotly charts on pages whose first figure is a chart.

    Streamlit loads this script of 1.4 MB only after the page's script has sent a chart.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if CHART_SCRIPT and _is_page_request(scope) and _has_chart_first(scope):
            link = f"<{BASE}{CHART_SCRIPT}>; rel=modulepreload"
            send = _change_headers(send, lambda headers: headers.append("Link", link))
        await self.app(scope, receive, send)


def _has_chart_first(scope: Scope) -> bool:
    """Return True if the first figure of the requested view is a Plotly chart."""
    path = str(scope["path"]).removeprefix(BASE).strip("/")
    views = parse_qs(scope["query_string"].decode("latin-1")).get(FIELD, [None])
    return path in BY_PATH and view_at(path, views[0]) in CHART_VIEWS


POLICY = (
    f"default-src 'self'; script-src 'self' blob: {inline_scripts()}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; frame-ancestors 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
UNUSED = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
    *("midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)  # Permissions that no page of this app uses.
KEPT_APART = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",  # The opener of this page has no access to its window.
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED),
}


class SecurityHeaders:
    """Middleware that adds security headers to responses.

    A response keeps its own Content-Security-Policy if it has one, as BertViz pages do.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, _change_headers(send, _secure) if scope["type"] == "http" else send)


def _secure(headers: MutableHeaders) -> None:
    """Add the security headers to the headers of a response."""
    headers.setdefault("Content-Security-Policy", POLICY)
    # Other sites must not embed these responses as images or scripts.
    headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    headers.update(KEPT_APART)


VARIABLE = "HEADLIGHT_HOSTS"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CLOSED = (METRICS,)
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
    """Middleware that rejects requests with a foreign Host or Origin header with status 403.

    Allowed hosts are the loopback names, the address at which the connection arrived, and ``hosts`` ("name" or
    "name:port"). An Origin is allowed if it equals the Host header or an entry of ``hosts``, including the port unless
    it is the scheme's default. A WebSocket is rejected before it opens. With ``only_here``, all requests from other
    machines are rejected.
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
                await send(
                    {"type": "websocket.close", "code": 1008}
                )  # Closing before the accept makes the server answer with 403.
            else:
                await PlainTextResponse(sentence, 403)(scope, receive, send)
        else:
            await self.app(_of_one_site(scope), receive, send)

    def _refusal(self, scope: Scope) -> str:
        """Return the message for a rejected request, or "" if the request is allowed."""
        if self.only_here and not _from_here(scope):
            return ONLY_HERE
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or name_of(hosts[0]) not in (*self._names, *_server_address(scope)):
            return FOREIGN_HOST
        allowed = (hosts[0].lower(), *self._origins)
        return "" if all(_site(origin) in allowed for origin in origins) else FOREIGN_ORIGIN


def name_of(host: str) -> str:
    """Return the name in a Host header without its port; "" for a malformed header.

    An address is returned in its shortest form.

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
    """Return an Origin without its scheme; "" for "null" and for schemes other than HTTP and HTTPS.

    Sandboxed pages send "null".

    >>> _site("https://Example.org"), _site("http://localhost:8501"), _site("null"), _site("file://")
    ('example.org', 'localhost:8501', '', '')
    """
    scheme, mark, site = origin.partition("://")
    return site.lower() if mark and scheme in ("http", "https") else ""


def _from_here(scope: Scope) -> bool:
    """Return True if the client's address is a loopback address."""
    address = normalize_address(str((scope.get("client") or ("",))[0]))
    return bool(address) and ip_address(address).is_loopback


def _server_address(scope: Scope) -> tuple[str, ...]:
    """Return a tuple with the server's address of the connection; () if it is unknown.

    A DNS name that was pointed to this machine is not included.
    """
    address = normalize_address(str((scope.get("server") or ("",))[0]))
    return (address,) if address else ()


def normalize_address(address: str) -> str:
    """Return an address in its shortest form, IPv4-mapped IPv6 as IPv4; "" if the text is not an address.

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
    """Return a WebSocket scope with the Origin replaced by the Host; other scopes are returned unchanged.

    The Guard has already checked the Origin. Streamlit's own check would query an external server for this
    machine's address if Origin and Host differ, and it would block all other requests meanwhile.
    """
    if scope["type"] != "websocket" or "origin" not in (headers := Headers(scope=scope)):
        return scope
    changed = {**scope, "headers": list(scope["headers"])}
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    MutableHeaders(scope=changed)["origin"] = f"{scheme}://{headers['host']}"
    return changed


class OldAddresses:
    """Middleware that redirects page addresses of earlier versions, with their parameters (status 308)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = None
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            path = str(scope["path"]).removeprefix(BASE).strip("/")
            there = new_address(path, scope["query_string"].decode("latin-1"))
        if there is None:
            await self.app(scope, receive, send)
        else:
            await RedirectResponse(f"{BASE}/{there}", 308)(scope, receive, send)


SCRIPTS = re.compile(rf"{re.escape(BASE)}/static/.+\.(?:js|css)")
PLAIN_ONLY = ("range", "if-none-match", "if-modified-since")  # Requests with these headers are passed on unchanged.


class CompressedScripts:
    """Middleware that sends Streamlit's scripts and styles compressed, which Streamlit sends as they are.

    A page needs 2 to 8 MB of them on the first visit, so a class of 30 waits for the network. Each file is compressed
    once and kept; all of them together take about 8 MB.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._kept: dict[str, tuple[list[tuple[bytes, bytes]], bytes]] = {}  # headers and body by path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._takes(scope):
            await self.app(scope, receive, send)
            return
        path = str(scope["path"])
        if path not in self._kept:
            status, headers, body = await self._fetch(scope)
            if status != 200 or len(body) != int(Headers(raw=headers).get("content-length", len(body))):
                await _respond(send, status, headers, body)
                return
            packed = await asyncio.to_thread(gzip.compress, body, 6)
            self._kept[path] = _packed_headers(headers, len(packed)), packed
        await _respond(send, 200, *self._kept[path])

    @staticmethod
    def _takes(scope: Scope) -> bool:
        """Return True if the request is for a whole script or style, from a browser that reads gzip."""
        if scope["type"] != "http" or scope["method"] != "GET" or not SCRIPTS.fullmatch(str(scope["path"])):
            return False
        asked = Headers(scope=scope)
        return "gzip" in asked.get("accept-encoding", "") and not any(name in asked for name in PLAIN_ONLY)

    async def _fetch(self, scope: Scope) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Return the status, the headers and the body of the app's response.

        The app does not notice if this client leaves, because it would then omit the body, which is kept for others.
        """
        start: Message = {}
        parts: list[bytes] = []
        asked: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            return asked.pop() if asked else await asyncio.Future()

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self.app(scope, receive, keep)
        return start["status"], list(start["headers"]), b"".join(parts)


def _packed_headers(headers: list[tuple[bytes, bytes]], size: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of a compressed response of ``size`` bytes."""
    changed = MutableHeaders(raw=list(headers))
    changed["content-encoding"] = "gzip"
    changed["content-length"] = str(size)
    changed.add_vary_header("Accept-Encoding")
    del changed["accept-ranges"]
    if "etag" in changed:
        changed["etag"] = f"W/{changed['etag'].removeprefix('W/')}"  # The bytes differ, their meaning does not.
    return changed.raw


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")  # Headers that proxies add.


def may_be_proxied(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if a proxy may have forwarded the request, so that its address is not the client's."""
    return bool(environ.get(VARIABLE, "").strip()) or any(name in asked.headers for name in PASSED_ON)


def names_of(asked: HTTPConnection, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the identifiers by which a client's requests are limited: its address and its visitor cookie.

    The address counts because a client can forge or omit the cookie. Loopback and proxy addresses are left out, because
    many clients share them.
    """
    cookie = asked.cookies.get(NAME, "")
    address = normalize_address(asked.client.host) if asked.client else ""
    known = bool(address) and address not in LOOPBACK and not may_be_proxied(asked, environ)
    return (*([address] if known else []), *([cookie] if VALUE.fullmatch(cookie) else []))
