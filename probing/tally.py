"""Counts of what was found, all that is kept of thousands of sentences. They add up, and travel as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.links import Item
from attention.mask import Bools
from probing.baselines import cue
from probing.corpus import ALL, UNCOUNTED

HALVES = 2
Found = npt.NDArray[np.int64]  # (direction, layer, head)


@dataclass(eq=False)
class Counts:
    """One relation: how many links, how many of them each head found, and what a rule would have needed to know."""

    n: int
    found: Found
    cues: Counter[int]

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.n + other.n, self.found + other.found, self.cues + other.cues)


@dataclass(eq=False)
class Tally:
    """Counts by half and relation. Every other item of the file belongs to half 0, the others to half 1."""

    counts: dict[tuple[int, str], Counts] = field(default_factory=dict)
    unread: int = 0  # links in words that the model could not read; they count nowhere else

    def add(self, items: Sequence[tuple[int, Item]], found: Bools, read: Bools, together: bool) -> None:
        """Counts some items, each with its number in the file; ``found`` is (link, direction, layer, head)."""
        links = [(number % HALVES, item, link) for number, item in items for link in item.links]
        groups: dict[tuple[int, str], list[int]] = {}
        for at, (half, _, link) in enumerate(links):
            if read[at]:
                groups.setdefault((half, link.relation), []).append(at)
                if together and link.relation not in UNCOUNTED:
                    groups.setdefault((half, ALL), []).append(at)
        self.unread += int((~read).sum())
        for key, members in groups.items():
            cues = Counter(cue(item, link) for _, item, link in (links[at] for at in members))
            new = Counts(len(members), found[members].sum(axis=0, dtype=np.int64), cues)
            self.counts[key] = self.counts[key] + new if key in self.counts else new

    def relations(self) -> list[str]:
        """Relations, ALL first, then the frequent before the rare."""
        sizes: Counter[str] = Counter()
        for (_, relation), counts in self.counts.items():
            sizes[relation] += counts.n
        return sorted(sizes, key=lambda relation: (relation != ALL, -sizes[relation], relation))

    def of(self, relation: str, half: int | None = None) -> Counts | None:
        """Counts of a relation, in one half or both; None where it does not occur."""
        halves = range(HALVES) if half is None else (half,)
        found = [self.counts[h, relation] for h in halves if (h, relation) in self.counts]
        return sum(found[1:], found[0]) if found else None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        rows = [
            [half, relation, counts.n, counts.found.tolist(), sorted(counts.cues.items())]
            for (half, relation), counts in self.counts.items()
        ]
        return {"unread": self.unread, "counts": rows}

    @classmethod
    def from_json(cls, stated: dict[str, Any]) -> Tally:
        """From what ``to_json`` gave; raises ValueError, TypeError or LookupError for anything else."""
        rows: Iterable[Any] = stated["counts"]
        counts = {
            (int(half), str(relation)): Counts(
                int(n), np.array(found, dtype=np.int64), Counter({int(cue): int(times) for cue, times in cues})
            )
            for half, relation, n, found, cues in rows
        }
        return cls(counts, int(stated["unread"]))
