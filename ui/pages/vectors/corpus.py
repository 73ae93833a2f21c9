"""Many sentences to vectors: in parts, into a file on the disk, with a way to stop and to go on."""

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

PART = 64  # sentences of one question: a fraction of a second, so that other readers' texts come in between
LEFT_ALONE = 600.0  # seconds after which a run that nobody looks at pauses

Ask = Callable[[Pooled], TextVectors]


@dataclass(frozen=True)
class VectorNotes:
    """What did not go as for an ordinary sentence: counts, and the first one with its number from 1."""

    cut: int = 0
    refused: int = 0
    first: str = ""


class VectorRun:
    """The vectors of ``asked.texts``: "new", then "running", "stopped", "failed" or "done".

    They are written to a .npy file as they come, (sentence, channel) float32; what is done stays when it is stopped,
    and ``start`` goes on behind it. The file goes when nobody holds the run any more. ``ends`` says how each part ends
    before it is done; where whoever asked has gone, so does the run.
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
        """Those that are there, read from the disk as they are needed, (sentence, channel)."""
        if self._out is None:
            return np.zeros((0, 0), dtype=np.float32)
        made: FloatArray = self._out[: self.done]
        return made

    @property
    def seconds_left(self) -> float | None:
        """At the pace since it was last started; None before the first part is done."""
        since, before = self._begun
        made = self.done - before
        return (len(self.asked.texts) - self.done) * (time.monotonic() - since) / made if made else None

    def start(self) -> VectorRun:
        """Begin, or go on; nothing when it runs already or is done."""
        with self._changing:
            if self.state not in ("running", "done"):
                self._stopping.clear()
                self.state, self.error = "running", None
                self.seen, self._begun = time.monotonic(), (time.monotonic(), self.done)
                self._thread = threading.Thread(target=self._run, name="corpus", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """End after the part that is being made."""
        self._stopping.set()

    def mark_viewed(self) -> None:
        """Somebody looks at it: it does not pause for now."""
        self.seen = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Return when it has ended, or after that time."""
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
            self.error = UserError(
                gettext_lazy("The vectors could not be written: the disk is full or cannot be used.")
            )
        finally:
            with self._changing:
                done = self.done == len(self.asked.texts)
                self.state = "failed" if self.error is not None else "done" if done else "stopped"

    def _part(self) -> None:
        """The next sentences."""
        at = self.done
        texts = self.asked.texts[at : at + PART]
        with use_token(self._ends()):
            made = self.ask(replace(self.asked, texts=texts))
        self.notes = _add_notes(self.notes, made, at)
        if made.vectors.shape[1]:  # nothing of a part could be read: its rows stay zeros
            if self._out is None:
                self._out = self._file(made.vectors.shape[1])
            self._out[at : at + len(texts)] = made.vectors
        elif at + len(texts) == len(self.asked.texts) and self._out is None:
            raise UserError(gettext_lazy("None of the sentences can be read. {first}", first=self.notes.first))
        self.done = at + len(texts)

    def _file(self, channels: int) -> Any:
        """The file at its full size, zeros; raises Refusal when the disk has no room for it."""
        needed = 4 * len(self.asked.texts) * channels
        free = shutil.disk_usage(self.folder).free
        if needed > free // 2:
            raise UserError(
                gettext_lazy(
                    "The vectors take {needed:,.0f} MB; the disk has {free:,.0f} MB left, of which half may be"
                    " used. Bring fewer sentences.",
                    needed=needed / 1e6,
                    free=free / 1e6,
                )
            )
        shape = (len(self.asked.texts), channels)
        return np.lib.format.open_memmap(self.file, mode="w+", dtype=np.float32, shape=shape)


_RUNS: weakref.WeakValueDictionary[str, VectorRun] = weakref.WeakValueDictionary()


def find(token: str) -> VectorRun | None:
    """The run that an address names; None once nobody holds it any more."""
    return _RUNS.get(token)


def stored_run(state: Mapping[Any, Any], key: str) -> VectorRun | None:
    """The run that a session keeps under a name."""
    found = state.get(key)
    return found if isinstance(found, VectorRun) else None


def _add_notes(notes: VectorNotes, made: TextVectors, at: int) -> VectorNotes:
    reason = next(((number, said) for number, said in enumerate(made.refused, at + 1) if said), None)
    first = notes.first or (
        gettext_lazy("Sentence {number:,}: {reason}", number=reason[0], reason=reason[1]) if reason else ""
    )
    return VectorNotes(notes.cut + sum(made.cut), notes.refused + sum(map(bool, made.refused)), first)
