"""A backend that sends its requests to a remote service over HTTP."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, PoolManager, ProxyManager, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url
from urllib3.util.wait import wait_for_read

from attention.trace import ModelId, Trace
from i18n import gettext_lazy
from inference import cancellation
from inference.backend import LocalBackend
from inference.catalogue.listing import EMBEDDED_CARD
from inference.errors import UserError
from inference.files.download import Download, DownloadProgress
from inference.files.hub import Offer
from inference.hub_cards import ModelCard
from inference.loaded_model import LoadedModel
from inference.request import TraceRequest
from inference.settings import Settings
from inference.tasks.model_request import Answer, ModelRequest
from serving.protocol import (
    ABOUT,
    AFFINITY,
    ANSWER,
    AT_ONCE,
    DEADLINE,
    MODEL,
    MOST_ANSWERED,
    START_DOWNLOAD,
    STOP_DOWNLOAD,
    TOKEN,
    TRACES,
    TYPE,
    VISITOR,
    InvalidFrame,
    pack,
    unpack,
)
from serving.request_headers import is_loopback

log = logging.getLogger(__name__)
NOBODY = gettext_lazy("The computing server does not answer. Try again soon.")
STRANGER = gettext_lazy("The computing server rejects this app. The operator must give both the same secret.")
WAIT, LONGEST = 0.05, 2.0  # seconds between attempts: the first pause and the longest
# Retried statuses: a proxy without replicas answers 404, a replica that has ended 5xx.
AGAIN = (404, 408, 429, 500, 502, 503, 504)
PLAINLY: dict[str, Any] = {"redirect": False, "retries": False, "preload_content": False, "decode_content": False}
CONNECT = 5.0  # seconds to establish a connection
GRACE = 5.0  # seconds beyond the deadline, because the service itself reports that it is late
PATIENCE = 60.0  # seconds for which an unanswered request is repeated; a new proxy takes thirty to start


class Unanswered(Exception):
    """Raised if the service did not answer; ``seconds`` is the pause before the request may be repeated."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Connections(Protocol):
    """The methods of urllib3's connection pools that this module uses."""

    def urlopen(self, method: str, url: str, **more: Any) -> BaseHTTPResponse:
        """Send an HTTP request and return the response, whose body is not read yet."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Caller:
    """A thread-safe HTTP client of the service; ``seconds`` is the maximum time to wait for an answer."""

    def __init__(  # noqa: PLR0913  (the last three are for tests)
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

    def ask(  # noqa: PLR0913  (all are independent)
        self,
        path: str,
        asked: Any,
        key: str,
        model: str = "",
        *,
        patience: float = PATIENCE,
        seconds: float | None = None,
    ) -> Any:
        """Send the request ``asked`` to a path of the service and return the answer; may raise UserError.

        ``key`` is the hash of the request. The cluster uses ``key`` and ``model`` to choose a replica. If the service
        does not answer, the request is repeated with growing pauses. It is given up ``patience`` seconds after the
        first failure, or ``seconds`` after the start.
        """
        frame, began, tries = pack(asked), self._clock(), 0
        seconds = self.seconds if seconds is None else min(seconds, self.seconds)
        # A hash, which distinguishes visitors but does not identify them.
        who = f"{hash(cancellation.current_visitor()):x}"
        lost = 0.0  # time of the first failure; a silent machine is noticed only after a timeout
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
        """Close the connections."""
        self._connections.close()


class _Whole(HTTPConnection):
    """An HTTP connection that sends header and body together, and is dropped on cancellation.

    A header that arrives first would only wake the server to wait for the body. When the connection is dropped,
    the service stops the computation.
    """

    _held: list[bytes] | None = None

    def request(self, *asked: Any, **more: Any) -> None:
        """Send a request in a single write."""
        self._held = []
        try:
            super().request(*asked, **more)
        finally:
            held, self._held = self._held, None
        super().send(b"".join(held))

    def send(self, data: Any) -> None:
        """Send the data, or buffer it while a request is being assembled."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def getresponse(self) -> Any:
        """Return the response; raise Cancelled if the visitor has left, or TimeoutError."""
        until = time.monotonic() + (self.timeout or 0)
        while not wait_for_read(self.sock, cancellation.LOOK):
            cancellation.check()
            if time.monotonic() > until:
                raise TimeoutError("Nothing was answered.")
        return super().getresponse()


class _WholeSafely(_Whole, HTTPSConnection):
    """The TLS variant of ``_Whole``."""


