"""Characters that a vocabulary cuts into bytes: each piece is shown as its character, and which bytes of it it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from inference.text.pieces import bytes_of, readable_piece, visible_text

_LONGEST = 4  # bytes of a character in UTF-8
_CARRIER = "◌"  # under a mark that stands on another character


@dataclass(frozen=True)
class ReadablePiece:
    """A piece as people read it."""

    text: str
    bare: str  # the characters that it is of, also in part, as a text has them
    goes_on: bool = False  # whether the last of these goes on in the next piece
    name: str = ""  # what the vocabulary calls it, where ``text`` says of which character it is a part


def readable_pieces(pieces: Sequence[str | None], how: str) -> list[ReadablePiece]:
    """Neighbouring pieces of a text, a special token as None, each as people read it.

    >>> [piece.text for piece in readable_pieces(["▁a", "<0xE5>", "<0xA4>", "<0xA9>"], "metaspace")]
    ['a', '天 1/3', '天 2/3', '天 3/3']
    """
    found = [
        ReadablePiece("", "") if piece is None else ReadablePiece(text := readable_piece(piece, how), text)
        for piece in pieces
    ]
    raw = [None if piece is None else bytes_of(piece, how) for piece in pieces]
    for whole, run in groupby(range(len(pieces)), key=lambda at: raw[at] is None):
        if not whole:
            mine = list(run)
            for at, parts in zip(mine, _parts([raw[at] or b"" for at in mine]), strict=True):
                if any(part.cut for part in parts):
                    found[at] = _readable_part(parts, found[at].text)
    return found


@dataclass(frozen=True)
class _Part:
    """What a piece has of one character: bytes ``first`` to ``last`` of all its bytes ``raw``, counted from 1."""

    character: str  # "" for a byte that is no part of one
    raw: bytes
    first: int
    last: int

    @property
    def cut(self) -> bool:
        return not self.character or self.last - self.first + 1 < len(self.raw)

    @property
    def text(self) -> str:
        kind = unicodedata.category(self.character)[0] if self.character else "C"
        if kind in "CZ":  # a character that leaves no sign
            return "".join(f"<0x{byte:02X}>" for byte in self.raw[self.first - 1 : self.last])
        which = f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"
        return f"{_CARRIER if kind == 'M' else ''}{self.character} {which}/{len(self.raw)}"


def _parts(pieces: Sequence[bytes]) -> Iterator[list[_Part]]:
    """What each piece has of which character; together they spell a text."""
    owner = [at for at, piece in enumerate(pieces) for _ in piece]
    whole = b"".join(pieces)
    found: list[list[_Part]] = [[] for _ in pieces]
    start = 0
    while start < len(whole):
        character = _first(whole[start : start + _LONGEST])
        raw = character.encode() or whole[start : start + 1]
        for at, places in groupby(range(1, len(raw) + 1), key=lambda place: owner[start + place - 1]):
            mine = list(places)
            found[at].append(_Part(character, raw, mine[0], mine[-1]))
        start += len(raw)
    yield from found


def _first(raw: bytes) -> str:
    """The character that these bytes begin with; "" where they begin with none."""
    for size in range(1, len(raw) + 1):
        try:
            return raw[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return ""


def _readable_part(parts: Sequence[_Part], name: str) -> ReadablePiece:
    """A piece by its parts; ``name`` is what the vocabulary calls it."""
    texts = [
        " ".join(part.text for part in run) if cut else visible_text("".join(part.character for part in run).strip(" "))
        for cut, run in ((cut, list(run)) for cut, run in groupby(parts, key=lambda part: part.cut))
    ]
    text = " ".join(filter(None, texts))
    bare = "".join(part.character for part in parts).strip()
    return ReadablePiece(text, bare, parts[-1].last < len(parts[-1].raw), name if text != name else "")
