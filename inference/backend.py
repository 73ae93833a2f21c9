"""The interface through which pages use models and traces, and its implementation in this process.

All sessions share a backend.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from attention.trace import ModelId, Trace
from i18n import gettext_lazy
from inference import cancellation
from inference.byte_cache import ByteLru
from inference.catalogue.listing import ModelCard, catalogue, list_vision_models, refusal
from inference.errors import UserError
from inference.files import sources
from inference.files.download import Download
from inference.files.hub import Offer
from inference.loaded_model import BUILDING
from inference.pictures.image_processing import PICTURES, reads
from inference.request import TraceRequest, size_of
from inference.scheduling import Scheduler, calm_blas
from inference.settings import Settings
from inference.task_heads import ANSWER, BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, SEES, TAG, WRITES
from inference.tasks.model_request import Answer, InspectRequest, ModelRequest, PredictRequest
from inference.text import tokenizer
from inference.text.encoding import check_text

if TYPE_CHECKING:
    from inference.loaded_model import LoadedModel

Asked = TypeVar("Asked", bound="TraceRequest | ModelRequest[Any]")
_REMEMBERED_BYTES = 64_000_000  # holds the requests of thousands of texts, or of a few pictures


class Backend(Protocol):
    """The interface that a page uses, in this process or remote; every method may raise UserError."""

    def models(self) -> Sequence[ModelCard]:
        """Return the cards of the models to choose from; the model that comes with the app is first."""
        ...

    def trace(self, request: TraceRequest) -> Trace:
        """Return the trace of a text, from which the weights of every head can be computed."""
        ...

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return the traces of many texts, in the order of the requests; batches are faster than single calls."""
        ...

    def recent(self, key: str) -> Trace | None:
        """Return the trace with the key of an earlier request, or None if the backend knows no such request.

        If the trace was evicted from the cache, it is computed again.
        """
        ...

    def predict(self, request: PredictRequest[Answer]) -> Answer:
        """Return a prediction of the model, such as masked words, next sentence or next token."""
        ...

    def inspect(self, request: InspectRequest[Answer]) -> Answer:
        """Return weights or intermediate results of the model, such as position tables or vectors."""
        ...


