"""Scoring a corpus in batches that can be stopped and resumed, and what was found."""

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

from attention.annotations import AnnotatedText
from attention.mask import BoolArray
from i18n import gettext_lazy
from inference.request import EMBEDDED
from inference.tasks.link_hits import LinksAnswer, LinksQuestion, RandomLinksQuestion
from inference.tasks.model_request import InspectRequest
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.statistics import RULES, cue

HALVES = 2
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RelationCounts:
    """One relation's links: where each stands, what a rule would need to know of it, and which heads find it."""

    places: Integers  # (link, 2): the item's number in the file, and which of the item's links it is
    needed: Integers  # (link,): what a rule would need to know, see probing.statistics
    bits: npt.NDArray[np.uint8]  # (link, byte): whether each direction, layer and head finds it, eight to a byte
    shape: tuple[int, ...]  # directions, layers, heads

    @classmethod
    def from_hits(cls, places: Sequence[tuple[int, int]], needed: Sequence[int], hits: BoolArray) -> RelationCounts:
        """From what was found, (link, direction, layer, head)."""
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
        """How many links."""
        return len(self.places)

    @property
    def sentences(self) -> Integers:
        """The number of the item that each link stands in, (link,)."""
        return self.places[:, 0]

    @property
    def hits(self) -> BoolArray:
        """Which heads find which link, (link, direction, layer, head)."""
        flat = np.unpackbits(self.bits, axis=1, count=int(np.prod(self.shape)))
        return flat.astype(np.bool_).reshape(self.n, *self.shape)

    @cached_property
    def hits_by_head(self) -> Integers:
        """How many links each head finds, (direction, layer, head)."""
        total: Integers = self.hits.sum(axis=0, dtype=np.int64)
        return total

    @cached_property
    def cues(self) -> Counter[int]:
        """How often a rule would need to know what."""
        return Counter(self.needed.tolist())


@lru_cache(maxsize=128)
def join_counts(*parts: RelationCounts) -> RelationCounts:
    """Several halves as one; the same value for the same parts, so that what was computed of it is kept."""
    return sum(parts[1:], parts[0])


@dataclass(eq=False)
class HitCounts:
    """Links by half and relation. Every other item of the file belongs to half 0, the others to half 1."""

    counts: dict[tuple[int, str], RelationCounts] = field(default_factory=dict)
    unread: int = 0  # links in words that the model could not read; they count nowhere else

    def add(
        self, items: Sequence[tuple[int, AnnotatedText]], found: BoolArray, read: BoolArray, together: bool
    ) -> None:
        """Counts some items, each with its number in the file; ``hits_by_head`` is (link, direction, layer, head)."""
        links = [(number, place, item) for number, item in items for place in range(len(item.links))]
        groups: dict[tuple[int, str], list[int]] = {}
        for at, (number, place, item) in enumerate(links):
            relation = item.links[place].relation
            if read[at]:
                groups.setdefault((number % HALVES, relation), []).append(at)
                if together and relation not in UNCOUNTED:
                    groups.setdefault((number % HALVES, ALL), []).append(at)
        self.unread += int((~read).sum())
        needed = [cue(item, item.links[place]) for _, place, item in links]
        for key, members in groups.items():
            new = RelationCounts.from_hits(
                [links[at][:2] for at in members], [needed[at] for at in members], found[members]
            )
            self.counts[key] = self.counts[key] + new if key in self.counts else new

    def relations(self) -> list[str]:
        """Relations, ALL first, then the frequent before the rare."""
        sizes: Counter[str] = Counter()
        for (_, relation), counts in self.counts.items():
            sizes[relation] += counts.n
        return sorted(sizes, key=lambda relation: (relation != ALL, -sizes[relation], relation))

    def counts_of(self, relation: str, half: int | None = None) -> RelationCounts | None:
        """Counts of a relation, in one half or both; None where it does not occur."""
        halves = range(HALVES) if half is None else (half,)
        found = [self.counts[h, relation] for h in halves if (h, relation) in self.counts]
        return join_counts(*found) if found else None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        rows = [
            [half, relation, c.places.tolist(), c.needed.tolist(), b64encode(c.bits.tobytes()).decode(), list(c.shape)]
            for (half, relation), c in self.counts.items()
        ]
        return {"unread": self.unread, "counts": rows}

    @classmethod
    def from_json(cls, stated: dict[str, Any]) -> HitCounts:
        """From what ``to_json`` gave; raises ValueError, TypeError or LookupError for anything else."""
        rows: Iterable[Any] = stated["counts"]
        return cls({(int(row[0]), str(row[1])): _counts(*row[2:]) for row in rows}, int(stated["unread"]))


