"""Models of strangers in processes of their own."""

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

ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # the folder that the rooms, or their package, lie in
ROOM_TO_RUN = 1_500_000_000  # bytes beside the weights: what a text's pass and its answer may take
GRACE = 5.0  # seconds that a stopped pass may take to its next layer
OWN = 400_000_000  # bytes that the process takes before it has read anything


class PendingAnswers:
    """Who waits for which answer of a process, and that none comes any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._ended = False

    def expect(self, number: int) -> Future[Any]:
        """What will hold the answer of that number."""
        future: Future[Any] = Future()
        with self._lock:
            if self._ended:
                future.set_exception(EOFError())
            else:
                self._waiting[number] = future
        return future

    def forget(self, number: int) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            self._waiting.pop(number, None)

    def waits_for_others(self, number: int) -> bool:
        """Whether anybody waits for another answer than this one."""
        with self._lock:
            return bool(self._waiting.keys() - {number})

    def read(self, stream: IO[bytes]) -> None:
        """Hands on what comes, until nothing does."""
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
    """One model's process. It is ended when nobody holds this any more, and when it does not answer in time.

    ``nbytes`` is what it takes of the memory for models.
    """

    def __init__(self, name: str, weights: int, settings: Settings) -> None:
        self.name, self.nbytes, self.seconds = name, weights + OWN, settings.answer_seconds
        self._answers, self._numbers, self._one_writes = PendingAnswers(), count(), threading.Lock()
        self._child = subprocess.Popen(
            [sys.executable, "-m", worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "RUST_BACKTRACE": "0"},  # its files are here by now
            process_group=0 if hasattr(os, "getpgid") else None,  # Ctrl-C in the app's terminal is the app's alone
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input = self._child.stdin
        weakref.finalize(self, _terminate, self._child)
        # The thread must not hold this object, which would then never be let go.
        threading.Thread(target=self._answers.read, args=(self._child.stdout,), name=name, daemon=True).start()
        self._send(
            (_settings_to_json(settings), 2 * weights + ROOM_TO_RUN)
        )  # twice: weights in half precision grow as they load

    @property
    def has_ended(self) -> bool:
        """Whether it answers no more."""
        return self._child.poll() is not None

    def ask(self, asked: Any) -> Any:
        """The answer to a question, or the traces of a list of requests; raises Refusal."""
        number = next(self._numbers)
        future = self._answers.expect(number)
        stop = cancellation.current_token() or CancelToken(seconds=self.seconds)
        self._send((number, hash(stop.who), asked))  # a process that reads a stranger's files is told no names
        try:
            stop.wait(future)
            found = future.result()
        except Cancelled as stopped:
            found = self._cancelled_result(number, future, stopped)
        except EOFError as error:
            self._end_now()
            raise UserError(
                gettext_lazy(
                    "{name} ended the process that read it: its files take more memory than they may, or break the"
                    " libraries that read them. Pick another model.",
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
        """What comes of a question that was stopped: nothing, or its answer where that was under way already.

        A process that goes on all the same is ended, unless others wait for it and this one's visitor has just gone.
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
                    "{name} did not answer within {seconds:.0f} seconds, and its process was ended. Pick a shorter"
                    " text or a smaller model.",
                    name=self.name,
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
            return  # it is gone; who waits is told so by the end of its answers


def _terminate(child: subprocess.Popen[bytes]) -> None:
    """Ends a process that nobody asks any more."""
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        with suppress(OSError):  # what was still to be written has nobody to read it
            if stream is not None:
                stream.close()


def _settings_to_json(settings: Settings) -> dict[str, Any]:
    """Settings as they can be told; serving.worker.settings_from is the inverse."""
    found = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    paths = {name: str(found[name]) for name in ("cache", "taught") if found[name] is not None}
    return {**found, **paths, "model_folders": tuple(str(folder) for folder in settings.model_folders)}


def is_foreign(model: str) -> bool:
    """Whether a model is of the hub: what comes with the app, what it taught and what its operator put into a folder
    is not.

    >>> is_foreign("somebody/something"), is_foreign(EMBEDDED), is_foreign("/models/mine")
    (True, False, False)
    """
    ours = model in (EMBEDDED, *embedded.OWN) or extras.find_extra(model) is not None
    return not (ours or sources.is_taught(model) or sources.is_path(model))


class SubprocessBackend(LocalBackend):
    """A LocalBackend whose foreign models have a process each, within the same memory for models.

    What a process cannot bear, it alone does not: a tokenizer that takes all memory, a library that aborts, weights
    that are cut while they are read. Who asked reads a sentence; the next question starts a new process.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.processes: ByteLru[ModelProcess] = ByteLru(self.settings.model_memory_bytes)
        self._identities: dict[tuple[str, str | None], ModelId] = {}

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Traces of requests for one model and revision, in their order; raises Refusal."""
        first = requests[0]
        if not is_foreign(first.model):
            return super().computed(requests)
        traces: list[Trace] = self._process(first.model, first.revision).ask(list(requests))
        self._identities[first.model, first.revision] = traces[0].model
        return traces

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """The answer, made now and not kept; raises Refusal."""
        if not is_foreign(question.model):
            return super().made(question)
        answer: Answer = self._process(question.model, question.revision).ask(question)
        return answer

    def status(self, model: str, revision: str | None = None) -> str:
        """One of "loaded", "loading", "downloading", "here" and "absent"."""
        if is_foreign(model) and (model, revision) in self.processes:
            return "loaded"
        return super().status(model, revision)

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Which model that name stands for here, with its commit where it was asked."""
        return self._identities.get((model, revision)) or super().identity(model, revision)

    def _process(self, model: str, revision: str | None) -> ModelProcess:
        """The process of a foreign model, start_process where there is none; raises Refusal where its files are not
        here."""
        from inference.files import checkpoint, sources

        def start_process() -> ModelProcess:
            source = sources.find(model, revision, self.settings)
            files = checkpoint.inspect(source.folder, source.name)
            checkpoint.refuse_too_large(source.name, files.memory_bytes, self.settings.largest_model)
            for kept in (self.processes, self.kept_models):  # the memory for models is one
                kept.make_room(files.memory_bytes)
            alone = replace(self.settings, model_memory_bytes=self.settings.largest_model)
            return ModelProcess(source.name, files.memory_bytes, alone)

        found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        if found.has_ended:
            self.processes.drop((model, revision), found)
            found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        return found
