"""Objects that all sessions share: the backend, traces and opened files, positional priors, and builds of atlases."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from weakref import WeakValueDictionary

from attention.alignment import CrossRowConvention, read
from attention.excess import PositionalPrior
from attention.measures import HeadSummary, summarize_heads
from attention.storage import parse
from attention.trace import Trace
from attention.view import View
from inference import UserError, cancellation
from inference.backend import LocalBackend
from inference.byte_cache import ByteLru
from inference.cancellation import Visitor
from inference.files import sources
from inference.scheduling import Scheduler
from inference.settings import Settings
from inference.text.words import by_chinese_words
from probing.reference_priors import load_priors
from serving import remote_backend
from serving.model_process import SubprocessBackend
from training.jobs.atlas_builds import AtlasBuilds
from ui import streamlit_internals

PRIORS = 2**23  # Cache size for positional priors in bytes; those of a model take some 10 kB.

_loaded: ByteLru[dict[str, PositionalPrior]] = ByteLru(PRIORS)
_shown: ByteLru[dict[str, PositionalPrior]] = ByteLru(PRIORS)  # Keys are trace ids.
_MAKING = threading.Lock()

SECRET = secrets.token_bytes(32)  # New at each start of the server.
THUMBNAIL = 48  # Maximum side length of a thumbnail in cells.
SURVEYS = 256 * 2**20  # Cache size for thumbnails and measures in bytes.
OPENED = 2**30  # Cache size for opened files in bytes.
CHINESE = "chinese-"  # Prefix of a trace's id: tokens grouped by Chinese words.
WRITTEN = "written-"  # Prefix of a trace's id: cross-attention rows labelled by the written tokens.


@dataclass(frozen=True)
class ViewOptions:
    """The view options of a trace: the stack to show, and the visitor's three switches.

    ``part`` is the stack (encoder, decoder, cross-attention), "" for the trace's first. ``words`` merges tokens into
    words, and ``special`` shows special tokens. If these are hidden, ``renormalise`` scales each row to sum to one.
    """

    part: str = ""
    words: bool = False
    special: bool = True
    renormalise: bool = False

    def query(self) -> str:
        """Return the options as a query string; ``from_query`` is the inverse.

        >>> ViewOptions(words=True).query()
        'part=&words=1&special=1&renormalise=0'
        """
        return f"part={self.part}&words={self.words:d}&special={self.special:d}&renormalise={self.renormalise:d}"

    @staticmethod
    def from_query(part: str, words: str, special: str, renormalise: str) -> ViewOptions:
        """Return the view options from the fields of a query string."""
        return ViewOptions(part, words == "1", special != "0", renormalise == "1")


def trace_seal(of: str | bytes) -> str:
    """Return the seal of a trace: a keyed hash, without which the server refuses requests for the trace.

    The id of a trace is the hash of its text. Without the seal, a client that guesses a text could find out if another
    visitor has traced it. The key changes with each start of the server, so that browsers do not reuse responses of an
    earlier model. The seal also serves as the id of an opened file.
    """
    return hmac.new(SECRET, of.encode() if isinstance(of, str) else of, hashlib.sha256).hexdigest()


@cache
def get_backend() -> LocalBackend:
    """Return the backend that all sessions share.

    It sends requests to the server at HEADLIGHT_BACKEND if that variable is set; otherwise it is a local backend.
    """
    cancellation.set_visitor_source(page_visitor)
    return remote_backend.from_env() or SubprocessBackend()


class TraceStore:
    """A store of the traces of all sessions, by id.

    The id of an opened file is a keyed hash of its content, so that no file can replace the trace of a text.
    """

    def __init__(self) -> None:
        self.opened: ByteLru[Trace] = ByteLru(OPENED)
        self.held: WeakValueDictionary[str, Trace] = (
            WeakValueDictionary()
        )  # Traces of pictures, while a session references them.
        self.surveys: ByteLru[HeadSummary] = ByteLru(SURVEYS)
        # Surveys are CPU-bound, so more of them in parallel would be slower. The queue has no maximum length.
        self.gate = Scheduler(2, longest=inf)

    def open(self, data: bytes) -> Trace:
        """Parse and store the trace in a file; raise ValueError if the file is invalid."""
        trace = replace(parse(data), id=f"file-{trace_seal(data)}")
        if trace.picture is not None:
            return self.add_picture_trace(trace)
        self.opened.put(trace.id, trace, trace.nbytes)
        return trace

    def add_picture_trace(self, trace: Trace) -> Trace:
        """Store a picture's trace by a weak reference: it is available as long as the caller keeps it."""
        self.held[trace.id] = trace
        return trace

    def find(self, trace_id: str) -> Trace | None:
        """Return the trace with this id if it is stored, else None.

        If the id has the prefix of a derived trace, derive it (``by_writing``, ``by_chinese_words``).
        """
        for mark, shown in ((WRITTEN, self.by_writing), (CHINESE, self.by_chinese_words)):
            if trace_id.startswith(mark):
                found = self.find(trace_id.removeprefix(mark))
                return None if found is None else shown(found)
        if (held := self.held.get(trace_id)) is not None:
            return held
        return self.opened.get(trace_id) if trace_id.startswith("file-") else get_backend().recent(trace_id)

    def original(self, trace: Trace) -> Trace:
        """Return the trace from which a derived trace was made; return any other trace itself.

        Derived traces are those of ``by_chinese_words`` and ``by_writing``.
        """
        return self.find(trace.id.removeprefix(WRITTEN).removeprefix(CHINESE)) or trace

    def by_writing(self, trace: Trace) -> Trace:
        """Return the trace with each cross-attention row labelled by the token that its step generates.

        Use only the stack "cross" of this trace, because the rows of the decoder would have wrong labels.
        """
        return replace(read(trace, CrossRowConvention.WRITING), id=f"{WRITTEN}{trace.id}")

    def by_chinese_words(self, trace: Trace) -> Trace:
        """Return the trace with its tokens grouped by the words of a Chinese text."""
        return replace(by_chinese_words(trace), id=f"{CHINESE}{trace.id}")

    def view(self, trace: Trace, look: ViewOptions) -> View:
        """Return the view of a trace under the options."""
        return View(trace, look.part or None, look.words, look.special, look.renormalise)

    def survey(self, trace: Trace, look: ViewOptions) -> HeadSummary:
        """Return the thumbnails and measures of all heads of a trace, from a cache; may raise Cancelled."""

        def make() -> HeadSummary:
            return self.gate.run(lambda: summarize_heads(self.view(trace, look), THUMBNAIL))

        with cancellation.limit_request(get_backend().settings.figure_seconds):
            return self.surveys.get_or_make((trace.id, look), make, lambda made: made.nbytes)