def _counts(places: Any, needed: Any, bits: Any, shape: Any) -> RelationCounts:
    """One relation's links from plain values; raises ValueError or TypeError where they do not fit together."""
    where, cues = np.array(places, np.int64).reshape(-1, 2), np.array(needed, np.int64)
    size = tuple(int(length) for length in shape)
    packed = np.frombuffer(b64decode(bits, validate=True), np.uint8).reshape(len(where), -(-int(np.prod(size)) // 8))
    if cues.shape != (len(where),):
        raise ValueError(f"{len(where)} links came with {cues.shape} cues.")
    return RelationCounts(where, cues, packed, size)


BATCH = 64  # different texts asked for at once; the backend makes forward passes of them


class ScoringBackend(Protocol):
    """Of a backend, what scoring needs."""

    def inspect(self, request: InspectRequest[LinksAnswer]) -> LinksAnswer:
        """What the heads find of some items."""
        ...


@dataclass(frozen=True)
class ScoringRun:
    """What is scored. ``control``: the same architecture with random weights."""

    corpus: AnnotatedCorpus
    model: str = EMBEDDED
    revision: str | None = None
    control: bool = False

    @property
    def key(self) -> str:
        """SHA-256 of the corpus and the model: a state belongs to the run with its key."""
        stated = [self.corpus.digest, self.model, self.revision, self.control, "known texts", BATCH, sorted(RULES)]
        return hashlib.sha256(json.dumps(stated).encode()).hexdigest()

    def batches(self) -> list[list[int]]:
        """Return numbers of items, texts of similar length together and short ones first.

        All items with the same text are in the same batch, which reads that text once.
        """
        items = self.corpus.items
        order = sorted(range(len(items)), key=lambda at: (len(items[at].text), items[at].text))
        texts = [list(group) for _, group in groupby(order, lambda at: items[at].text)]
        return [list(chain(*texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]

    def question(self, batch: list[int]) -> LinksQuestion:
        """What is asked about one batch."""
        kind = RandomLinksQuestion if self.control else LinksQuestion
        return kind(self.model, self.revision, tuple(self.corpus.items[at] for at in batch))


@dataclass(eq=False)
class ScoringState:
    """How far a run has come, and what it has counted.

    Several threads may bring one state further: a page that is drawn anew does not wait for the last drawing to end.
    """

    key: str
    done: int = 0  # batches
    items: int = 0  # scored so far
    skipped: int = 0  # of these, texts that the model could not read
    reason: str = ""  # why, of the last
    tally: HitCounts = field(default_factory=HitCounts)
    unknown: int = 0  # of the skipped, texts with too many tokens that the model does not know
    lock: Lock = field(default_factory=Lock, repr=False)

    def to_json(self) -> dict[str, Any]:
        """As plain values, to be kept in a file."""
        plain = {name: getattr(self, name) for name in ("key", "done", "items", "skipped", "reason", "unknown")}
        return {**plain, "tally": self.tally.to_json()}

    @classmethod
    def from_json(cls, stated: dict[str, Any]) -> ScoringState:
        """From what ``to_json`` gave; raises ValueError, TypeError or LookupError for anything else."""
        done, items, skipped, unknown = (int(stated[name]) for name in ("done", "items", "skipped", "unknown"))
        tally = HitCounts.from_json(stated["tally"])
        return cls(str(stated["key"]), done, items, skipped, str(stated["reason"]), tally, unknown)

    @property
    def unreadable(self) -> str:
        """Why the scores say nothing about the corpus: the model knows too few words of most texts; "" if it does."""
        if 2 * self.unknown <= self.items:
            return ""
        return gettext_lazy(
            "{unknown:,} of {texts:,} texts have too many unknown words, so a score would say little. {why}",
            unknown=self.unknown,
            texts=self.items,
            why=self.reason,
        )


def score(
    backend: ScoringBackend, run: ScoringRun, state: ScoringState | None = None, workers: int = 1
) -> Iterator[ScoringState]:
    """Scores what is left of a run, and yields its state after every batch: the same one, further on.

    ``workers`` questions are asked at once: two forward passes of one thread each are faster than one of two threads.
    A state of another run is not taken up. Whoever stops iterating stops the work. Raises the backend's Refusal.
    """
    state = state if state is not None and state.key == run.key else ScoringState(run.key)
    asked: deque[tuple[int, list[int], Future[LinksAnswer]]] = deque()
    with ThreadPoolExecutor(workers, "probing") as pool:
        try:
            for number, batch in list(enumerate(run.batches()))[state.done :]:
                # In the caller's context: it may end with the visitor for whom it is asked.
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
    """The state with this batch in it, counted once whoever else counts it."""
    answer = question.result()
    numbered = [(at, run.corpus.items[at]) for at in batch]
    with state.lock:
        if state.done == number:
            state.tally.add(numbered, answer.found, answer.read, run.corpus.together)
            state.done += 1
            state.items += len(batch)
            state.skipped += answer.skipped
            state.unknown += answer.unknown
            state.reason = answer.reason or state.reason
    return state


log = logging.getLogger(__name__)


@dataclass(eq=False)
class StateFile:
    """The states in a file; without a file nothing is kept."""

    file: Path | None
    states: dict[str, ScoringState] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path | None) -> StateFile:
        """What the file holds; nothing when it is missing or holds something else."""
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
        """Keeps a state; the file is replaced whole, so that a stop in between leaves the last one."""
        self.states[state.key] = state
        if self.file:
            fresh = self.file.with_name(f"{self.file.name}.new")
            fresh.write_text(json.dumps([entry.to_json() for entry in self.states.values()]), encoding="utf-8")
            fresh.replace(self.file)

    def drop(self) -> None:
        """Removes the file."""
        if self.file:
            self.file.unlink(missing_ok=True)