def connections_to(address: str) -> tuple[HTTPConnectionPool, str]:
    """Return a pool of up to 64 connections to an address, and the path prefix of its requests."""
    place = parse_url(address)
    host, safely = place.host or "", place.scheme == "https"
    many: dict[str, Any] = {"maxsize": 64, "block": True}
    # The system's proxy is used for other machines only.
    proxy = None if is_loopback(host) or proxy_bypass(host) else getproxies().get(place.scheme or "http")
    manager = PoolManager(**many) if proxy is None else ProxyManager(proxy, **many)
    pool = manager.connection_from_url(address)
    pool.ConnectionCls = _WholeSafely if safely else _Whole
    return pool, (place.path or "") if safely or proxy is None else address


def _read(response: BaseHTTPResponse) -> bytes:
    """Return the response body; raise UserError if it has more than ``MOST_ANSWERED`` bytes."""
    stated = response.headers.get("content-length", "")
    body = response.read(None if stated.isdigit() and int(stated) <= MOST_ANSWERED else MOST_ANSWERED + 1)
    if len(body) > MOST_ANSWERED:
        response.close()
        response.release_conn()
        raise UserError(NOBODY)
    return body


def _seconds(response: BaseHTTPResponse) -> float:
    """Return the seconds of the Retry-After header, at most 10; 0 if it is missing or not a number."""
    stated = response.headers.get("retry-after", "")
    return min(float(stated), 10.0) if stated.isdigit() else 0.0


FRESH = 5.0  # seconds for which facts about models are cached: drawing a page asks for them several times
LOOKS = 0.3  # seconds for which the progress of a download is cached
IMPATIENT = 2.0  # seconds for which requests about models are repeated, since a page can be drawn without them
AT_MOST = 30.0  # deadline in seconds of requests about models; a silent hub is given up earlier


