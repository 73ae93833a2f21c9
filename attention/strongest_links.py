"""A bounded collection of a head's strongest links over many texts, which does not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

LEAST = np.float32(1e-4)  # weaker links are not collected
FIELDS = ("excess", "weight", "window", "query", "key")
KINDS: dict[str, npt.DTypeLike] = {
    "excess": np.float32,
    "weight": np.float32,
    "window": np.int64,
    "query": np.uint8,
    "key": np.uint8,
}
Columns = dict[str, npt.NDArray[Any]]


@dataclass(eq=False)
class StrongestLinks:
    """The ``most`` strongest links of a head, by the column ``excess``.

    Links of equal strength are ordered by window, query and key. The result is therefore the same for every order of
    additions, and two collections can be joined. ``window`` is the number of a text; ``query`` and ``key`` are token
    positions below 256.

    >>> links = StrongestLinks(2)
    >>> for excess, window in ((0.5, 3), (0.9, 1), (0.5, 2)):
    ...     links.add(columns([excess], [1.0], [window], [0], [4]))
    >>> links.table()["window"].tolist(), round(links.floor, 2), links.is_full
    ([1, 2], 0.5, True)
    """

    most: int
    blocks: list[Columns] = field(default_factory=list)
    added: int = 0  # links in ``blocks``
    weakest: float = float(LEAST)  # strength that a further link needs at least

    def add(self, links: Columns) -> None:
        """Add links; drop the weakest if there are more than twice the limit ``most``."""
        self.blocks.append(links)
        self.added += len(links["excess"])
        if self.added >= 2 * self.most:
            self.table()

    def table(self) -> Columns:
        """Return the strongest links as columns, strongest first; drop weaker links beyond the limit ``most``."""
        joined = join(self.blocks)
        if self.added > self.most:  # a partition first, because a sort of all columns takes longer
            cut = np.partition(joined["excess"], self.added - self.most)[self.added - self.most]
            joined = take(joined, np.nonzero(joined["excess"] >= cut)[0])
        order = np.lexsort((joined["key"], joined["query"], joined["window"], -joined["excess"]))[: self.most]
        kept = take(joined, order)
        self.blocks, self.added = [kept], len(order)
        if self.is_full:
            self.weakest = max(float(kept["excess"][-1]), float(LEAST))
        return kept

    @property
    def is_full(self) -> bool:
        """Return True if the collection has reached its limit, so that weaker links may have been dropped."""
        return self.added >= self.most

    @property
    def floor(self) -> float:
        """Return the strength of the weakest link in the collection; 0 if there is none."""
        kept = self.table()["excess"]
        return float(kept[-1]) if len(kept) else 0.0


def columns(
    excess: npt.ArrayLike, weight: npt.ArrayLike, window: npt.ArrayLike, query: npt.ArrayLike, key: npt.ArrayLike
) -> Columns:
    """Return links as columns (link,), in the number types that a collection stores."""
    given = (excess, weight, window, query, key)
    return {name: np.asarray(values, KINDS[name]) for name, values in zip(FIELDS, given, strict=True)}


def join(blocks: Sequence[Columns]) -> Columns:
    """Concatenate the links of several blocks, in the order of the blocks."""
    return {
        name: np.concatenate([np.zeros(0, KINDS[name]), *(block[name] for block in blocks)]).astype(KINDS[name])
        for name in FIELDS
    }


def take(links: Columns, places: npt.NDArray[np.intp]) -> Columns:
    """Return the links with the indices ``places``."""
    return {name: values[places] for name, values in links.items()}
