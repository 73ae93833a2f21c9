"""The backend of an app whose models are elsewhere: the same questions, asked over HTTP."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from attention.trace import ModelId, Trace
from inference.backend import LocalBackend
from inference.catalogue.cards import EMBEDDED_CARD
from inference.errors import UserError
from inference.files.download import Download, DownloadProgress
from inference.files.hub import Offer
from inference.hub_cards import ModelCard
from inference.loaded_model import LoadedModel
from inference.request import TraceRequest
from inference.settings import Settings
from inference.tasks.model_request import Answer, ModelRequest
from serving.client import NOBODY, Caller
from serving.model_info import START, STOP
from serving.protocol import ABOUT, ANSWER, AT_ONCE, TOKEN, TRACES

FRESH = 5.0  # seconds for which what was said of models is taken as said: a page asks several times as it draws itself
LOOKS = 0.3  # the same for how far a download is
IMPATIENT = 2.0  # seconds for which what a page can be drawn without is asked again
AT_MOST = 30.0  # seconds that it may take: a hub that says nothing is given up before


class ServiceClient(Protocol):
    """Who asks a service (serving.client)."""

    def ask(  # noqa: PLR0913  (as serving.client has it)
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
