"""The one thing that pages ask: models, and traces of texts. Shared by every session of the app."""

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
from inference.building import BUILDING
from inference.byte_cache import ByteLru
from inference.catalogue.listing import ModelCard, catalogue, list_vision_models, refusal
from inference.errors import UserError
from inference.files import sources
from inference.files.download import Download
from inference.files.hub import Offer
from inference.pictures.image_processing import PICTURES, reads
from inference.request import TraceRequest, size_of
from inference.scheduling import Scheduler
from inference.settings import Settings
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, SEES, TAG, WRITES
from inference.tasks.model_request import Answer, InspectRequest, ModelRequest, PredictRequest
from inference.text import tokenizer
from inference.text.encoding import check_text
from inference.threads import calm_blas

if TYPE_CHECKING:
    from inference.loaded_model import LoadedModel

Asked = TypeVar("Asked", bound="TraceRequest | ModelRequest[Any]")
_REMEMBERED_BYTES = 64_000_000  # of requests: thousands of texts, a few pictures


class Backend(Protocol):
    """What a page may ask for, in this process or on another machine. Every method raises Refusal in words."""

    def models(self) -> Sequence[ModelCard]:
        """Models to choose from, the embedded one first."""
        ...

    def trace(self, request: TraceRequest) -> Trace:
        """What every head of the model attends to in the text."""
        ...

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """The same for many texts, in their order, faster than one by one."""
        ...

    def recent(self, key: str) -> Trace | None:
        """The trace of a request made here before, made again if it was evicted; None for an unknown key."""
        ...

    def predict(self, request: PredictRequest[Answer]) -> Answer:
        """What the model says: masked words, whether a sentence follows, the next token."""
        ...

    def inspect(self, request: InspectRequest[Answer]) -> Answer:
        """What the model holds or computes on the way: a layer's numbers, positions, vectors."""
        ...


