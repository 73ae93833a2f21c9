"""Who may ask at all: a Host that is this server's own, and no other site's page on whose behalf a browser asks.

A page of another site may let its name point to this machine (DNS rebinding) or open a WebSocket to it; other servers
on the same machine are other sites too. Every http and websocket connection passes here before Streamlit sees it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

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
