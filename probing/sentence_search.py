"""Search of a list for the sentences whose vectors are most similar to that of a text; the list is read in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from attention.vectors import cosine
from inference import UserError
from inference.tasks.hidden_states import Pooled, TextVectors

PART = 64  # sentences in a request


@dataclass
class SentenceSearch:
    """A search for the ``most`` sentences of ``asked.texts`` that are most similar to ``text``.

    ``hits`` has a pair (cosine, index) for each of the best sentences so far, most similar first. Other sentences are
    dropped, so memory does not grow with the list. ``refused`` counts the sentences that could not be read.
    """

    text: str
    asked: Pooled
    most: int = 10
    done: int = 0
    refused: int = 0
    hits: list[tuple[float, int]] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Return the number of parts of the list, each of at most PART sentences."""
        return -(-len(self.asked.texts) // PART)

    def step(self, inspect: Callable[[Pooled], TextVectors]) -> None:
        """Compare the next PART sentences with ``text`` and update ``hits``.

        ``inspect`` returns the vectors of texts. Raise UserError if ``text`` cannot be read.
        """
        start = self.done * PART
        made = inspect(replace(self.asked, texts=(self.text, *self.asked.texts[start : start + PART])))
        if made.refused[0]:
            raise UserError(made.refused[0])
        readable = [at for at, reason in enumerate(made.refused) if at and not reason]
        self.refused += len(made.refused) - 1 - len(readable)
        if readable:
            cosines = cosine(made.vectors[readable], made.vectors[:1])[:, 0]
            self.hits = merge_hits(self.hits, cosines.tolist(), [start + at - 1 for at in readable], self.most)
        self.done += 1


def merge_hits(
    hits: list[tuple[float, int]], cosines: list[float], places: list[int], most: int
) -> list[tuple[float, int]]:
    """Merge two lists of cosines with their indices; keep the ``most`` largest, lower indices first in a tie.

    >>> merge_hits([(0.5, 0)], [0.9, 0.5, 0.1], [1, 2, 3], 2)
    [(0.9, 1), (0.5, 0)]
    """
    every = [*hits, *zip(cosines, places, strict=True)]
    return sorted(every, key=lambda hit: (-hit[0], hit[1]))[:most]
