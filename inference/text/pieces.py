"""Readable forms of the subwords of a vocabulary."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

# Picture files may not contain control characters.
_CONTROL = {chr(code): f"<0x{code:02X}>" for code in (*range(0x20), 0x7F)}
_INVISIBLE = {**_CONTROL, " ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍"}
_MARK = "▁"
WORD_END = "</w>"  # marks the last subword of a word
JOINER = "@@"  # marks a subword that continues in the next subword
_SAMPLE = 0.01  # the fraction of a vocabulary that must end in a mark for the mark to define its style
_BYTE = re.compile("<0x([0-9A-F]{2})>")  # the notation for a single byte in vocabularies with byte fallback


def style(tokenizer: Any) -> str:
    """Return the name of the style in which a tokenizer marks the subwords of a word.

    The styles are "bytes" (GPT-2), "metaspace" (SentencePiece), "wordpiece" (BERT), "suffix" ("</w>"), "byte suffix"
    (CLIP: bytes and "</w>"), "joiner" ("@@") and "utf8" (ByT5: a character for each byte).
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        if hasattr(tokenizer, "sp_model") or hasattr(tokenizer, "spm_source"):
            return "metaspace"
        return "utf8" if hasattr(tokenizer, "_utf_vocab_size") else _style_of_ends(tokenizer)
    kinds = _kinds(backend.decoder) + _kinds(backend.pre_tokenizer)
    if "ByteLevel" in kinds:
        return "byte suffix" if getattr(backend.model, "end_of_word_suffix", None) else "bytes"
    model = backend.model
    if {"Metaspace", "ByteFallback"} & set(kinds) or type(model).__name__ == "Unigram" or _spells_bytes(model):
        return "metaspace"
    return "suffix" if getattr(model, "end_of_word_suffix", None) else "wordpiece"


def _spells_bytes(model: Any) -> bool:
    """Return True if a model of `tokenizers` encodes unknown characters as bytes such as <0xC3>."""
    return bool(getattr(model, "byte_fallback", False)) and not getattr(model, "end_of_word_suffix", None)


def _style_of_ends(tokenizer: Any) -> str:
    """Return the style of a Python tokenizer, judged by the ends of the subwords in its vocabulary."""
    pieces = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else ()
    for mark, found in ((WORD_END, "suffix"), (JOINER, "joiner")):
        if sum(piece.endswith(mark) for piece in pieces) > _SAMPLE * len(pieces):
            return found
    return "wordpiece"


def _kinds(component: Any) -> list[str]:
    """Return the class names of a decoder or pre-tokenizer and of its components."""
    if component is None:
        return []
    found: list[str] = []
    pending = [json.loads(component.__getstate__())]
    while pending:
        state = pending.pop()
        if isinstance(state, dict):
            found.append(str(state.get("type")))
            pending += state.get("decoders", []) + state.get("pretokenizers", [])
    return found


def role(piece: str, how: str) -> str:
    """Return "start" if a subword starts a word, "inside" if it continues it, "space" if it is a space.

    ``how`` is the style of the tokenizer.

    >>> role("Ġ", "bytes"), role("▁the", "metaspace"), role("##ing", "wordpiece")
    ('space', 'start', 'inside')
    """
    if how in ("wordpiece", "joiner"):
        return "inside" if piece.startswith("##") and how == "wordpiece" else "start"
    if how == "utf8":
        return "space" if piece in " \t\n\r\f\v" else "inside"
    mark = _MARK if how == "metaspace" else "Ġ"
    return "space" if piece == mark else "start" if piece.startswith(mark) else "inside"


def readable_piece(piece: str, how: str) -> str:
    """Return a subword as readable text; ``how`` is the style of the tokenizer.

    >>> (
    ...     readable_piece("Ġcaf\u00c3\u00a9", "bytes"),
    ...     readable_piece("##ing", "wordpiece"),
    ...     readable_piece("▁the", "metaspace"),
    ... )
    ('café', 'ing', 'the')
    >>> (
    ...     readable_piece("a\x1b", "metaspace"),
    ...     readable_piece("<0x3C>", "metaspace"),
    ...     readable_piece("<0xC3>", "metaspace"),
    ... )
    ('a<0x1B>', '<', '<0xC3>')
    """
    if how in ("bytes", "byte suffix"):
        shown = decode_bytes(_strip_mark(piece, how))
        shown = shown[1:] if shown.startswith(" ") and len(shown) > 1 else shown
    elif how == "metaspace":
        raw = bytes_of(piece, how)
        bare = piece[1:] if piece.startswith(_MARK) and len(piece) > 1 else piece
        shown = raw.decode() if raw is not None and raw.isascii() else bare.replace(_MARK, " ")
    elif how == "utf8":
        shown = f"<0x{ord(piece):02X}>" if len(piece) == 1 and 127 < ord(piece) < 256 else piece
    elif how in ("suffix", "joiner"):
        shown = _strip_mark(piece, how)
    else:
        shown = piece.removeprefix("##") if len(piece) > 2 else piece
    return visible_text(shown)


