"""The one backend of this process, and the traces that sessions look at: live ones and opened files."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from weakref import WeakValueDictionary

from attention.alignment import CrossRowConvention, read
from attention.measures import HeadSummary, summarize_heads
from attention.storage import parse
from attention.trace import Trace
from attention.view import View
from inference import cancellation
from inference.backend import LocalBackend
from inference.byte_cache import ByteLru
from inference.scheduling import Scheduler
from inference.text.words import by_chinese_words
from serving import remote_backend
from serving.model_process import SubprocessBackend
from ui.run import visitors

SECRET = secrets.token_bytes(32)  # of this run of the server
THUMBNAIL = 48  # cells on a side of a small map
SURVEYS = 256 * 2**20  # bytes kept of thumbnails and measures
OPENED = 2**30  # bytes kept of opened files
CHINESE = "chinese-"  # before a trace's id: the same with its pieces grouped by Chinese words
WRITTEN = "written-"  # before a trace's id: the same with the rows of its cross-attention named by what they write


@dataclass(frozen=True)
class ViewOptions:
    """How a trace is looked at: part and the reader's switches."""

    part: str = ""
    words: bool = False
    special: bool = True
    renormalise: bool = False

    def query(self) -> str:
        """As an address writes it; ``from_query`` is its inverse.

        >>> ViewOptions(words=True).query()
        'part=&words=1&special=1&renormalise=0'
        """
        return f"part={self.part}&words={self.words:d}&special={self.special:d}&renormalise={self.renormalise:d}"

    @staticmethod
    def from_query(part: str, words: str, special: str, renormalise: str) -> ViewOptions:
        """The look that an address's fields name."""
        return ViewOptions(part, words == "1", special != "0", renormalise == "1")


def trace_seal(of: str | bytes) -> str:
    """What a trace's address must carry beside its id, or an opened file's id be made of: nobody else can tell it.

    An id alone is the hash of a text or a file, by which one who knows the text could ask whether somebody read it.
    And what browsers keep of a trace is not taken for a later server's, whose model may have changed.
    """
    return hmac.new(SECRET, of.encode() if isinstance(of, str) else of, hashlib.sha256).hexdigest()


@cache
def get_backend() -> LocalBackend:
    """The backend that all sessions of this process share: in it, or where HEADLIGHT_BACKEND says."""
    cancellation.set_visitor_source(visitors.page_visitor)
    return remote_backend.from_env() or SubprocessBackend()


class TraceStore:
    """Traces by id. A file's id is a hash of its content, so that no file can pass for another text's trace."""

    def __init__(self) -> None:
        self.opened: ByteLru[Trace] = ByteLru(OPENED)
        self.held: WeakValueDictionary[str, Trace] = WeakValueDictionary()  # of pictures: while a session holds them
        self.surveys: ByteLru[HeadSummary] = ByteLru(SURVEYS)
        # Surveys are processor work; more at once only slow each other. Who has a trace is never refused its survey.
        self.gate = Scheduler(2, longest=inf)

    def open(self, data: bytes) -> Trace:
        """The trace in a saved file. Raises ValueError in one sentence."""
        trace = replace(parse(data), id=f"file-{trace_seal(data)}")
        if trace.picture is not None:
            return self.add_picture_trace(trace)
        self.opened.put(trace.id, trace, trace.nbytes)
        return trace

    def add_picture_trace(self, trace: Trace) -> Trace:
        """Finds a trace of a picture from now on, for as long as whoever asks holds it: no picture stays here."""
        self.held[trace.id] = trace
        return trace

    def find(self, trace_id: str) -> Trace | None:
        """A trace made or opened lately, or None; by the id of ``by_writing`` as that names it."""
        for mark, shown in ((WRITTEN, self.by_writing), (CHINESE, self.by_chinese_words)):
            if trace_id.startswith(mark):
                found = self.find(trace_id.removeprefix(mark))
                return None if found is None else shown(found)
        if (held := self.held.get(trace_id)) is not None:
            return held
        return self.opened.get(trace_id) if trace_id.startswith("file-") else get_backend().recent(trace_id)

    def original(self, trace: Trace) -> Trace:
        """The trace as it was read, whatever it is shown as."""
        return self.find(trace.id.removeprefix(WRITTEN).removeprefix(CHINESE)) or trace

    def by_writing(self, trace: Trace) -> Trace:
        """The trace with its cross-attention's rows named by what each step writes; its part "cross" only is meant."""
        return replace(read(trace, CrossRowConvention.WRITING), id=f"{WRITTEN}{trace.id}")

    def by_chinese_words(self, trace: Trace) -> Trace:
        """The trace with its pieces grouped by the words of a Chinese text."""
        return replace(by_chinese_words(trace), id=f"{CHINESE}{trace.id}")

    def view(self, trace: Trace, look: ViewOptions) -> View:
        """The trace as looked at."""
        return View(trace, look.part or None, look.words, look.special, look.renormalise)

    def survey(self, trace: Trace, look: ViewOptions) -> HeadSummary:
        """Thumbnails and measures of every head, computed once. Raises Stopped."""

        def make() -> HeadSummary:
            return self.gate.run(lambda: summarize_heads(self.view(trace, look), THUMBNAIL))

        with cancellation.limit_request(get_backend().settings.figure_seconds):
            return self.surveys.get_or_make((trace.id, look), make, lambda made: made.nbytes)


@cache
def get_trace_store() -> TraceStore:
    """The shelf of this process."""
    return TraceStore()
