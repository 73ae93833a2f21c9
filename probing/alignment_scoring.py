"""Every cross head scored on sentences aligned by hand; the best one is reported where it was not chosen.

The model is made to read each given translation. Every other pair of the file belongs to half 0, the others to half 1:
the best head is chosen on half 0 and reported on half 1, with two guesses that look at no model beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from attention.alignment_scores import (
    AlignmentCounts,
    HandAligned,
    Numbers,
    by_chance,
    by_diagonal,
    count,
    strongest_sources,
    total,
)
from attention.cross_attention import CrossRowConvention
from attention.trace import Trace
from inference.errors import UserError
from inference.request import TraceRequest
from inference.text.validation import explain_unreadable
from probing.alignments import Alignments
from probing.intervals import wilson
from probing.paired_test import sign_flip_test, verdict

CHUNK = 8  # pairs asked for at once
HALVES = 2
READINGS = tuple(CrossRowConvention)
SKIPPED = ("text", "cut")  # ways out of a refusal that concerns one text only


class TraceSource(Protocol):
    """Of a backend, what scoring needs."""

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """What every head attends to in some texts."""
        ...


@dataclass(frozen=True)
class AlignmentRun:
    """What is scored."""

    alignments: Alignments
    model: str
    revision: str | None = None

    @property
    def key(self) -> str:
        """SHA-256 of the sentences and the model."""
        stated = [self.alignments.digest, self.model, self.revision, CHUNK]
        return hashlib.sha256(json.dumps(stated).encode()).hexdigest()

    def chunks(self) -> list[list[tuple[int, HandAligned]]]:
        """Pairs with their numbers, some at a time."""
        pairs = list(enumerate(self.alignments.pairs))
        return [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]


@dataclass(frozen=True, eq=False)
class BestHead:
    """The head that was best on one half of the sentences, as it does on the other half. Shares are in percent."""

    layer: int
    head: int
    share: float
    low: float  # of its 95 % interval
    high: float
    words: int  # linked target words of that half
    error: float  # alignment error rate, 0 to 1
    diagonal: float  # what the source word at the same relative place would find there
    chance: float  # what a source word at random would
    diagonal_error: float
    p: float  # two-sided, of the paired test by pair of sentences against the diagonal

    @property
    def verdict(self) -> str:
        """Beside the source word at the same relative place: "more", "less", or "not clearly more"."""
        return verdict(self.p, self.share - self.diagonal)


@dataclass(frozen=True, eq=False)
class AlignmentState:
    """How far a run has come, and what it has counted.

    ``heads`` are counts (reading, layer, head) by half; ``diagonal`` and ``chance`` are single ones; ``gains`` are, for
    each pair, the words that a head finds less those that the diagonal finds, (reading, layer, head).
    """

    done: int = 0  # chunks
    scored: int = 0  # pairs
    skipped: int = 0  # pairs that the model could not read
    reason: str = ""  # why, of the last
    heads: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    diagonal: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    chance: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    gains: Mapping[int, tuple[Numbers, ...]] = field(default_factory=dict)

    def all(self) -> AlignmentCounts:
        """Counts of every head over all sentences, (reading, layer, head)."""
        return total(list(self.heads.values()))

    def best(self, read_at: CrossRowConvention) -> BestHead | None:
        """The best head of one reading; None while one of the halves has no sentence."""
        if len(self.heads) < HALVES:
            return None
        at = READINGS.index(read_at)
        choosing, reporting = self.heads[0].share[at], self.heads[1]
        layer, head = np.unravel_index(int(choosing.argmax()), choosing.shape)
        place = (at, int(layer), int(head))
        found, words = int(reporting.found[place]), int(reporting.words[place])
        low, high = wilson(found, words)
        gains = np.array([pair[place] for pair in self.gains[1]]).astype(np.int64)[:, None]
        return BestHead(
            int(layer),
            int(head),
            100 * float(reporting.share[place]),
            low,
            high,
            words,
            float(reporting.error[place]),
            100 * float(self.diagonal[1].share),
            100 * float(self.chance[1].share),
            float(self.diagonal[1].error),
            float(sign_flip_test(gains)[0]),
        )


def advance(backend: TraceSource, run: AlignmentRun, state: AlignmentState) -> AlignmentState:
    """The state one chunk further on. Raises the backend's Refusal, except for texts that the model cannot read."""
    chunk = run.chunks()[state.done]
    read, reason = _traces(backend, run, chunk)
    heads, diagonal, chance = dict(state.heads), dict(state.diagonal), dict(state.chance)
    gains = dict(state.gains)
    for number, pair, trace in read:
        half = number % HALVES
        by_heads, by_place = count(pair, strongest_sources(trace, pair)), by_diagonal(pair)
        gains[half] = (*gains.get(half, ()), by_heads.found - by_place.found)
        for counts, new in ((heads, by_heads), (diagonal, by_place), (chance, by_chance(pair))):
            counts[half] = counts[half] + new if half in counts else new
    return replace(
        state,
        done=state.done + 1,
        scored=state.scored + len(read),
        skipped=state.skipped + len(chunk) - len(read),
        reason=reason or state.reason,
        heads=heads,
        diagonal=diagonal,
        chance=chance,
        gains=gains,
    )


def _traces(
    backend: TraceSource, run: AlignmentRun, chunk: Sequence[tuple[int, HandAligned]]
) -> tuple[list[tuple[int, HandAligned, Trace]], str]:
    """The traces of a chunk, and why the last of those that are lacking could not be made."""
    asked = [TraceRequest(run.model, pair.source, target=pair.target, revision=run.revision) for _, pair in chunk]
    try:
        traces = backend.traces(asked)
        return _keep_known([(number, pair, trace) for (number, pair), trace in zip(chunk, traces, strict=True)], "")
    except UserError as refusal:
        if refusal.way_out not in SKIPPED:
            raise
    read, reason = [], ""
    for (number, pair), request in zip(chunk, asked, strict=True):
        try:
            read.append((number, pair, backend.traces([request])[0]))
        except UserError as refusal:
            if refusal.way_out not in SKIPPED:
                raise
            reason = refusal.message
    return _keep_known(read, reason)


def _keep_known(
    read: list[tuple[int, HandAligned, Trace]], reason: str
) -> tuple[list[tuple[int, HandAligned, Trace]], str]:
    """Return the traces of known words, and the reason for the last pair that is left out."""
    kept = []
    for number, pair, trace in read:
        rows = [row for row in (trace.source, trace.target) if row is not None and row.unreadable()]
        if rows:
            reason = explain_unreadable(rows[0], trace.model.name)
        else:
            kept.append((number, pair, trace))
    return kept, reason
