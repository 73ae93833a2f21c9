"""Tokens that may come next: how each is shown, and what a text gains by it."""

from __future__ import annotations

from collections.abc import Sequence

from inference.loading import Loaded
from inference.pieces import readable, role
from inference.reading import Reading

_BEFORE = 8  # tokens before it that decide how a token reads: bytes of one character, spaces, marks
_BROKEN = "\ufffd"  # what decoding gives for bytes that are no whole character


def marked(loaded: Loaded, tokens: Sequence[int]) -> list[str]:
    """Pieces of the vocabulary as people read them, "␣" before one that begins a word.

    In vocabularies that mark what goes on instead, "…" stands where a word goes on. A number without a piece is shown
    as such.
    """
    reader = loaded.reader
    raw = reader.tokenizer.convert_ids_to_tokens(list(tokens))
    return [
        f"[{token}]" if piece is None else piece if reader.is_special(token) else _marked(piece, reader.style)
        for token, piece in zip(tokens, raw, strict=True)
    ]


def _marked(piece: str, style: str) -> str:
    shown, place = readable(piece, style), role(piece, style)
    if style == "suffix":
        return shown if piece.endswith("</w>") else f"{shown}…"
    if style == "wordpiece":
        return f"…{shown}" if place == "inside" else shown
    return f"␣{shown}" if place == "start" else shown


def gains(loaded: Loaded, before: Sequence[int], tokens: Sequence[int]) -> list[str]:
    """What a text gains by each of some tokens after ``before``; nothing by a special one.

    A character whose bytes are several tokens is gained with the last of them.
    """
    near = [token for token in before if not loaded.reader.is_special(token)][-_BEFORE:]
    start = loaded.reader.text_of(near)
    texts = [
        loaded.reader.text_of([*near, token]) if not loaded.reader.is_special(token) else start for token in tokens
    ]
    return [gained(start, text) for text in texts]


def begun(reading: Reading, text: str, cut: int | None) -> str:
    """As much of a text as its reading has, of which only the first ``cut`` tokens may have been read."""
    if cut is None or len(reading.ids) < cut:
        return text
    return text[: max((span[1] for span in reading.row.spans if span is not None), default=0)]


def continued(loaded: Loaded, reading: Reading, text: str, written: Sequence[int]) -> tuple[Reading, str]:
    """A prompt that was read from ``text`` with the tokens written after it, and both as one text."""
    spans: list[tuple[int, int] | None] = []
    for at, token in enumerate(written):
        [gain] = gains(loaded, [*reading.ids, *written[:at]][-4 * _BEFORE :], [token])
        spans.append((len(text), len(text) + len(gain)) if gain else None)
        text += gain
    for at in range(len(spans) - 2, -1, -1):  # all tokens of one character stand where it does
        if spans[at] is None and not loaded.reader.is_special(written[at]):
            spans[at] = spans[at + 1]
    return loaded.reader.extended(reading, text, written, spans), text


def gained(start: str, text: str) -> str:
    """What ``text`` has beyond ``start``, of which it is a continuation; half characters at the ends do not count.

    >>> gained("caf\ufffd", "café")
    'é'
    """
    start, text = start.rstrip(_BROKEN), text.rstrip(_BROKEN)
    return text[len(start) :] if text.startswith(start) else text