def _strip_mark(piece: str, how: str) -> str:
    """Return the subword without the mark at its end; a subword that is only a mark stays."""
    return piece.removesuffix({"suffix": WORD_END, "byte suffix": WORD_END, "joiner": JOINER}.get(how, "")) or piece


def visible_text(text: str) -> str:
    """Replace invisible characters by visible signs; spaces are replaced only in a blank text.

    >>> visible_text("\\n"), visible_text("a b"), visible_text(" ")
    ('⏎', 'a b', '␣')
    """
    names = _INVISIBLE if not text.strip() else {**_INVISIBLE, " ": " "}
    return "".join(names.get(character, character) for character in text)


def decode_bytes(piece: str) -> str:
    """Decode a byte-level subword; bytes of an incomplete character become "<0xF0>" and the like.

    >>> decode_bytes("\u00f0\u0141")
    '<0xF0><0x9F>'
    """
    raw = bytes_of(piece, "bytes")
    if raw is None:
        return piece  # an added token is stored as plain text
    parts: list[str] = []
    while raw:
        try:
            parts.append(raw.decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            parts.append(raw[: error.start].decode("utf-8"))
            parts.extend(f"<0x{byte:02X}>" for byte in raw[error.start : error.end])
            raw = raw[error.end :]
    return "".join(parts)


def bytes_of(piece: str, how: str) -> bytes | None:
    """Return the bytes that a subword encodes, or None if it is plain text; ``how`` is the result of ``style``.

    >>> bytes_of("\u00f0\u0141", "bytes"), bytes_of("<0xE7>", "metaspace"), bytes_of("▁the", "metaspace")
    (b'\\xf0\\x9f', b'\\xe7', None)
    >>> bytes_of("\u00c3", "utf8"), bytes_of("\u00f0\u0141</w>", "byte suffix")
    (b'\\xc3', b'\\xf0\\x9f')
    """
    if how == "utf8":
        return bytes([ord(piece)]) if len(piece) == 1 and ord(piece) < 256 else None
    if how not in ("bytes", "byte suffix"):
        found = _BYTE.fullmatch(piece)
        return bytes.fromhex(found[1]) if found else None
    table, piece = _byte_of(), _strip_mark(piece, how)
    return bytes(table[character] for character in piece) if all(map(table.__contains__, piece)) else None


@cache
def _byte_of() -> dict[str, int]:
    """Return GPT-2's byte alphabet, from characters to bytes.

    Printable bytes are their own characters; the others are characters from U+0100.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + at): b for at, b in enumerate(others)}


_LONGEST = 4  # the most bytes of a character in UTF-8
_CARRIER = "◌"  # carries a combining mark that is shown without its character


@dataclass(frozen=True)
class ReadablePiece:
    """A subword as readable text; ``goes_on`` is True if its last character continues in the next subword."""

    text: str
    bare: str  # the characters of the text that it encodes, even partly
    goes_on: bool = False  # True if the last character continues in the next subword
    name: str = ""  # the vocabulary's form, if ``text`` names a part of a character instead


def readable_pieces(pieces: Sequence[str | None], how: str) -> list[ReadablePiece]:
    """Return the readable forms of consecutive subwords of a text; ``how`` is the style of the tokenizer.

    A special token is given as None.

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
    """The part of a character in a subword: bytes ``first`` to ``last`` of ``raw``, counted from 1."""

    character: str  # "" for a byte that is not part of a character
    raw: bytes
    first: int
    last: int

    @property
    def cut(self) -> bool:
        return not self.character or self.last - self.first + 1 < len(self.raw)

    @property
    def text(self) -> str:
        kind = unicodedata.category(self.character)[0] if self.character else "C"
        if kind in "CZ":  # the character is invisible
            return "".join(f"<0x{byte:02X}>" for byte in self.raw[self.first - 1 : self.last])
        which = f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"
        return f"{_CARRIER if kind == 'M' else ''}{self.character} {which}/{len(self.raw)}"


def _parts(pieces: Sequence[bytes]) -> Iterator[list[_Part]]:
    """Yield the parts of characters in each subword, if the subwords together encode a text."""
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
    """Return the first character of some UTF-8 bytes; "" if they do not begin with a character."""
    for size in range(1, len(raw) + 1):
        try:
            return raw[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return ""


def _readable_part(parts: Sequence[_Part], name: str) -> ReadablePiece:
    """Return the readable form of a subword from its parts; ``name`` is its form without neighbours."""
    texts = [
        " ".join(part.text for part in run) if cut else visible_text("".join(part.character for part in run).strip(" "))
        for cut, run in ((cut, list(run)) for cut, run in groupby(parts, key=lambda part: part.cut))
    ]
    text = " ".join(filter(None, texts))
    bare = "".join(part.character for part in parts).strip()
    return ReadablePiece(text, bare, parts[-1].last < len(parts[-1].raw), name if text != name else "")