def atlas_builds() -> AtlasBuilds:
    """Return the builds of atlases (descriptions of a model's heads over many texts) of all visitors."""
    with _MAKING:  # two objects would not share their process
        return _atlas_builds(get_backend().settings)


@cache
def _atlas_builds(settings: Settings) -> AtlasBuilds:
    return AtlasBuilds(sources.fine_tuned_root(settings))


@cache
def get_trace_store() -> TraceStore:
    """Return the trace store of this process."""
    return TraceStore()


def page_visitor() -> Visitor | None:
    """Return the visitor for whom this thread draws a page, or None outside a script run."""
    session = streamlit_internals.session_id()
    return None if session is None else Visitor(session, lambda: streamlit_internals.has_left(session))


def prior_of(model: str, revision: str, trace: Trace, part: str | None) -> PositionalPrior | None:
    """Return the positional prior of the heads in the stack ``part``, or None if there is none.

    The prior is the mean weight that a head of ``model`` gives each position in the sentences on which it was measured.
    It is missing for an opened file, for a trace of another model, and if the model cannot read these sentences.
    """
    try:
        name = sources.fine_tuned_title(model, get_backend().settings) if sources.is_taught(model) else model
    except UserError:
        return None
    if trace.id.startswith("file-") or _name(name) != _name(trace.model.name):
        return None
    kind, key = trace.model.kind, (model, revision, trace.model.revision)
    try:
        parts = _loaded.get_or_make(key, lambda: load_priors(get_backend(), model, revision or None, kind), _size)
    except UserError:
        return None
    _shown.put(trace.id, parts, _size(parts))
    return parts.get(part or trace.part)


def prior_map(trace: Trace, part: str | None) -> PositionalPrior | None:
    """Return the positional prior that a page last used with a trace, or None.

    Exports use this function, because their addresses do not name the model.
    """
    return (_shown.get(trace.id) or {}).get(part or trace.part)


def _name(model: str) -> str:
    """Return a model's name without its owner or folder."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def _size(parts: dict[str, PositionalPrior]) -> int:
    return sum(habits.means.nbytes for habits in parts.values())
