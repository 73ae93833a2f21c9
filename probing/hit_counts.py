"""What was found, a bit for each head and link: all that is kept of thousands of sentences. It travels as JSON."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.annotations import AnnotatedText
from attention.mask import BoolArray
from probing.baselines import cue
from probing.corpus import ALL, UNCOUNTED

HALVES = 2
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RelationCounts:
    """One relation's links: where each stands, what a rule would need to know of it, and which heads find it."""

    places: Integers  # (link, 2): the item's number in the file, and which of the item's links it is
    needed: Integers  # (link,): what a rule would need to know, see probing.baselines
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
