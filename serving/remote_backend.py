"""The backend of an app whose models run elsewhere: requests over HTTP."""

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
from serving.model_info import START, STOP
from serving.protocol import (
    ABOUT,
    AFFINITY,
    ANSWER,
    AT_ONCE,
    DEADLINE,
    MODEL,
    MOST_ANSWERED,
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


FRESH = 5.0  # seconds for which what was said of models is taken as said: a page asks several times as it draws itself
LOOKS = 0.3  # the same for how far a download is
IMPATIENT = 2.0  # seconds for which what a page can be drawn without is asked again
AT_MOST = 30.0  # seconds that it may take: a hub that says nothing is given up before


class ServiceClient(Protocol):
    """Who asks a service (serving.remote_backend)."""

    def ask(  # noqa: PLR0913  (as serving.remote_backend has it)
        self,
        path: str,
        asked: Any,
        key: str,
        model: str = "",
        *,
        patience: float = ...,
        seconds: float | None = ...,
    ) -> Any:
        """The answer; raises Refusal."""
        ...

    def close(self) -> None:
        """Asks no more."""
        ...


class RemoteBackend(LocalBackend):
    """A backend that computes nothing itself: what it keeps are answers, within the budgets for traces, each asked for
    once for all who wait.

    Every question carries everything that it takes, so that any replica can answer it, and an answer is taken only
    under the key of its question.
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
        """The backend at an address such as http://127.0.0.1:8765."""
        found = settings or Settings.from_env()
        return cls(Caller(address, token, found.answer_seconds), found, address)

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Traces of requests for one model and revision, in their order; raises Refusal."""
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
        """The answer, asked for now; raises Refusal."""
        key, answer = self._caller.ask(ANSWER, question, question.key, question.model)
        if key != question.key:
            raise UserError(NOBODY, way_out="retry")
        return cast("Answer", answer)

    def models(self) -> Sequence[ModelCard]:
        """Models to choose from; the embedded one alone where nobody answers."""
        return cast("Sequence[ModelCard]", self._cached_about("models", otherwise=lambda: (EMBEDDED_CARD,)))

    def seeing(self) -> Sequence[ModelCard]:
        """Models that read pictures."""
        return cast("Sequence[ModelCard]", self._cached_about("seeing", otherwise=lambda: ()))

    def status(self, model: str, revision: str | None = None) -> str:
        """Where a model is, as far as the replica that answers knows."""
        return str(self._cached_about("status", model, self.revision_now(model, revision), otherwise=lambda: "absent"))

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Which model that name stands for there."""
        revision = self.revision_now(model, revision)
        known = self._identities.get((model, revision))
        nothing = ModelId(model, revision, "", "")
        return known or cast("ModelId", self._cached_about("identity", model, revision, otherwise=lambda: nothing))

    def reads(self, model: str, revision: str | None = None) -> str:
        """What a model reads; raises Refusal."""
        return str(self._cached_about("reads", model, revision))

    def look(self, model: str, revision: str | None = None) -> Offer:
        """What downloading a hub model would mean there; raises Refusal."""
        return cast("Offer", self.fetch_about("look", model, revision))

    def download(self, offer: Offer) -> Download:
        """The download there, started or resumed."""
        with self._lock:
            key = (offer.id, offer.revision)
            found = self._remote_downloads.setdefault(key, RemoteDownload(offer, self))
        return cast("Download", found.start())

    def close(self) -> None:
        """Lets its connections go."""
        self._caller.close()

    def loaded(self, name: str, revision: str | None, head: str = "") -> LoadedModel:  # noqa: ARG002  (as LocalBackend's)
        """No model is in this process."""
        raise RuntimeError(f"{name} is where the backend is, not here.")

    def fetch_about(self, *asked: str | None) -> Any:
        """What is said of models now; raises Refusal."""
        key = "/".join(one or "" for one in asked[1:3])
        model = asked[1] or "" if asked[1:] else ""
        same, found = self._caller.ask(ABOUT, asked, key or str(asked[0]), model, patience=IMPATIENT, seconds=AT_MOST)
        if same != asked:
            raise UserError(NOBODY, way_out="retry")
        return found

    def _cached_about(self, *asked: str | None, otherwise: Callable[[], Any] | None = None) -> Any:
        """The same, or what was said lately; ``otherwise`` where nobody answers, and the page is drawn without."""
        until, found = self._said.get(asked, (0.0, None))
        if until > time.monotonic():
            return found
        try:
            found = self.fetch_about(*asked)
        except UserError:
            if otherwise is None:
                raise
            found = otherwise() if found is None else found
        if len(self._said) > 1_000:  # names are visitors'
            self._said.clear()
        # A model is loaded by the next question: only that it is loaded is true for a while.
        if asked[0] != "status" or found == "loaded":
            self._said[asked] = (time.monotonic() + FRESH, found)
        return found


class RemoteDownload:
    """A download there, as inference.files.download.Download is one here."""

    def __init__(self, offer: Offer, backend: RemoteBackend) -> None:
        self.offer, self._backend = offer, backend
        self.error: UserError | None = None
        self._lock = threading.Lock()
        self._progress, self._state, self._until = DownloadProgress(0, offer.nbytes), "new", 0.0

    @property
    def state(self) -> str:
        """As there, some tenths of a second ago at most."""
        if time.monotonic() > self._until and self._state not in ("done", "failed"):
            self._ask("look")
        return self._state

    @property
    def progress(self) -> DownloadProgress:
        """How far it is."""
        return DownloadProgress(self.offer.nbytes, self.offer.nbytes) if self.state == "done" else self._progress

    @property
    def done(self) -> bool:
        """Whether every file is there."""
        return self.state == "done"

    def start(self) -> RemoteDownload:
        """Starts or resumes it there."""
        self._ask(START)
        return self

    def stop(self) -> None:
        """Stops it there; what has arrived is kept."""
        self._ask(STOP)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for it to end; raises the Refusal it failed with."""
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
    """The backend that HEADLIGHT_BACKEND names, with HEADLIGHT_BACKEND_TOKEN; None where it names none."""
    address = os.environ.get("HEADLIGHT_BACKEND", "").strip()
    return RemoteBackend.from_url(address, os.environ.get(TOKEN, "").strip()) if address else None