class LocalBackend:
    """A thread-safe backend in this process, cheap to construct; the first trace imports torch.

    Models and traces are cached within byte budgets; the least recently used are evicted first. If several threads
    request the same model or trace, a single thread loads or computes it, and the others wait. ``traces`` computes its
    missing traces in batches. Loading or downloading a model does not delay traces of another model. A visitor's
    request is cancelled when the visitor leaves, or after ``answer_seconds`` (inference.cancellation).

    >>> LocalBackend(Settings()).models()[0].id
    'all-MiniLM-L6-v2'
    """

    def __init__(self, settings: Settings | None = None) -> None:
        calm_blas()
        self.settings = settings or Settings.from_env()
        self.kept_models: ByteLru[LoadedModel] = ByteLru(self.settings.model_memory_bytes)
        self.kept_traces: ByteLru[Trace] = ByteLru(self.settings.trace_memory_bytes)
        self.kept_answers: ByteLru[Any] = ByteLru(self.settings.trace_memory_bytes // 8)
        self._requests: ByteLru[TraceRequest] = ByteLru(_REMEMBERED_BYTES)
        self.forwards = Scheduler(self.settings.forwards)
        self._downloads: dict[tuple[str, str], Download] = {}
        self._lock = threading.Lock()

    def models(self) -> Sequence[ModelCard]:
        """Return the cards of the embedded model, local models and suggested hub models, without network access."""
        return catalogue(self.settings)

    def seeing(self) -> Sequence[ModelCard]:
        """Return the cards of models that read pictures: local models, then suggested hub models.

        No network is used.
        """
        return list_vision_models(self.settings)

    def trace(self, request: TraceRequest) -> Trace:
        """Return the trace of a text or picture; raise UserError with the reason and a remedy."""
        request = self._now(request)
        if request.picture is not None:  # not cached, because a visitor's picture must not stay here
            with self._in_time():
                return self.computed([request])[0]
        kept = self.kept_traces.get(request.key)
        if kept is None:
            with self._in_time():
                kept = self.kept_traces.get_or_make(
                    request.key, lambda: self.computed([request])[0], lambda t: t.nbytes
                )
        self._requests.put(request.key, request, request.weight)
        return kept

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return traces in the order of the requests; texts for the same model share padded batches.

        The attention weights equal those of single traces to 1e-5. Raise the UserError of the first request that
        cannot be served.
        """
        requests = [self._now(request) for request in requests]
        found = {request.key: self.kept_traces.get(request.key) for request in requests}
        models: dict[tuple[str, str | None], dict[str, TraceRequest]] = {}
        for request in requests:
            if found[request.key] is None:
                models.setdefault((request.model, request.revision), {})[request.key] = request
        for missing in models.values():
            with self._in_time():
                computed = self.computed(list(missing.values()))
            for made in computed:
                found[made.id] = made
                self.kept_traces.put(made.id, made, made.nbytes)
        for request in requests:
            self._requests.put(request.key, request, request.weight)
        return [trace for request in requests if (trace := found[request.key]) is not None]

    def recent(self, key: str) -> Trace | None:
        """Return the cached or recomputed trace of a remembered request; None for an unknown ``key``.

        Raise UserError if the trace cannot be recomputed, for example because its model was removed.
        """
        kept = self.kept_traces.get(key)
        if kept is not None:
            return kept
        request = self._requests.get(key)
        return None if request is None else self.trace(request)

    def predict(self, request: PredictRequest[Answer]) -> Answer:
        """Return the model's prediction; raise UserError if the model lacks the required head."""
        return self._answer(request)

    def inspect(self, request: InspectRequest[Answer]) -> Answer:
        """Return weights or intermediate results of a model; raise UserError if the model lacks them."""
        return self._answer(request)

    def _answer(self, question: ModelRequest[Answer]) -> Answer:
        """Return the cached answer, or compute it with the request's module of inference/runners/."""
        question = self._now(question)
        with self._in_time():
            answer: Answer = self.kept_answers.get_or_make(question.key, lambda: self.made(question), size_of)
        return answer

    def _in_time(self) -> AbstractContextManager[None]:
        """Cancel the work inside the block if the visitor leaves or the time limit passes."""
        return cancellation.limit_request(self.settings.answer_seconds)

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """Return the answer to a request, computed without the cache; raise UserError if the model cannot serve it."""
        loaded = self._with_head(question.model, question.revision, question.needs)
        if loaded.reads == PICTURES and not question.SEES:
            raise tokenizer.refuse_without_tokenizer(loaded.id.name)
        module, _dot, function = question.ANSWERED_BY.partition(".")
        compute = getattr(importlib.import_module(f"inference.runners.{module}"), function)
        made: Answer = self.forwards.run(lambda: compute(loaded, question))
        return made

    def status(self, model: str, revision: str | None = None) -> str:
        """Return the state of a model: "loaded", "loading", "downloading", "here" (on disk) or "absent".

        The network is not used.
        """
        from inference.files.sources import is_local

        revision = self.revision_now(model, revision)
        if (model, revision, BARE) in self.kept_models:
            return "loaded"
        if self.kept_models.is_pending((model, revision, BARE)):
            return "loading"
        with self._lock:
            running = [d for d in self._downloads.values() if d.offer.id == model and d.offer.revision == revision]
        if any(download.state == "running" for download in running):
            return "downloading"
        return "here" if is_local(model, revision, self.settings) else "absent"

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Return the identity of a model, with its commit or the hash of its weights if it is loaded."""
        revision = self.revision_now(model, revision)
        heads = (BARE, MASKED, NEXT_SENTENCE, CAUSAL, CLASSIFY, TAG, ANSWER, SEES)
        kept = (self.kept_models.get((model, revision, head)) for head in heads)
        return next((loaded.id for loaded in kept if loaded is not None), ModelId(model, revision, "", ""))

    def revision_now(self, model: str, revision: str | None) -> str | None:
        """Return the revision of a model to load.

        It is ``revision``, or for a fine-tuned model the time stamp of its latest save.
        """
        return sources.state_stamp(model, self.settings) if sources.is_taught(model) else revision

    def _now(self, asked: Asked) -> Asked:
        """Return the request with the current revision of its model."""
        revision = self.revision_now(asked.model, asked.revision)
        return asked if revision == asked.revision else replace(asked, revision=revision)

    def look(self, model: str, revision: str | None = None) -> Offer:
        """Look up a hub model; return its size, memory need and architecture as an offer.

        Raise UserError with the reason if the model cannot be used.
        """
        from inference.files import hub

        return hub.fetch_offer(model, revision, self.settings)

    def download(self, offer: Offer) -> Download:
        """Start or resume the download of a hub model that ``look`` returned.

        All sessions share the returned download.
        """
        with self._lock:
            download = self._downloads.get((offer.id, offer.commit))
            if download is None or (download.done and not offer.downloaded):
                download = self._downloads[offer.id, offer.commit] = Download(offer, self.settings)
        return download.start()

    def reads(self, model: str, revision: str | None = None) -> str:
        """Return the kind of input that a model reads: text, pictures or both.

        The values are constants of inference.pictures.image_processing. The model is not loaded. Raise UserError if the
        model cannot be found or its configuration cannot be read.
        """
        from inference.files import checkpoint, sources

        source = sources.find(model, self.revision_now(model, revision), self.settings)
        config = checkpoint.inspect(source.folder, source.name).config
        return reads(str((config or {}).get("model_type")))

    def _with_head(self, name: str, revision: str | None, head: str) -> LoadedModel:
        """Return the model with a head; an encoder-decoder generates with the same model that is traced."""
        loaded = self.loaded(name, revision, BARE if head == WRITES else head)
        if head == WRITES and not loaded.writes:
            raise refusal(WRITES, loaded.id.name, self.settings)
        return loaded

    def loaded(self, name: str, revision: str | None, head: str = BARE) -> LoadedModel:
        """Return the cached or newly loaded model with a head of inference.task_heads.

        This method is for benchmarks and tests; pages send requests instead.
        """
        from inference.files import sources
        from inference.load import loading

        revision = self.revision_now(name, revision)

        def make() -> LoadedModel:
            source = sources.find(name, revision, self.settings)
            with BUILDING:  # held until the model is in the cache, so that the next load sees the remaining memory
                loaded = loading.load(source, self.settings, self.kept_models.make_room, head)
                self.kept_models.put((name, revision, head), loaded, loaded.nbytes)
            return loaded

        return self.kept_models.get_or_make((name, revision, head), make, lambda loaded: loaded.nbytes)

    def prepare(self, model: str) -> None:
        """Import the libraries that traces need and load a model; raise UserError if it cannot be loaded."""
        self.loaded(model, None)
        importlib.import_module("inference.record.batching")

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return the traces of requests for a single model, computed without the cache, in the order of the requests.

        All requests have the same model and revision. Raise UserError if a request cannot be served.
        """
        from inference.record import batching
        from inference.write import target_text

        longest = self.settings.text_characters
        checked = [_validate_request(request, longest) for request in requests]
        loaded = self.loaded(requests[0].model, requests[0].revision)
        traces: dict[str, Trace] = {}
        with_keys = zip(checked, requests, strict=True)
        prepared = [target_text.prepare(loaded, request, asked.key, self.forwards) for request, asked in with_keys]
        for batch in batching.batches(prepared):
            made = self.forwards.run(partial(batching.run, loaded, batch))
            traces.update((trace.id, trace) for trace in made)
        return [traces[request.key] for request in requests]


def _validate_request(request: TraceRequest, longest: int) -> TraceRequest:
    """Return the request with normalised texts; raise UserError for a text that no model can read."""
    if request.cut is not None and request.cut < 1:
        raise UserError(
            f"A text cut to {request.cut} tokens has nothing left. Keep at least one.",
            way_out="text",
        )
    alone = request.picture is not None and not request.text.strip()
    return replace(
        request,
        text="" if alone else check_text(request.text, longest=longest),
        pair=check_text(request.pair, gettext_lazy("second text"), longest=longest)
        if request.pair is not None
        else None,
        target=check_text(request.target, gettext_lazy("target text"), longest=longest)
        if request.target is not None
        else None,
    )
