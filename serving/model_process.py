"""A foreign model's process, as the app has it: questions go there, answers come back, and its end is a sentence."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from i18n import gettext_lazy
from inference import cancellation
from inference.cancellation import Cancelled, CancelToken
from inference.errors import UserError
from inference.settings import Settings
from serving import worker
from serving.type_registry import InvalidFrame

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
