"""Words and special tokens inferred from token strings, if there is no tokenizer.

With a tokenizer, inference/text determines them exactly.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any

from attention.external_maps import InvalidAttention
from attention.tokens import TokenRow
from i18n import _
from inference.text.pieces import JOINER, WORD_END, ReadablePiece, bytes_of, readable_pieces, role
from inference.text.words import Span, words_of_spans

SPECIAL = re.compile(
    r"\[(?:CLS|SEP|PAD|BOS|EOS)\]|</?s>|<(?:pad|bos|eos|cls|sep|eod|eop)>|<(?:start|end)_of_turn>|<\|[^|]*\|>"
)
# Language tokens at the ends of a text: M2M100 and SeamlessM4T, NLLB, mBART, Marian, MADLAD, Speech2Text.
LANGUAGE = re.compile(
    r"__[a-z]{2,3}(?:_[A-Z]{2})?__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}|>>[A-Za-z_-]+<<|<2[A-Za-z_-]+>|<lang:\w+>"
)
MARKS = {"Ġ": "bytes", "▁": "metaspace"}  # prefix of word-initial subwords, mapped to its style

Texts = tuple[str, str | None]


def row(tokens: Any, second: int | None = None, special: Any = None, what: str = "tokens") -> tuple[TokenRow, Texts]:
    """Return token strings as a TokenRow, and the text (or both texts) that the tokens form.

    ``second`` is the index of the second text's first token. ``special`` is a boolean per token, or the names of the
    special tokens; by default, common names such as [CLS] and </s> are recognised. ``what`` names the tokens in error
    messages. Raise InvalidAttention with a one-sentence message if the arguments do not fit together.

    >>> row(["[CLS]", "play", "##ing", "[SEP]"])[0].words, row(["The", "Ġcat", "."])[1]
    ((None, 0, 0, None), ('The cat.', None))
    """
    names = _names(tokens, what)
    if second is not None and not 0 < (whole_number(second) or 0) < len(names):
        raise InvalidAttention(
            _(
                "second={second}: the second text begins at one of {what} 1 to {many}, counted from 0.",
                second=second,
                what=what,
                many=len(names) - 1,
            )
        )
    segments = [int(second is not None and at >= second) for at in range(len(names))]
    marked = _special_flags(names, special, segments)
    how = _style([name for name, s in zip(names, marked, strict=True) if not s])
    read = readable_pieces([None if s else name for name, s in zip(names, marked, strict=True)], how)
    pieces = [name if s else piece.text for name, s, piece in zip(names, marked, read, strict=True)]
    words: list[int | None] = [None] * len(names)
    spans: list[Span | None] = [None] * len(names)
    texts, base = ["", ""], 0
    for segment in (0, 1):
        mine = [at for at in range(len(names)) if segments[at] == segment and not marked[at]]
        roles = _roles([names[at] for at in mine], how)
        texts[segment], places = _join_pieces([read[at] for at in mine], roles)
        by_place = how in ("bytes", "metaspace", "utf8")
        numbers = words_of_spans(texts[segment], places, roles) if by_place else _numbers(roles)
        for at, number, place in zip(mine, numbers, places, strict=True):
            words[at], spans[at] = base + number, place
        base += max(numbers, default=-1) + 1
    names_of_parts = tuple(piece.name for piece in read)
    made = TokenRow(
        tuple(pieces), tuple(range(len(names))), tuple(words), tuple(segments), tuple(spans), names_of_parts
    )
    return made, (texts[0], None if second is None else texts[1])


def whole_number(value: Any) -> int | None:
    """Convert an integer of any library, such as NumPy's, to int; return None for booleans and other values.

    >>> whole_number(3), whole_number(3.0), whole_number(True)
    (3, None, None)
    """
    if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool"):
        return None
    try:
        return operator.index(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _style(names: Sequence[str]) -> str:
    """Return the style of a vocabulary, inferred from some of its tokens (inference.text.pieces.style).

    Gemma writes no mark before the first word of a text, so its tokens may be recognisable by byte tokens only.
    """
    if any(bytes_of(name, "metaspace") is not None for name in names):
        return "metaspace"
    for mark, how in MARKS.items():
        if any(name.startswith(mark) for name in names):
            return how
    ends = any(name.endswith(WORD_END) for name in names)
    if all(len(name) == 1 for name in names) and (" " in names or _is_byte_spelling(names, "utf8")):
        return "utf8"
    if _is_byte_spelling(names, "byte suffix" if ends else "bytes"):
        return "byte suffix" if ends else "bytes"
    return "suffix" if ends else "joiner" if any(name.endswith(JOINER) for name in names) else "wordpiece"


def _is_byte_spelling(names: Sequence[str], how: str) -> bool:
    """Return True if the tokens, decoded as bytes, spell a valid text that is not pure ASCII."""
    raw = [bytes_of(name, how) for name in names]
    whole = b"".join(part for part in raw if part is not None)
    try:
        return None not in raw and not whole.decode().isascii()
    except UnicodeDecodeError:
        return False


def _roles(names: Sequence[str], how: str) -> list[str]:
    """Return "start", "inside" or "space" for each token."""
    if how not in ("suffix", "byte suffix", "joiner"):
        return [role(name, how) for name in names]
    going = [name.endswith(JOINER) if how == "joiner" else not name.endswith(WORD_END) for name in names]
    return ["inside" if at and going[at - 1] else "start" for at in range(len(names))]


def _names(tokens: Any, what: str) -> list[str]:
    if isinstance(tokens, str) or not hasattr(tokens, "__iter__"):
        raise InvalidAttention(
            _("{what} is a {name}; give a list with a name per token.", name=type(tokens).__name__, what=what)
        )
    names = list(tokens)
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidAttention(
            _(
                "The {what} need a name per token, as from tokenizer.convert_ids_to_tokens(ids).",
                what=what,
            )
        )
    # Lone surrogates cannot be encoded and are replaced.
    return [name.encode("utf-8", "replace").decode() for name in names]


def _special_flags(names: Sequence[str], special: Any, segments: Sequence[int]) -> list[bool]:
    """Return True for each special token; raise InvalidAttention if ``special`` has another length."""
    if special is None:
        return _usual_names(names, segments)
    told = list(special) if hasattr(special, "__iter__") else [special]
    if all(isinstance(one, str) for one in told):
        return [name in told for name in names]
    if len(told) != len(names):
        raise InvalidAttention(
            _(
                "special has {given} entries for {many} tokens; give one each, or their names.",
                given=len(told),
                many=len(names),
            )
        )
    return [bool(one) for one in told]


def _usual_names(names: Sequence[str], segments: Sequence[int]) -> list[bool]:
    """Return True for each token with a common special name.

    Names of language tokens count only at the ends of a text.
    """
    found = [bool(SPECIAL.fullmatch(name)) for name in names]
    for segment in set(segments):
        mine = [at for at, its in enumerate(segments) if its == segment]
        for ordered in (mine, mine[::-1]):
            for at in ordered:
                if not found[at] and not LANGUAGE.fullmatch(names[at]):
                    break
                found[at] = True
    return found if not all(found) else [bool(SPECIAL.fullmatch(name)) for name in names]


def _join_pieces(pieces: Sequence[ReadablePiece], roles: Sequence[str]) -> tuple[str, list[Span | None]]:
    """Return the text of subwords, a space before each word, and the span of each subword.

    Subwords that are parts of one character share its span.
    """
    text, spans, shared = "", list[Span | None](), False
    for piece, its in zip(pieces, roles, strict=True):
        text += " " if text and its == "start" else ""
        start = len(text) - shared
        text = text[:start] + (" " if its == "space" else piece.bare)
        spans.append((start, len(text)))
        shared = piece.goes_on
    return text, spans


def _numbers(roles: Sequence[str]) -> list[int]:
    """Return the word number of each subword; only "inside" continues a word."""
    numbers: list[int] = []
    for its in roles:
        numbers.append(0 if not numbers else numbers[-1] + (its != "inside"))
    return numbers
