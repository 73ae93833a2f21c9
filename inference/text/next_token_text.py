"""Display of candidate next tokens, and the text that each token adds."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from itertools import islice, takewhile

from inference.text.encoding import Encoding
from inference.text.pieces import bytes_of, readable_piece, role
from inference.text.tokenizer import SafeTokenizer

_BEFORE = 8  # number of previous tokens that affect a token's text: bytes of a character, spaces, marks


def mark_pieces(reader: SafeTokenizer, tokens: Sequence[int]) -> list[str]:
    """Return readable subwords, with "␣" before a subword that begins a word.

    In vocabularies that mark continuations instead, "…" marks a subword at the side where the word continues. An
    id without a subword is shown in brackets.
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
    """Return the text that each of ``tokens`` adds after ``before``; "" for special tokens.

    If several tokens encode the bytes of a character, the last of them adds the character.
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
    """Return the characters that a subword's bytes complete.

    A subword that is text flushes an incomplete character.
    """
    raw = bytes_of(piece or "", style)
    return decoder.decode(raw or b"", final=raw is None)


def text_read(reading: Encoding, text: str, cut: int | None) -> str:
    """Return the part of a text that its encoding covers, if only the first ``cut`` tokens were read."""
    if cut is None or len(reading.ids) < cut:
        return text
    return text[: max((span[1] for span in reading.row.spans if span is not None), default=0)]


def extend_reading(reader: SafeTokenizer, reading: Encoding, text: str, written: Sequence[int]) -> tuple[Encoding, str]:
    """Return the prompt's encoding extended by the written tokens, and the full text."""
    spans: list[tuple[int, int] | None] = []
    before = [*reading.ids]
    for token in written:
        [gain] = gains(reader, before, [token])
        before.append(token)
        spans.append((len(text), len(text) + len(gain)) if gain else None)
        text += gain
    for at in range(len(spans) - 2, -1, -1):  # all tokens of a character share its span
        if spans[at] is None and not reader.is_special(written[at]):
            spans[at] = spans[at + 1]
    return reader.extend(reading, text, written, spans), text


def added_text(start: str, text: str) -> str:
    """Return the part of ``text`` after its common prefix with ``start``.

    The prefix is shorter than ``start`` if the new token removes a trailing space.

    >>> added_text("a cat", "a cat sat"), added_text("a cat ", "a cat,")
    (' sat', ',')
    """
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(start, text, strict=False))
    return text[sum(1 for _ in shared) :]
