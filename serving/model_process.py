"""Models from the hub in subprocesses, so that their files cannot harm the app."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import IO, Any

from attention.trace import ModelId, Trace
from i18n import gettext_lazy
from inference import cancellation
from inference.backend import LocalBackend
from inference.byte_cache import ByteLru
from inference.cancellation import Cancelled, CancelToken
from inference.errors import UserError
from inference.files import embedded, extras, sources
from inference.request import EMBEDDED, TraceRequest
from inference.settings import Settings
from inference.tasks.model_request import Answer, ModelRequest
from serving import worker
from serving.protocol import InvalidFrame
from serving.stored_answers import MODELS, StoredAnswers, weights_hash

ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # the folder that contains the project's packages
ROOM_TO_RUN = 1_500_000_000  # bytes in addition to the weights, for a forward pass and its answer
GRACE = 5.0  # seconds for a cancelled pass to reach its next layer
OWN = 400_000_000  # bytes that the process occupies before it loads a model


class PendingAnswers:
    """The futures of the answers that a subprocess still has to send, by the number of the request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._ended = False

    def expect(self, number: int) -> Future[Any]:
        """Return a new future for the answer to request ``number``.

        The future raises EOFError if the subprocess ends.
        """
        future: Future[Any] = Future()
        with self._lock:
            if self._ended:
                future.set_exception(EOFError())
            else:
                self._waiting[number] = future
        return future

    def forget(self, number: int) -> None:
        """Drop the future of request ``number``; its answer is then ignored."""
        with self._lock:
            self._waiting.pop(number, None)

    def waits_for_others(self, number: int) -> bool:
        """Return True if the subprocess has not yet answered a request other than ``number``."""
        with self._lock:
            return bool(self._waiting.keys() - {number})

    def read(self, stream: IO[bytes]) -> None:
        """Read answers from ``stream`` and resolve their futures, until the stream ends or breaks.

        All futures that are still pending then raise EOFError.
        """
        try:
            while True:
                number, found = worker.receive(stream)
                with self._lock:
                    future = self._waiting.pop(number, None)
                if future is not None:
                    future.set_result(found)
        except (EOFError, OSError, InvalidFrame, TypeError, ValueError):
            with self._lock:
                self._ended, left = True, list(self._waiting.values())
            for future in left:
                future.set_exception(EOFError())