class LocalBackend:
    """The backend in this process. Cheap to construct, thread-safe; torch is imported by the first trace.

    Models and traces are kept within byte budgets, least recently used evicted first. No model is loaded and no single
    trace computed twice at the same time; ``traces`` computes in a batch of its own what is not kept yet. Loading or
    downloading one model never holds up traces of another. What a visitor asks for ends with them, and after
    ``answer_seconds`` (inference.cancellation).

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
        """Models to choose from: the embedded one, local folders, good first choices on the hub. Asks no network."""
        return catalogue(self.settings)

    def seeing(self) -> Sequence[ModelCard]:
        """Models that read pictures: local folders, good first choices on the hub. Asks no network."""
        return list_vision_models(self.settings)

    def trace(self, request: TraceRequest) -> Trace:
        """The trace of one text or picture; raises Refusal with the reason and what helps."""
        request = self._now(request)
        if request.picture is not None:  # whoever asked holds it: nothing of a reader's picture stays here
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
        """Traces in the order of the requests; texts of one model go through it together, padded.

        Equal to single traces to 1e-5. Raises the Refusal of the first request that cannot be served.
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
        """The trace of that key, from memory or made again from the remembered request; None for an unknown key.

        Raises Refusal when it cannot be made again, because its model is gone.
        """
        kept = self.kept_traces.get(key)
        if kept is not None:
            return kept
        request = self._requests.get(key)
        return None if request is None else self.trace(request)

    def predict(self, request: PredictRequest[Answer]) -> Answer:
        """What the model says; raises Refusal for a model without the head that this needs."""
        return self._answer(request)

    def inspect(self, request: InspectRequest[Answer]) -> Answer:
        """What the model holds or computes on the way; raises Refusal for a model that has no such thing."""
        return self._answer(request)

    def _answer(self, question: ModelRequest[Answer]) -> Answer:
        """The kept answer, or a new one from the module of inference/answers/ that the question names."""
        question = self._now(question)
        with self._in_time():
            answer: Answer = self.kept_answers.get_or_make(question.key, lambda: self.made(question), size_of)
        return answer

    def _in_time(self) -> AbstractContextManager[None]:
        """What a visitor asks for inside the block ends with them, or when its time is over: raises Stopped."""
        return cancellation.limit_request(self.settings.answer_seconds)

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """The answer, made now and not kept; raises Refusal."""
        loaded = self._with_head(question.model, question.revision, question.needs)
        if loaded.reads == PICTURES and not question.SEES:
            raise tokenizer.refuse_without_tokenizer(loaded.id.name)
        module = importlib.import_module(f"inference.runners.{question.ANSWERED_BY}")
        made: Answer = self.forwards.run(lambda: module.answer(loaded, question))
        return made

    def status(self, model: str, revision: str | None = None) -> str:
        """One of "loaded", "loading", "downloading", "here" (on this machine) and "absent". Asks no network."""
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
        """Which model that name stands for here, with its commit or its weights' hash where it is loaded now."""
        revision = self.revision_now(model, revision)
        heads = (BARE, MASKED, NEXT_SENTENCE, CAUSAL, CLASSIFY, TAG, SEES)
        kept = (self.kept_models.get((model, revision, head)) for head in heads)
        return next((loaded.id for loaded in kept if loaded is not None), ModelId(model, revision, "", ""))

    def revision_now(self, model: str, revision: str | None) -> str | None:
        """The revision to ask for: of a taught model, which may have gone on learning, the state that is saved now."""
        return sources.state_stamp(model, self.settings) if sources.is_taught(model) else revision

    def _now(self, asked: Asked) -> Asked:
        """The same question of a model as it is now."""
        revision = self.revision_now(asked.model, asked.revision)
        return asked if revision == asked.revision else replace(asked, revision=revision)

    def look(self, model: str, revision: str | None = None) -> Offer:
        """What downloading a hub model would mean: its size, its memory, its architecture; raises Refusal."""
        from inference.files import hub

        return hub.fetch_offer(model, revision, self.settings)

    def download(self, offer: Offer) -> Download:
        """The download of that offer, started or resumed; every session that asks gets the same one."""
        with self._lock:
            download = self._downloads.get((offer.id, offer.commit))
            if download is None or (download.done and not offer.downloaded):
                download = self._downloads[offer.id, offer.commit] = Download(offer, self.settings)
        return download.start()

    def reads(self, model: str, revision: str | None = None) -> str:
        """What a model reads: text, pictures or both (inference.pictures.image_processing). Loads nothing; raises
        Refusal."""
        from inference.files import checkpoint, sources

        source = sources.find(model, self.revision_now(model, revision), self.settings)
        config = checkpoint.inspect(source.folder, source.name).config
        return reads(str((config or {}).get("model_type")))

    def _with_head(self, name: str, revision: str | None, head: str) -> LoadedModel:
        """A model with a head; what writes from a source is the very model that is traced."""
        loaded = self.loaded(name, revision, BARE if head == WRITES else head)
        if head == WRITES and not loaded.writes:
            raise refusal(WRITES, loaded.id.name, self.settings)
        return loaded

    def loaded(self, name: str, revision: str | None, head: str = BARE) -> LoadedModel:
        """A model with a head of inference.task_heads, kept or loaded now; for benches and tests: pages ask
        questions."""
        from inference.files import sources
        from inference.load import loading

        revision = self.revision_now(name, revision)

        def make() -> LoadedModel:
            source = sources.find(name, revision, self.settings)
            with BUILDING:  # until it is kept: the next one then sees how much room is left
                loaded = loading.load(source, self.settings, self.kept_models.make_room, head)
                self.kept_models.put((name, revision, head), loaded, loaded.nbytes)
            return loaded

        return self.kept_models.get_or_make((name, revision, head), make, lambda loaded: loaded.nbytes)

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Traces of requests for one model and revision, in their order, computed now and not kept; raises Refusal."""
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
    """The request with its texts made sound; raises Refusal for a text that no model can read."""
    if request.cut is not None and request.cut < 1:
        raise UserError(
            gettext_lazy("A text cut to {cut} tokens has nothing left. Keep at least one.", cut=request.cut),
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
