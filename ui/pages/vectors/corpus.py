"""Vectors of many sentences, computed in parts into a file, with pause and resume."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference import UserError
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.tasks.hidden_states import Pooled, TextVectors

PART = 64  # sentences in a request, which takes a fraction of a second; other visitors' requests run in between
LEFT_ALONE = 600.0  # seconds after which an unattended run pauses

Ask = Callable[[Pooled], TextVectors]


@dataclass(frozen=True)
class VectorNotes:
    """Counts of truncated and refused sentences, and a message about the first refused sentence."""

    cut: int = 0
    refused: int = 0
    first: str = ""


class VectorRun:
    """The computation of the vectors of ``asked.texts``.

    Its state is "new", then "running", "stopped", "failed" or "done". The vectors are written to a .npy file part
    by part, (sentence, channel) float32. A stopped run keeps its vectors, and ``start`` resumes it. The file is
    deleted with the run. ``ends`` returns a new token for each part, which cancels the part on a timeout or when
    the visitor has left; the run then ends.
    """

    def __init__(self, asked: Pooled, ask: Ask, ends: Callable[[], CancelToken] = CancelToken) -> None:
        self.asked = asked
        self.token = secrets.token_urlsafe(16)
        self.folder = Path(tempfile.mkdtemp(prefix="headlight-vectors-"))
        self.file = self.folder / "vectors.npy"
        self.state = "new"
        self.done = 0
        self.notes = VectorNotes()
        self.error: UserError | None = None
        self.seen = time.monotonic()
        self.ask, self._ends = ask, ends
        self._stopping = threading.Event()
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._out: Any = None
        self._begun = (time.monotonic(), 0)
        weakref.finalize(self, shutil.rmtree, self.folder, True)
        _RUNS[self.token] = self

    @property
    def vectors(self) -> FloatArray:
        """Return the vectors computed so far, memory-mapped, shape (sentence, channel)."""
        if self._out is None:
            return np.zeros((0, 0), dtype=np.float32)
        made: FloatArray = self._out[: self.done]
        return made

    @property
    def seconds_left(self) -> float | None:
        """Return the estimated seconds left, from the speed since the last start; None before the first part."""
        since, before = self._begun
        made = self.done - before
        return (len(self.asked.texts) - self.done) * (time.monotonic() - since) / made if made else None

    def start(self) -> VectorRun:
        """Start or resume the run, and return it; do nothing if it is running or done."""
        with self._changing:
            if self.state not in ("running", "done"):
                self._stopping.clear()
                self.state, self.error = "running", None
                self.seen, self._begun = time.monotonic(), (time.monotonic(), self.done)
                self._thread = threading.Thread(target=self._run, name="corpus", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Stop after the current part."""
        self._stopping.set()

    def mark_viewed(self) -> None:
        """Note that the progress was shown now; a run that nobody watches is paused after a while."""
        self.seen = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Block until the run has ended, or for ``seconds``."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while self.done < len(self.asked.texts) and not self._stopping.is_set():
                self._part()
                if time.monotonic() - self.seen > LEFT_ALONE:
                    self.stop()
        except UserError as refusal:
            if not isinstance(refusal, Cancelled) or refusal.timed_out:
                self.error = refusal
        except OSError:
            self.error = UserError(gettext_lazy("Cannot write the vectors: the disk is full or not writable."))
        finally:
            with self._changing:
                done = self.done == len(self.asked.texts)
                self.state = "failed" if self.error is not None else "done" if done else "stopped"

    def _part(self) -> None:
        """Compute the vectors of the next PART sentences."""
        at = self.done
        texts = self.asked.texts[at : at + PART]
        with use_token(self._ends()):
            made = self.ask(replace(self.asked, texts=texts))
        self.notes = _add_notes(self.notes, made, at)
        if made.vectors.shape[1]:  # 0 if all sentences of the part were refused; the rows then stay zeros
            if self._out is None:
                self._out = self._file(made.vectors.shape[1])
            self._out[at : at + len(texts)] = made.vectors
        elif at + len(texts) == len(self.asked.texts) and self._out is None:
            raise UserError(gettext_lazy("No sentence can be read. {first}", first=self.notes.first))
        self.done = at + len(texts)

    def _file(self, channels: int) -> Any:
        """Create the file at its full size, filled with zeros.

        Raise UserError if it needs more than half of the free disk space.
        """
        needed = 4 * len(self.asked.texts) * channels
        free = shutil.disk_usage(self.folder).free
        if needed > free // 2:
            raise UserError(
                gettext_lazy(
                    "The vectors need {needed:,.0f} MB, at most half of the free {free:,.0f} MB may be used. "
                    "Use fewer sentences.",
                    needed=needed / 1e6,
                    free=free / 1e6,
                )
            )
        shape = (len(self.asked.texts), channels)
        return np.lib.format.open_memmap(self.file, mode="w+", dtype=np.float32, shape=shape)


_RUNS: weakref.WeakValueDictionary[str, VectorRun] = weakref.WeakValueDictionary()


def find(token: str) -> VectorRun | None:
    """Return the run with a token; None if it no longer exists."""
    return _RUNS.get(token)


def stored_run(state: Mapping[Any, Any], key: str) -> VectorRun | None:
    """Return the run that a session stores under ``key``, or None."""
    found = state.get(key)
    return found if isinstance(found, VectorRun) else None


def _add_notes(notes: VectorNotes, made: TextVectors, at: int) -> VectorNotes:
    reason = next(((number, said) for number, said in enumerate(made.refused, at + 1) if said), None)
    first = notes.first or (
        gettext_lazy("Sentence {number:,}: {reason}", number=reason[0], reason=reason[1]) if reason else ""
    )
    return VectorNotes(notes.cut + sum(made.cut), notes.refused + sum(map(bool, made.refused)), first)