class ModelProcess:
    """A subprocess that runs one model.

    It is killed if this object is garbage-collected or if an answer takes too long. ``nbytes`` is its share of the
    memory budget for models: the weights plus the overhead of the process.
    """

    def __init__(self, name: str, weights: int, settings: Settings) -> None:
        self.name, self.nbytes, self.seconds = name, weights + OWN, settings.answer_seconds
        self._answers, self._numbers, self._one_writes = PendingAnswers(), count(), threading.Lock()
        self._child = subprocess.Popen(
            [sys.executable, "-m", worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            # The files have been downloaded, so the process needs no network.
            env={**os.environ, "HF_HUB_OFFLINE": "1", "RUST_BACKTRACE": "0"},
            # Ctrl-C in the app's terminal must not reach the subprocess.
            process_group=0 if hasattr(os, "getpgid") else None,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input = self._child.stdin
        weakref.finalize(self, _terminate, self._child)
        # A thread with a reference to this object would keep it from being collected.
        threading.Thread(target=self._answers.read, args=(self._child.stdout,), name=name, daemon=True).start()
        self._send(
            (_settings_to_json(settings), 2 * weights + ROOM_TO_RUN)
        )  # the limit is twice the weights, because half-precision weights are widened on loading

    @property
    def has_ended(self) -> bool:
        """Return True if the subprocess has exited."""
        return self._child.poll() is not None

    def ask(self, asked: Any) -> Any:
        """Send a model request, or a list of trace requests, to the subprocess and return its answer.

        May raise UserError.
        """
        number = next(self._numbers)
        future = self._answers.expect(number)
        stop = cancellation.current_token() or CancelToken(seconds=self.seconds)
        # The visitor's name is hashed, because the process reads untrusted files.
        self._send((number, hash(stop.who), asked))
        try:
            stop.wait(future)
            found = future.result()
        except Cancelled as stopped:
            found = self._cancelled_result(number, future, stopped)
        except EOFError as error:
            self._end_now()
            raise UserError(
                gettext_lazy(
                    "{name} ended its process: too little memory, or damaged files. Pick another model.",
                    name=self.name,
                ),
                way_out="embedded",
            ) from error
        finally:
            self._answers.forget(number)
        if isinstance(found, UserError):
            raise found
        return found

    def _cancelled_result(self, number: int, future: Future[Any], stopped: Cancelled) -> Any:
        """Cancel a request in the subprocess; return its answer if that still arrives, else raise ``stopped``.

        If the subprocess does not react within ``GRACE`` seconds, it is killed, unless the visitor has left
        (rather than timed out) and other requests are pending. Raise UserError if it is killed after a timeout.
        """
        self._send((number, 0, None))
        try:
            found = future.result(GRACE)
        except EOFError:
            raise stopped from None
        except TimeoutError:
            if not stopped.timed_out and self._answers.waits_for_others(number):
                raise stopped from None
            self._end_now()
            if not stopped.timed_out:
                raise stopped from None
            raise UserError(
                gettext_lazy(
                    "This took over {seconds:.0f} seconds. Pick a shorter text or smaller model.",
                    seconds=self.seconds,
                ),
                way_out="text",
            ) from None
        if isinstance(found, UserError):
            raise stopped
        return found

    def _end_now(self) -> None:
        self._child.kill()
        self._child.wait()

    def _send(self, value: Any) -> None:
        try:
            with self._one_writes:
                worker.send(self._input, value)
        except OSError:
            return  # the process has ended; the pending futures raise EOFError


def _terminate(child: subprocess.Popen[bytes]) -> None:
    """Kill a subprocess and close its pipes."""
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        with suppress(OSError):  # closing flushes buffered bytes, which the dead process cannot read
            if stream is not None:
                stream.close()


def _settings_to_json(settings: Settings) -> dict[str, Any]:
    """Return the settings as plain values; serving.worker.settings_from is the inverse."""
    found = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    paths = {name: str(found[name]) for name in ("cache", "taught") if found[name] is not None}
    return {**found, **paths, "model_folders": tuple(str(folder) for folder in settings.model_folders)}


def is_foreign(model: str) -> bool:
    """Return True if a model comes from the hub, so that it must run in a subprocess.

    Models that come with the app, fine-tuned models and models in the operator's folders run in the app's process.

    >>> is_foreign("somebody/something"), is_foreign(EMBEDDED), is_foreign("/models/mine")
    (True, False, False)
    """
    ours = model in (EMBEDDED, *embedded.OWN) or extras.find_extra(model) is not None
    return not (ours or sources.is_taught(model) or sources.is_path(model))


class SubprocessBackend(LocalBackend):
    """A LocalBackend that runs each hub model in its own subprocess.

    All models share a memory budget. A tokenizer that exhausts memory, a library that aborts, or weights that are
    truncated during loading end only the subprocess. The visitor gets a UserError, and the next request starts a new
    subprocess.
    """

    stored = StoredAnswers()

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.processes: ByteLru[ModelProcess] = ByteLru(self.settings.model_memory_bytes)
        self._identities: dict[tuple[str, str | None], ModelId] = {}

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return the traces of requests for a single model, without reading the cache; may raise UserError.

        For models that come with the app, a trace that is stored in the repository is returned if there is one.
        """
        first = requests[0]
        if not is_foreign(first.model):
            found = [self.stored.find(request, self.settings) for request in requests]
            missing = [request for request, trace in zip(requests, found, strict=True) if trace is None]
            made = iter(super().computed(missing) if missing else ())
            return [next(made) if trace is None else trace for trace in found]
        traces: list[Trace] = self._process(first.model, first.revision).ask(list(requests))
        self._identities[first.model, first.revision] = traces[0].model
        return traces

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """Compute the answer to a model request without reading the cache; may raise UserError.

        For models that come with the app, a stored answer is returned if there is one.
        """
        if not is_foreign(question.model):
            stored = self.stored.find(question, self.settings)
            return super().made(question) if stored is None else stored
        answer: Answer = self._process(question.model, question.revision).ask(question)
        return answer

    def status(self, model: str, revision: str | None = None) -> str:
        """Return the state of a model: "loaded", "loading", "downloading", "here" (on disk) or "absent"."""
        if is_foreign(model) and (model, revision) in self.processes:
            return "loaded"
        return super().status(model, revision)

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Return the identity of a model: name, revision, kind and class.

        For a hub model, it contains the commit only after the first trace. For a model that comes with the app, it
        contains the hash of the weights even if answers were stored and the model is not loaded.
        """
        found = self._identities.get((model, revision)) or super().identity(model, revision)
        if found.weights is None and revision is None and model in MODELS:
            with suppress(UserError):  # the model may be missing
                return replace(found, weights=weights_hash(model, self.settings))
        return found

    def _process(self, model: str, revision: str | None) -> ModelProcess:
        """Return the running subprocess of a foreign model, started if needed.

        Raise UserError if the files of the model are missing or too large.
        """
        from inference.files import checkpoint, sources

        def start_process() -> ModelProcess:
            source = sources.find(model, revision, self.settings)
            files = checkpoint.inspect(source.folder, source.name)
            checkpoint.refuse_too_large(source.name, files.memory_bytes, self.settings.largest_model)
            for kept in (self.processes, self.kept_models):  # both caches share the same memory budget
                kept.make_room(files.memory_bytes)
            alone = replace(self.settings, model_memory_bytes=self.settings.largest_model)
            return ModelProcess(source.name, files.memory_bytes, alone)

        found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        if found.has_ended:
            self.processes.drop((model, revision), found)
            found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        return found
