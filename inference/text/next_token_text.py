"""Tokens that may come next: how each is shown, and what a text gains by it."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from itertools import islice, takewhile

from inference.text.encoding import Encoding
from inference.text.pieces import bytes_of, readable_piece, role
from inference.text.tokenizer import SafeTokenizer

_BEFORE = 8  # tokens before it that decide how a token reads: bytes of one character, spaces, marks


def mark_pieces(reader: SafeTokenizer, tokens: Sequence[int]) -> list[str]:
    """Pieces of the vocabulary as people read them, "␣" before one that begins a word.

    In vocabularies that mark what goes on instead, "…" stands where a word goes on. A number without a piece is shown
    as such.
    """
    return [
        f"[{token}]" if piece is None else piece if reader.is_special(token) else _mark_piece(piece, reader.style)
        for token, piece in zip(tokens, reader.raw_pieces(tokens), strict=True)
    ]


def _mark_piece(piece: str, style: str) -> str:
    shown, place = readable_piece(piece, style), role(piece, style)
    if style == "suffix":
        return shown if piece.endswith("</w>") else f"{shown}…"
    if style == "wordpiece":
        return f"…{shown}" if place == "inside" else shown
    return f"␣{shown}" if place == "start" else shown


def gains(reader: SafeTokenizer, before: Sequence[int], tokens: Sequence[int]) -> list[str]:
    """What a text gains by each of some tokens after ``before``; nothing by a special one.

    A character whose bytes are several tokens is gained with the last of them.
    """
    near = [*islice((token for token in reversed(before) if not reader.is_special(token)), _BEFORE)][::-1]
    start, decoder = reader.text_of(near), codecs.getincrementaldecoder("utf-8")("replace")
    for piece in reader.raw_pieces(near):
        _decode_bytes(decoder, piece, reader.style)
    half = decoder.getstate()
    found = []
    for token, piece in zip(tokens, reader.raw_pieces(tokens), strict=True):
        decoder.setstate(half)
        if piece is None or reader.is_special(token):
            found.append("")
            continue
        gain = _decode_bytes(decoder, piece, reader.style)
        if bytes_of(piece, reader.style) is None:
            gain += added_text(start, reader.text_of([*near, token]))
        found.append(gain)
    return found


def _decode_bytes(decoder: codecs.IncrementalDecoder, piece: str | None, style: str) -> str:
    """Characters that the bytes of a piece complete; a piece that is no bytes ends half a character."""
    raw = bytes_of(piece or "", style)
    return decoder.decode(raw or b"", final=raw is None)


def text_read(reading: Encoding, text: str, cut: int | None) -> str:
    """As much of a text as its reading has, of which only the first ``cut`` tokens may have been read."""
    if cut is None or len(reading.ids) < cut:
        return text
    return text[: max((span[1] for span in reading.row.spans if span is not None), default=0)]


def extend_reading(reader: SafeTokenizer, reading: Encoding, text: str, written: Sequence[int]) -> tuple[Encoding, str]:
    """A prompt that was read from ``text`` with the tokens written after it, and both as one text."""
    spans: list[tuple[int, int] | None] = []
    before = [*reading.ids]
    for token in written:
        [gain] = gains(reader, before, [token])
        before.append(token)
        spans.append((len(text), len(text) + len(gain)) if gain else None)
        text += gain
    for at in range(len(spans) - 2, -1, -1):  # all tokens of one character stand where it does
        if spans[at] is None and not reader.is_special(written[at]):
            spans[at] = spans[at + 1]
    return reader.extend(reading, text, written, spans), text


def added_text(start: str, text: str) -> str:
    """What ``text`` has beyond ``start``, of which it is a continuation, but for spaces that the next token takes away.

    >>> added_text("a cat", "a cat sat"), added_text("a cat ", "a cat,")
    (' sat', ',')
    """
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(start, text, strict=False))
    return text[sum(1 for _ in shared) :]
