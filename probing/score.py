"""Scoring a corpus: a batch at a time, so that it can be watched, stopped, and taken up again where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import chain, groupby
from threading import Lock
from typing import Any, Protocol

from i18n import gettext_lazy
from inference.request import EMBEDDED
from inference.tasks.link_hits import LinksAnswer, LinksQuestion, RandomLinksQuestion
from inference.tasks.model_request import InspectRequest
from probing.baselines import RULES
from probing.corpus import AnnotatedCorpus
from probing.hit_counts import HitCounts

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
