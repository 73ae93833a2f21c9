"""Pairs of texts to be compared: those that differ in meaning, and those that differ in wording only, the control.

A file has a row for each pair, with its texts in the columns a and b; a column kind says "change" or "control", and
without it, or left empty, a pair is a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.text_alignment import by_words
from i18n import gettext_lazy
from inference.errors import UserError
from probing.delimited import rows
from probing.utf8 import decoded_or_guessed

COLUMNS = ("a", "b")
KINDS = ("change", "control")
MOST_BYTES = 1_000_000  # of a file
MOST_PAIRS = 500  # in it
LONGEST = 2_000  # characters of a text


@dataclass(frozen=True)
class TextPair:
    """Two texts; ``control`` where what differs should not matter."""

    a: str
    b: str
    control: bool = False

    @property
    def words(self) -> int:
        """How many words differ, put in others' places, added or left out.

        >>> TextPair("The key to the door is here.", "The keys to the door are here.").words
        2
        """
        one, other = self.a.casefold().split(), self.b.casefold().split()
        same = sum(one[at] == other[there] for at, there in by_words(one, other))
        return max(len(one), len(other)) - same


def parse(content: bytes, encoding: str = "") -> tuple[TextPair, ...]:
    """The pairs in a file; raises Refusal in one sentence.

    >>> parse(b"a,b,kind\\nIt was hot.,It was cold.,\\nIt was hot.,It was so hot.,control\\n")[1].control
    True
    """
    if len(content) > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "The file has {size:,} bytes; a file of pairs has at most {most:,}. Split it.",
                size=len(content),
                most=MOST_BYTES,
            )
        )
    text, _ = decoded_or_guessed(content, encoding)
    found: list[TextPair] = []
    for line, row in rows(text, COLUMNS):
        if len(found) == MOST_PAIRS:
            raise UserError(
                gettext_lazy(
                    "The file has more than {most} pairs, from line {line} on. Leave the rest out.",
                    most=MOST_PAIRS,
                    line=line,
                )
            )
        found.append(_pair(row, line))
    if not found:
        raise UserError(
            gettext_lazy("The file has no pair below its header. Add rows with a text in column a and one in column b.")
        )
    return tuple(found)


def _pair(row: dict[str, str], line: int) -> TextPair:
    a, b = (row[name].strip() for name in COLUMNS)
    for name, text in zip(COLUMNS, (a, b), strict=True):
        if not text:
            raise UserError(
                gettext_lazy(
                    "Line {line} has no text in column {column}. Every pair needs both.", line=line, column=name
                )
            )
        if len(text) > LONGEST:
            raise UserError(
                gettext_lazy(
                    "The text in column {column} of line {line} has {characters:,} characters; at most {longest:,} are"
                    " read.",
                    column=name,
                    line=line,
                    characters=len(text),
                    longest=LONGEST,
                )
            )
    kind = row.get("kind", "").strip().lower() or "change"
    if kind not in KINDS:
        raise UserError(
            gettext_lazy(
                "The kind in line {line} is “{kind}”; it should be change, control, or empty.",
                line=line,
                kind=kind[:40],
            )
        )
    return TextPair(a, b, kind == "control")


def groups(pairs: Sequence[TextPair]) -> list[int]:
    """Which pairs belong together: those that share a text, and whatever these share another with, by a number each.

    >>> hot, cold = TextPair("It was hot.", "It was cold."), TextPair("It was late.", "It was soon.")
    >>> groups([hot, cold, TextPair("It was so cold.", "It was cold.", True)])
    [0, 1, 0]
    """
    of: dict[str, int] = {}
    for at, pair in enumerate(pairs):
        joined = {of[text] for text in (pair.a, pair.b) if text in of}
        of.update({text: min([at, *joined]) for text, number in of.items() if number in joined})
        of.update(dict.fromkeys((pair.a, pair.b), min([at, *joined])))
    numbers = {number: place for place, number in enumerate(dict.fromkeys(of[pair.a] for pair in pairs))}
    return [numbers[of[pair.a]] for pair in pairs]