class ServiceClient(Protocol):
    """The interface of a client that sends requests to a service, such as ``Caller``."""

    def ask(  # noqa: PLR0913  (the signature of Caller.ask)
        self,
        path: str,
        asked: Any,
        key: str,
        model: str = "",
        *,
        patience: float = ...,
        seconds: float | None = ...,
    ) -> Any:
        """Send the request ``asked`` to a path of the service and return the answer; may raise UserError.

        The arguments are those of ``Caller.ask``.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class RemoteBackend(LocalBackend):
    """A backend that sends all requests to a service and caches the answers within its memory budgets.

    If equal requests come at the same time, only one is sent. Each request is self-contained, so any replica can answer
    it. An answer is accepted only if it contains the key of its request.
    """

    def __init__(self, caller: ServiceClient, settings: Settings | None = None, address: str = "") -> None:
        super().__init__(settings)
        self.address = address
        self._caller = caller
        self._said: dict[tuple[str | None, ...], tuple[float, Any]] = {}
        self._identities: dict[tuple[str, str | None], ModelId] = {}
        self._remote_downloads: dict[tuple[str, str | None], RemoteDownload] = {}

    @classmethod
    def from_url(cls, address: str, token: str = "", settings: Settings | None = None) -> RemoteBackend:
        """Return a backend for the service at an address such as http://127.0.0.1:8765."""
        found = settings or Settings.from_env()
        return cls(Caller(address, token, found.answer_seconds), found, address)

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Fetch the traces of requests for a single model from the service; may raise UserError."""
        found: list[Trace] = []
        for start in range(0, len(requests), AT_ONCE):
            some = tuple(requests[start : start + AT_ONCE])
            wanted = tuple(request.key for request in some)
            keys, traces = self._caller.ask(TRACES, some, wanted[0], some[0].model)
            if keys != wanted or tuple(trace.id for trace in traces) != wanted:
                raise UserError(NOBODY, way_out="retry")
            found += traces
        self._identities[requests[0].model, requests[0].revision] = found[0].model
        return found

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """Fetch the answer to a request from the service; may raise UserError."""
        key, answer = self._caller.ask(ANSWER, question, question.key, question.model)
        if key != question.key:
            raise UserError(NOBODY, way_out="retry")
        return cast("Answer", answer)

    def models(self) -> Sequence[ModelCard]:
        """Return the cards of the service's models, or only the embedded model's if the service does not answer."""
        return cast("Sequence[ModelCard]", self._cached_about("models", otherwise=lambda: (EMBEDDED_CARD,)))

    def seeing(self) -> Sequence[ModelCard]:
        """Return the cards of the service's models that read pictures, or none if the service does not answer."""
        return cast("Sequence[ModelCard]", self._cached_about("seeing", otherwise=lambda: ()))

    def status(self, model: str, revision: str | None = None) -> str:
        """Return the state of a model at the replica that answers; "absent" if the service does not answer."""
        return str(self._cached_about("status", model, self.revision_now(model, revision), otherwise=lambda: "absent"))

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Return the identity of a model at the service, or only its name if the service does not answer."""
        revision = self.revision_now(model, revision)
        known = self._identities.get((model, revision))
        nothing = ModelId(model, revision, "", "")
        return known or cast("ModelId", self._cached_about("identity", model, revision, otherwise=lambda: nothing))

    def reads(self, model: str, revision: str | None = None) -> str:
        """Return the kind of input of a model at the service: text, pictures or both; may raise UserError."""
        return str(self._cached_about("reads", model, revision))

    def look(self, model: str, revision: str | None = None) -> Offer:
        """Look up a hub model through the service; return its size and architecture, or raise UserError."""
        return cast("Offer", self.fetch_about("look", model, revision))

    def download(self, offer: Offer) -> Download:
        """Start or resume the download of a model at the service; return an object that follows it."""
        with self._lock:
            key = (offer.id, offer.revision)
            found = self._remote_downloads.setdefault(key, RemoteDownload(offer, self))
        return cast("Download", found.start())

    def close(self) -> None:
        """Close the connections."""
        self._caller.close()

    def loaded(self, name: str, revision: str | None, head: str = "") -> LoadedModel:  # noqa: ARG002  (not used here)
        """Raise RuntimeError, because this process contains no models."""
        raise RuntimeError(f"{name} is where the backend is, not here.")

    def prepare(self, model: str) -> None:
        """Do nothing, because this process contains no models."""

    def fetch_about(self, *asked: str | None) -> Any:
        """Fetch facts about models from the service; may raise UserError.

        ``asked`` is a request for ``serving.protocol.About``: the name of a method, then its arguments.
        """
        key = "/".join(one or "" for one in asked[1:3])
        model = asked[1] or "" if asked[1:] else ""
        same, found = self._caller.ask(ABOUT, asked, key or str(asked[0]), model, patience=IMPATIENT, seconds=AT_MOST)
        if same != asked:
            raise UserError(NOBODY, way_out="retry")
        return found

    def _cached_about(self, *asked: str | None, otherwise: Callable[[], Any] | None = None) -> Any:
        """Return facts about a model, at most ``FRESH`` seconds old.

        If the service does not answer, return the last known facts or ``otherwise()``; raise UserError without
        ``otherwise``.
        """
        until, found = self._said.get(asked, (0.0, None))
        if until > time.monotonic():
            return found
        try:
            found = self.fetch_about(*asked)
        except UserError:
            if otherwise is None:
                raise
            found = otherwise() if found is None else found
        if len(self._said) > 1_000:  # visitors choose the names, so the cache could grow without bound
            self._said.clear()
        # The next request may load a model, so "loaded" is the only status that stays true.
        if asked[0] != "status" or found == "loaded":
            self._said[asked] = (time.monotonic() + FRESH, found)
        return found


class RemoteDownload:
    """A download that runs at the service, with the interface of inference.files.download.Download."""

    def __init__(self, offer: Offer, backend: RemoteBackend) -> None:
        self.offer, self._backend = offer, backend
        self.error: UserError | None = None
        self._lock = threading.Lock()
        self._progress, self._state, self._until = DownloadProgress(0, offer.nbytes), "new", 0.0

    @property
    def state(self) -> str:
        """Return the state of the download at the service, which is refreshed after ``LOOKS`` seconds."""
        if time.monotonic() > self._until and self._state not in ("done", "failed"):
            self._ask("look")
        return self._state

    @property
    def progress(self) -> DownloadProgress:
        """Return the bytes downloaded and the bytes in total."""
        return DownloadProgress(self.offer.nbytes, self.offer.nbytes) if self.state == "done" else self._progress

    @property
    def done(self) -> bool:
        """Return True if every file has been downloaded."""
        return self.state == "done"

    def start(self) -> RemoteDownload:
        """Start or resume the download at the service."""
        self._ask(START_DOWNLOAD)
        return self

    def stop(self) -> None:
        """Stop the download at the service; the files received so far are kept."""
        self._ask(STOP_DOWNLOAD)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the download ends, or for ``timeout`` seconds; return True if it is complete.

        Raise its UserError if it failed.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while self.state == "running" and (end is None or time.monotonic() < end):
            time.sleep(LOOKS)
        if self.error is not None:
            raise self.error.copy()
        return self.done

    def _ask(self, doing: str) -> None:
        with self._lock:
            try:
                told = self._backend.fetch_about("download", self.offer.id, self.offer.revision, doing)
            except UserError as refusal:
                told = {"state": "failed", "error": refusal}
            self._state, self.error = told["state"], told.get("error")
            self._progress = DownloadProgress(
                told.get("done", self._progress.done), told.get("total", self.offer.nbytes)
            )
            self._until = time.monotonic() + LOOKS


def from_env() -> RemoteBackend | None:
    """Return a backend for the service at HEADLIGHT_BACKEND, or None if the variable is not set.

    The token of the service is read from HEADLIGHT_BACKEND_TOKEN.
    """
    address = os.environ.get("HEADLIGHT_BACKEND", "").strip()
    return RemoteBackend.from_url(address, os.environ.get(TOKEN, "").strip()) if address else None
