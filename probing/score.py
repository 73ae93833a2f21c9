"""Scoring of heads on a corpus in batches, which can be stopped and resumed, and the counts of hits."""

from __future__ import annotations

import hashlib
import json
import logging
from base64 import b64decode, b64encode
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, groupby
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray
from i18n import gettext_lazy
from inference.request import EMBEDDED
from inference.tasks.heads import LinksAnswer, LinksQuestion, RandomLinksQuestion
from inference.tasks.model_request import InspectRequest
from probing.corpus import ALL, HALVES, UNCOUNTED, AnnotatedCorpus
from probing.statistics import RULES, cue

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RelationCounts:
    """The links of a relation, with the baseline rules and the heads that find each link."""

    places: Integers  # (link, 2): index of the text in the file, index of the link in the text
    needed: Integers  # (link,): the cue of each link, see probing.statistics.cue
    bits: npt.NDArray[np.uint8]  # (link, byte): packed bits, True if a (direction, layer, head) finds the link
    shape: tuple[int, ...]  # numbers of directions, layers and heads

    @classmethod
    def from_hits(cls, places: Sequence[tuple[int, int]], needed: Sequence[int], hits: BoolArray) -> RelationCounts:
        """Build the counts of a relation from its links and from the heads that find each link.

        ``places`` has (index of the text, index of the link in the text) for each link. ``needed`` has the cue of each
        link, a number that encodes the baseline rules that find it (statistics.cue). ``hits`` is True if a head finds a
        link, shape (link, direction, layer, head).
        """
        bits = np.packbits(hits.reshape(len(hits), -1), axis=1)
        return cls(np.array(places, np.int64).reshape(-1, 2), np.array(needed, np.int64), bits, hits.shape[1:])

    def __add__(self, other: RelationCounts) -> RelationCounts:
        return RelationCounts(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.needed, other.needed]),
            np.concatenate([self.bits, other.bits]),
            self.shape,
        )

    @property
    def n(self) -> int:
        """Return the number of links."""
        return len(self.places)

    @property
    def sentences(self) -> Integers:
        """Return the index of each link's text, shape (link,)."""
        return self.places[:, 0]

    @property
    def hits(self) -> BoolArray:
        """Return True if a head finds a link in a direction, shape (link, direction, layer, head)."""
        flat = np.unpackbits(self.bits, axis=1, count=int(np.prod(self.shape)))
        return flat.astype(np.bool_).reshape(self.n, *self.shape)

    @cached_property
    def hits_by_head(self) -> Integers:
        """Return the number of links that each head finds, shape (direction, layer, head)."""
        total: Integers = self.hits.sum(axis=0, dtype=np.int64)
        return total

    @cached_property
    def cues(self) -> Counter[int]:
        """Return the number of links with each cue; a cue encodes the rules that find a link (statistics.cue)."""
        return Counter(self.needed.tolist())


@lru_cache(maxsize=128)
def join_counts(*parts: RelationCounts) -> RelationCounts:
    """Concatenate the counts of a relation, such as those of the two halves of a corpus.

    Results are cached: equal arguments give the same object, whose properties are computed once.
    """
    return sum(parts[1:], parts[0])


