"""What the model read: pieces, which word each belongs to, and where it stood in the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TokenRow:
    """One sequence of tokens; all fields have one entry per token.

    >>> row = TokenRow(("[CLS]", "play", "ing"), (101, 2377, 2075), (None, 0, 0), (0, 0, 0), (None, (0, 4), (4, 7)))
    >>> len(row), row.special
    (3, (True, False, False))
    """

    pieces: tuple[str, ...]  # as shown: continuation and space marks made readable
    ids: tuple[int, ...]  # in the model's vocabulary
    words: tuple[int | None, ...]  # number of the word the piece belongs to; None for a special token
    segments: tuple[int, ...]  # 0 for the first text, 1 for the second of a pair
    spans: tuple[tuple[int, int] | None, ...]  # (start, end) in its text, in characters; None where there is none

    def __post_init__(self) -> None:
        lengths = {len(self.pieces), len(self.ids), len(self.words), len(self.segments), len(self.spans)}
        if len(lengths) != 1:
            raise ValueError(
                f"A token row has fields of {sorted(lengths)} entries; each token needs one of every field."
            )

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def special(self) -> tuple[bool, ...]:
        """Whether each token was added by the tokenizer ([CLS], </s> …) and stands for no word."""
        return tuple(word is None for word in self.words)

    def goes_on(self, at: int) -> bool:
        """Whether the token at ``at`` belongs to the same word as the token before it.

        >>> row = TokenRow(("a", "play", "ing"), (9, 2377, 2075), (0, 1, 1), (0, 0, 0), (None,) * 3)
        >>> [row.goes_on(at) for at in range(3)]
        [False, False, True]
        """
        if at == 0 or self.words[at] is None:
            return False
        return (self.segments[at - 1], self.words[at - 1]) == (self.segments[at], self.words[at])
