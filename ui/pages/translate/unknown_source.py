"""A warning about source words that are outside of the translator's vocabulary."""

from __future__ import annotations

from attention.tokens import TokenRow, is_out_of_vocabulary, word_runs
from i18n import _
from ui.input.unknown_words import describe_unknown


def describe_unread(name: str, source: TokenRow) -> str:
    """Return sentences on words outside of the vocabulary or spelt in bytes; "" if there are none.

    >>> describe_unread("M", TokenRow(("my", "\u732b"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "<unk>")))[:47]
    '1 of the 2 words here is not in the vocabulary '
    """
    many, words = source.unknown_words()
    if many:
        piece = next(unknown for unknown in source.unknown if is_out_of_vocabulary(unknown))
        return _("{unknown} Their translation is made up.", unknown=describe_unknown(name, many, words, piece, None))
    runs = [run for run in word_runs(source.words, source.segments) if source.words[run[0]] is not None]
    spelt = [run for run in runs if any(source.unknown[slice(*run)])]
    if not spelt:
        return ""
    return _(
        "{spelt} of {words} words are read byte by byte: they are not in the vocabulary of {name}. Their translation is"
        " probably made up.",
        spelt=len(spelt),
        words=len(runs),
        name=name,
    )
