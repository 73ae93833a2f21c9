"""Questions over HTTP to serving.service: asked again, by and by, where nobody answered; never answered wrongly."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, PoolManager, ProxyManager, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url
from urllib3.util.wait import wait_for_read

from i18n import gettext_lazy
from inference import cancellation
from inference.errors import UserError
from serving.protocol import AFFINITY, DEADLINE, MODEL, MOST_ANSWERED, TYPE, VISITOR
from serving.request_headers import is_loopback
from serving.serialization import pack, unpack
from serving.type_registry import InvalidFrame

log = logging.getLogger(__name__)
NOBODY = gettext_lazy("The server that computes does not answer now. Try again in a moment.")
STRANGER = gettext_lazy(
    "The server that computes does not know this app. Its operator has to give both the same secret."
)
WAIT, LONGEST = 0.05, 2.0  # seconds before a question is asked again: at first, and at most
# Without a frame that says more: a proxy's that knows of no replica yet (404), or a replica's that is no more.
AGAIN = (404, 408, 429, 500, 502, 503, 504)
PLAINLY: dict[str, Any] = {"redirect": False, "retries": False, "preload_content": False, "decode_content": False}
CONNECT = 5.0  # seconds for a connection
GRACE = 5.0  # seconds beyond its time in which an answer is waited for: the service says itself that it is late
PATIENCE = 60.0  # seconds for which a question that nobody answers is asked again: a new proxy takes thirty


class Unanswered(Exception):
    """It may be asked again, after so many seconds at least."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Connections(Protocol):
    """What urllib3's pools do."""

    def urlopen(self, method: str, url: str, **more: Any) -> BaseHTTPResponse:
        """What answers, its body still to be read."""
        ...

    def close(self) -> None:
        """Lets connections go."""
        ...


class Caller:
    """One service, asked by any number of threads. ``seconds`` is what an answer may take."""

    def __init__(  # noqa: PLR0913  (how it waits and by what it asks are a test's)
        self,
        address: str,
        token: str = "",
        seconds: float = 600.0,
        *,
        connections: Connections | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds, self._sleep, self._clock = seconds, sleep, clock
        self._headers = {"Content-Type": TYPE, **({"Authorization": f"Bearer {token}"} if token else {})}
        found, self._before = connections_to(address.rstrip("/"))
        self._connections = connections or found

    def ask(  # noqa: PLR0913  (where, what, of what, and for how long)
        self,
        path: str,
        asked: Any,
        key: str,
        model: str = "",
        *,
        patience: float = PATIENCE,
        seconds: float | None = None,
    ) -> Any:
        """The answer, which may take so many ``seconds``; raises Refusal."""
        frame, began, tries = pack(asked), self._clock(), 0
        seconds = self.seconds if seconds is None else min(seconds, self.seconds)
        who = f"{hash(cancellation.current_visitor()):x}"  # to be told from others, not to be known
        lost = 0.0  # when it was first known that nobody answers: a machine that falls silent is not known at once
        while True:
            left = max(seconds - (self._clock() - began), 0)
            headers = {
                **self._headers,
                AFFINITY: key,
                MODEL: quote(model),
                DEADLINE: f"{left:.3f}",
                VISITOR: who,
            }
            try:
                return self._once(path, frame, headers, Timeout(connect=CONNECT, read=left + GRACE))
            except Unanswered as wait:
                cancellation.check()
                pause = max(wait.seconds, min(LONGEST, WAIT * 2**tries)) * random.uniform(0.5, 1.5)
                now = self._clock()
                lost = lost if tries else now
                if now - lost + pause > patience or now - began + pause > seconds:
                    raise UserError(NOBODY, way_out="retry") from wait
                tries += 1
                self._sleep(pause)

    def _once(self, path: str, frame: bytes, headers: dict[str, str], timeout: Timeout) -> Any:
        sent: dict[str, Any] = {"body": frame, "headers": headers, "timeout": timeout}
        try:
            response = self._connections.urlopen("POST", self._before + path, **sent, **PLAINLY)
            body = _read(response)
        except HTTPError as error:
            log.info("The backend was not reached: %s", type(error).__name__)
            raise Unanswered from error
        if response.status in (401, 403):
            raise UserError(STRANGER)
        try:
            found = unpack(body) if response.headers.get("content-type") == TYPE else None
        except InvalidFrame as error:
            raise Unanswered from error
        if response.status == 200 and found is not None:
            return found
        if isinstance(found, UserError) and response.status != 503:
            raise found
        if response.status in AGAIN:
            raise Unanswered(_seconds(response))
        log.warning("The backend answered %d.", response.status)
        raise UserError(NOBODY, way_out="retry")

    def close(self) -> None:
        """Lets its connections go."""
        self._connections.close()


class _Whole(HTTPConnection):
    """Sends a question at once: its head alone would only wake who has to wait for the rest. Where who asked is gone
    before it is answered, the connection is, and the service stops what it computes.
    """

    _held: list[bytes] | None = None

    def request(self, *asked: Any, **more: Any) -> None:
        """As before, but that everything goes together."""
        self._held = []
        try:
            super().request(*asked, **more)
        finally:
            held, self._held = self._held, None
        super().send(b"".join(held))

    def send(self, data: Any) -> None:
        """Sends, or holds back what belongs to a question."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def getresponse(self) -> Any:
        """As before, but that it looks now and then whether anybody still wants it. Raises TimeoutError."""
        until = time.monotonic() + (self.timeout or 0)
        while not wait_for_read(self.sock, cancellation.LOOK):
            cancellation.check()
            if time.monotonic() > until:
                raise TimeoutError("Nothing was answered.")
        return super().getresponse()


class _WholeSafely(_Whole, HTTPSConnection):
    """The same over TLS."""


def connections_to(address: str) -> tuple[HTTPConnectionPool, str]:
    """Connections that stay open, as many as pages may ask at a time, and what a path there begins with."""
    place = parse_url(address)
    host, safely = place.host or "", place.scheme == "https"
    many: dict[str, Any] = {"maxsize": 64, "block": True}
    # A proxy is on the way to other machines only.
    proxy = None if is_loopback(host) or proxy_bypass(host) else getproxies().get(place.scheme or "http")
    manager = PoolManager(**many) if proxy is None else ProxyManager(proxy, **many)
    pool = manager.connection_from_url(address)
    pool.ConnectionCls = _WholeSafely if safely else _Whole
    return pool, (place.path or "") if safely or proxy is None else address


def _read(response: BaseHTTPResponse) -> bytes:
    """What came; no more of it is taken in than an answer may be."""
    stated = response.headers.get("content-length", "")
    body = response.read(None if stated.isdigit() and int(stated) <= MOST_ANSWERED else MOST_ANSWERED + 1)
    if len(body) > MOST_ANSWERED:
        response.close()
        response.release_conn()
        raise UserError(NOBODY)
    return body


def _seconds(response: BaseHTTPResponse) -> float:
    """What Retry-After asks for, where it is sensible."""
    stated = response.headers.get("retry-after", "")
    return min(float(stated), 10.0) if stated.isdigit() else 0.0
