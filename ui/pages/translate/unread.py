"""Words of the source that the translator cannot read, said before what it writes for them all the same."""

from __future__ import annotations

from attention.tokens import TokenRow, lacking, word_runs
from ui.input.unknown_words import told


def unread(name: str, source: TokenRow) -> str:
    """A sentence or two; "" where every word stands in the vocabulary.

    >>> unread("M", TokenRow(("my", "\u732b"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "<unk>")))[:47]
    '1 of the 2 words here is not in the vocabulary '
    """
    many, words = source.unknown_words()
    if many:
        piece = next(unknown for unknown in source.unknown if lacking(unknown))
        return f"{told(name, many, words, piece, None)} What it writes for {_it(many)} is made up."
    runs = [run for run in word_runs(source.words, source.segments) if source.words[run[0]] is not None]
    spelt = [run for run in runs if any(source.unknown[slice(*run)])]
    if not spelt:
        return ""
    are, them = ("is", "its letters") if len(spelt) == 1 else ("are", "their letters")
    return (
        f"{len(spelt)} of the {len(runs)} words here {are} not in the vocabulary of {name}: it reads {them} byte by"
        f" byte, as a vocabulary spells what its training texts hardly had. What it writes for {_it(len(spelt))} is"
        " most likely made up."
    )


def _it(many: int) -> str:
    return "it" if many == 1 else "them"