@dataclass(eq=False)
class HitCounts:
    """The links that each head finds, counted for each relation and for both halves of the corpus.

    ``AnnotatedCorpus.halves`` states the half of each text.
    """

    counts: dict[tuple[int, str], RelationCounts] = field(default_factory=dict)
    unread: int = 0  # links with words that the model could not read, which are not in ``counts``

    def add(self, corpus: AnnotatedCorpus, numbers: Sequence[int], found: BoolArray, read: BoolArray) -> None:
        """Add the links that each head finds in some texts of a corpus; ``numbers`` are the indices of the texts.

        ``found`` (link, direction, layer, head) is True if a head finds a link, and ``read`` (link,) if the model could
        read the link's text. If the corpus pools its relations, all links are also counted under the name ALL.
        """
        items = [(number, corpus.items[number]) for number in numbers]
        links = [(number, place, item) for number, item in items for place in range(len(item.links))]
        groups: dict[tuple[int, str], list[int]] = {}
        for at, (number, place, item) in enumerate(links):
            relation = item.links[place].relation
            if read[at]:
                groups.setdefault((corpus.halves[number], relation), []).append(at)
                if corpus.together and relation not in UNCOUNTED:
                    groups.setdefault((corpus.halves[number], ALL), []).append(at)
        self.unread += int((~read).sum())
        needed = [cue(item, item.links[place]) for _, place, item in links]
        for key, members in groups.items():
            new = RelationCounts.from_hits(
                [links[at][:2] for at in members], [needed[at] for at in members], found[members]
            )
            self.counts[key] = self.counts[key] + new if key in self.counts else new

    def relations(self) -> list[str]:
        """Return the names of the relations: ALL first, then by decreasing number of links."""
        sizes: Counter[str] = Counter()
        for (_, relation), counts in self.counts.items():
            sizes[relation] += counts.n
        return sorted(sizes, key=lambda relation: (relation != ALL, -sizes[relation], relation))

    def counts_of(self, relation: str, half: int | None = None) -> RelationCounts | None:
        """Return the counts of a relation in ``half``, or in both halves together; None if it does not occur there."""
        halves = range(HALVES) if half is None else (half,)
        found = [self.counts[h, relation] for h in halves if (h, relation) in self.counts]
        return join_counts(*found) if found else None

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON-compatible values."""
        rows = [
            [half, relation, c.places.tolist(), c.needed.tolist(), b64encode(c.bits.tobytes()).decode(), list(c.shape)]
            for (half, relation), c in self.counts.items()
        ]
        return {"unread": self.unread, "counts": rows}

    @classmethod
    def from_json(cls, stated: dict[str, Any]) -> HitCounts:
        """Return the counts from the values of ``to_json``.

        Raise ValueError, TypeError or LookupError for other values.
        """
        rows: Iterable[Any] = stated["counts"]
        return cls({(int(row[0]), str(row[1])): _counts(*row[2:]) for row in rows}, int(stated["unread"]))


def _counts(places: Any, needed: Any, bits: Any, shape: Any) -> RelationCounts:
    """Return a relation's counts from plain values; raise ValueError or TypeError if they do not match."""
    where, cues = np.array(places, np.int64).reshape(-1, 2), np.array(needed, np.int64)
    size = tuple(int(length) for length in shape)
    packed = np.frombuffer(b64decode(bits, validate=True), np.uint8).reshape(len(where), -(-int(np.prod(size)) // 8))
    if cues.shape != (len(where),):
        raise ValueError(f"{len(where)} links came with {cues.shape} cues.")
    return RelationCounts(where, cues, packed, size)


BATCH = 64  # distinct texts per request; the backend divides them into forward passes


class ScoringBackend(Protocol):
    """A protocol for backends that can answer the requests of a scoring run."""

    def inspect(self, request: InspectRequest[LinksAnswer]) -> LinksAnswer:
        """Return, for each link of the requested texts, the heads that find it."""
        ...


@dataclass(frozen=True)
class ScoringRun:
    """A corpus and the model to score on it.

    If ``control`` is set, the model has random weights in the same architecture.
    """

    corpus: AnnotatedCorpus
    model: str = EMBEDDED
    revision: str | None = None
    control: bool = False

    @property
    def key(self) -> str:
        """Return the SHA-256 of corpus and model, which identifies a saved state of this run."""
        stated = [
            self.corpus.digest,
            self.model,
            self.revision,
            self.control,
            "halves by size of group",
            BATCH,
            sorted(RULES),
        ]
        return hashlib.sha256(json.dumps(stated).encode()).hexdigest()

    def batches(self) -> list[list[int]]:
        """Return the indices of the texts in batches of similar length, short texts first.

        All entries with the same text are in the same batch, so that the model reads that text once.
        """
        items = self.corpus.items
        order = sorted(range(len(items)), key=lambda at: (len(items[at].text), items[at].text))
        texts = [list(group) for _, group in groupby(order, lambda at: items[at].text)]
        return [list(chain(*texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]

    def question(self, batch: list[int]) -> LinksQuestion:
        """Return the model request that asks which heads find the links in the texts of a batch."""
        kind = RandomLinksQuestion if self.control else LinksQuestion
        return kind(self.model, self.revision, tuple(self.corpus.items[at] for at in batch))


@dataclass(eq=False)
class ScoringState:
    """The progress of a run, and the counts of the links found so far.

    Several threads may advance the same state, so that a page that is redrawn need not wait for the thread of its
    previous drawing.
    """

    key: str
    done: int = 0  # finished batches
    items: int = 0  # processed texts
    skipped: int = 0  # texts of ``items`` that the model could not read
    reason: str = ""  # reason of the last skipped text
    tally: HitCounts = field(default_factory=HitCounts)
    unknown: int = 0  # skipped texts with too many unknown tokens
    lock: Lock = field(default_factory=Lock, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON-compatible values."""
        plain = {name: getattr(self, name) for name in ("key", "done", "items", "skipped", "reason", "unknown")}
        return {**plain, "tally": self.tally.to_json()}

    @classmethod
    def from_json(cls, stated: dict[str, Any]) -> ScoringState:
        """Return the state from the values of ``to_json``.

        Raise ValueError, TypeError or LookupError for other values.
        """
        done, items, skipped, unknown = (int(stated[name]) for name in ("done", "items", "skipped", "unknown"))
        tally = HitCounts.from_json(stated["tally"])
        return cls(str(stated["key"]), done, items, skipped, str(stated["reason"]), tally, unknown)

    @property
    def unreadable(self) -> str:
        """Return a message if more than half of the texts have too many unknown words, else ""."""
        if 2 * self.unknown <= self.items:
            return ""
        return gettext_lazy(
            "{unknown:,} of {texts:,} texts have too many unknown words for a score. {why}",
            unknown=self.unknown,
            texts=self.items,
            why=self.reason,
        )


def score(
    backend: ScoringBackend, run: ScoringRun, state: ScoringState | None = None, workers: int = 1
) -> Iterator[ScoringState]:
    """Score the remaining batches of a run, and yield its state (always the same object) after each.

    ``workers`` requests run concurrently: two forward passes of one thread each are faster than a single pass of two
    threads. A state of another run is ignored. The work stops if the caller stops iterating. Raise the backend's
    UserError.
    """
    state = state if state is not None and state.key == run.key else ScoringState(run.key)
    asked: deque[tuple[int, list[int], Future[LinksAnswer]]] = deque()
    with ThreadPoolExecutor(workers, "probing") as pool:
        try:
            for number, batch in list(enumerate(run.batches()))[state.done :]:
                # The context of the caller contains the cancellation token of its visitor.
                question = pool.submit(copy_context().run, backend.inspect, run.question(batch))
                asked.append((number, batch, question))
                if len(asked) > workers:
                    yield _add_batch(state, run, *asked.popleft())
            while asked:
                yield _add_batch(state, run, *asked.popleft())
        finally:
            for *_, question in asked:
                question.cancel()


def _add_batch(
    state: ScoringState, run: ScoringRun, number: int, batch: list[int], question: Future[LinksAnswer]
) -> ScoringState:
    """Add a batch to the state, unless another thread has already added it, and return the state."""
    answer = question.result()
    with state.lock:
        if state.done == number:
            state.tally.add(run.corpus, batch, answer.found, answer.read)
            state.done += 1
            state.items += len(batch)
            state.skipped += answer.skipped
            state.unknown += answer.unknown
            state.reason = answer.reason or state.reason
    return state


log = logging.getLogger(__name__)


@dataclass(eq=False)
class StateFile:
    """A file with the states of scoring runs by the key of the run; if ``file`` is None, nothing is saved."""

    file: Path | None
    states: dict[str, ScoringState] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path | None) -> StateFile:
        """Load the saved states in a file; there are none if the file is missing or has other contents."""
        try:
            stated = json.loads(file.read_text(encoding="utf-8")) if file else []
            states = [ScoringState.from_json(entry) for entry in stated]
        except FileNotFoundError:
            states = []
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.warning("%s holds no states; starting anew.", file, exc_info=error)
            states = []
        return cls(file, {state.key: state for state in states})

    def save(self, state: ScoringState) -> None:
        """Save a state; the file is replaced atomically, so that an interruption leaves the previous version."""
        self.states[state.key] = state
        if self.file:
            fresh = self.file.with_name(f"{self.file.name}.new")
            fresh.write_text(json.dumps([entry.to_json() for entry in self.states.values()]), encoding="utf-8")
            fresh.replace(self.file)

    def drop(self) -> None:
        """Delete the file of saved states."""
        if self.file:
            self.file.unlink(missing_ok=True)
