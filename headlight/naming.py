"""Tokens as their names alone say them: which begin a word, which go on with one, which stand for none.

A tokenizer knows more (inference/text); here only its pieces came, written as its vocabulary writes them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any

from attention.given import NotMaps
from attention.tokens import TokenRow
from inference.text.cut_characters import shown
from inference.text.pieces import role
from inference.text.words import Span, words_of_spans
from wording import _

SPECIAL = re.compile(r"\[(?:CLS|SEP|PAD|BOS|EOS)\]|</?s>|<(?:pad|bos|eos)>|<\|[^|]*\|>")
MARKS = {"Ġ": "bytes", "▁": "metaspace"}  # before a piece that begins a word, and whose way to write that is

Texts = tuple[str, str | None]


def row(tokens: Any, second: int | None = None, special: Any = None, what: str = "tokens") -> tuple[TokenRow, Texts]:
    """Tokens as a row, and the text or the two texts that they make together.

    ``second`` is the place of the second text's first token. ``special``: a truth value for each token, or the names of
    those that are; without it, names such as [CLS] and </s> are known. Raises NotMaps in one sentence.

    >>> row(["[CLS]", "play", "##ing", "[SEP]"])[0].words, row(["The", "Ġcat", "."])[1]
    ((None, 0, 0, None), ('The cat.', None))
    """
    names = _names(tokens, what)
    if second is not None and not 0 < _whole(second) < len(names):
        raise NotMaps(
            _(
                "second={second}: the second text begins at one of the {what} 1 to {many}, counted from 0.",
                second=second,
                what=what,
                many=len(names) - 1,
            )
        )
    marked = _special(names, special)
    style = next((style for mark, style in MARKS.items() if any(name.startswith(mark) for name in names)), "wordpiece")
    segments = [int(second is not None and at >= second) for at in range(len(names))]
    read = shown([None if s else name for name, s in zip(names, marked, strict=True)], style)
    pieces = [name if s else piece.text for name, s, piece in zip(names, marked, read, strict=True)]
    words: list[int | None] = [None] * len(names)
    spans: list[Span | None] = [None] * len(names)
    texts, base = ["", ""], 0
    for segment in (0, 1):
        mine = [at for at in range(len(names)) if segments[at] == segment and not marked[at]]
        roles = [role(names[at], style) for at in mine]
        texts[segment], places = _joined([pieces[at] for at in mine], roles)
        numbers = words_of_spans(texts[segment], places, roles) if style != "wordpiece" else _numbers(roles)
        for at, number, place in zip(mine, numbers, places, strict=True):
            words[at], spans[at] = base + number, place
        base += max(numbers, default=-1) + 1
    made = TokenRow(tuple(pieces), tuple(range(len(names))), tuple(words), tuple(segments), tuple(spans))
    return made, (texts[0], None if second is None else texts[1])


def _whole(number: Any) -> int:
    """A whole number of whatever library; 0 for what is none."""
    try:
        return operator.index(number)
    except TypeError:
        return 0


def _names(tokens: Any, what: str) -> list[str]:
    if isinstance(tokens, str) or not hasattr(tokens, "__iter__"):
        raise NotMaps(
            _("{name} came as {what}; give a list with a name for each token.", name=type(tokens).__name__, what=what)
        )
    names = list(tokens)
    if not names or not all(isinstance(name, str) for name in names):
        raise NotMaps(
            _(
                "The {what} are a name each, such as tokenizer.convert_ids_to_tokens(ids) gives; some are no text.",
                what=what,
            )
        )
    return [name.encode("utf-8", "replace").decode() for name in names]  # half a character cannot be saved


def _special(names: Sequence[str], special: Any) -> list[bool]:
    """Whether each token stands for no word."""
    if special is None:
        return [bool(SPECIAL.fullmatch(name)) for name in names]
    told = list(special) if hasattr(special, "__iter__") else [special]
    if all(isinstance(one, str) for one in told):
        return [name in told for name in names]
    if len(told) != len(names):
        raise NotMaps(
            _(
                "special has {given} entries for {many} tokens; give one for each, or their names.",
                given=len(told),
                many=len(names),
            )
        )
    return [bool(one) for one in told]


def _joined(pieces: Sequence[str], roles: Sequence[str]) -> tuple[str, list[Span | None]]:
    """Pieces as one text, a space before each that begins a word, and where each of them stands."""
    text, spans = "", list[Span | None]()
    for piece, its in zip(pieces, roles, strict=True):
        text += " " if text and its == "start" else ""
        spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def _numbers(roles: Sequence[str]) -> list[int]:
    """Word numbers where every piece but one "inside" begins a word."""
    numbers: list[int] = []
    for its in roles:
        numbers.append(0 if not numbers else numbers[-1] + (its != "inside"))
    return numbers
