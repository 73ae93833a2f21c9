"""A tokenised text as a value: what the model is given and what people are shown, shortened or moved by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention.tokens import TokenRow


@dataclass(frozen=True)
class Encoding:
    """A tokenised text: the row to show, and the segment numbers that the model's embedding is given."""

    row: TokenRow
    types: tuple[int, ...]
    whole: int | None = None  # number of tokens of the text before it was cut; None if it was not cut

    @property
    def ids(self) -> tuple[int, ...]:
        """Token numbers in the model's vocabulary."""
        return self.row.ids

    def pick(self, kept: Sequence[int]) -> Encoding:
        """The same with some positions only."""
        row = self.row
        picked = TokenRow(
            pieces=tuple(row.pieces[at] for at in kept),
            ids=tuple(row.ids[at] for at in kept),
            words=tuple(row.words[at] for at in kept),
            segments=tuple(row.segments[at] for at in kept),
            spans=tuple(row.spans[at] for at in kept),
            unknown=tuple(row.unknown[at] for at in kept),
        )
        return Encoding(picked, tuple(self.types[at] for at in kept))


def shorten(reading: Encoding, size: int) -> Encoding:
    """The first ``size`` tokens, special ones all kept; of a pair, the longer text loses first, but never all.

    Returns the same reading when it is short enough.
    """
    row = reading.row
    excess = len(row) - size
    if excess <= 0:
        return reading
    content = {
        segment: [at for at in range(len(row)) if row.words[at] is not None and row.segments[at] == segment]
        for segment in sorted(set(row.segments))
    }
    dropped: set[int] = set()
    for _ in range(excess):
        longest = max(content, key=lambda segment: len(content[segment]))
        if len(content[longest]) <= 1:
            break
        dropped.add(content[longest].pop())
    return replace(reading.pick([at for at in range(len(row)) if at not in dropped]), whole=len(row))


def shift(reading: Encoding, ids: Sequence[int], start: str) -> Encoding:
    """What a decoder is given when it must write ``reading``: the start token, then all but the last.

    ``ids`` are the numbers the model itself makes of it; ``start`` is the first one's piece.
    """
    row = reading.row
    kept = list(range(len(ids) - 1))
    if list(ids[1:]) != list(row.ids[: len(ids) - 1]):
        raise ValueError(f"The decoder's tokens {list(ids)[:5]} are not the target's {list(row.ids)[:5]} moved by one.")
    rest = reading.pick(kept).row
    joined = TokenRow(
        pieces=(start, *rest.pieces),
        ids=(ids[0], *rest.ids),
        words=(None, *rest.words),
        segments=(0, *rest.segments),
        spans=(None, *rest.spans),
        unknown=("", *rest.unknown),
    )
    return Encoding(joined, (0,) * len(joined))
