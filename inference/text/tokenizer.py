"""Tokenisation of a text for a model: token ids, tokens to display, and the text that each next token adds."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any, NoReturn

from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.text.encoding import Encoding, shorten
from inference.text.pieces import bytes_of, readable_piece, readable_pieces, role, style
from inference.text.words import Span, places, words_of_spans


class SafeTokenizer:
    """A thread-safe tokenizer that returns encodings with token rows, and never pads.

    ``pairs`` is True if the model can read two texts. A lock admits one thread at a time, because a call changes the
    state of the underlying tokenizer (target mode, truncation).
    """

    def __init__(self, tokenizer: Any, name: str, kind: str, vocabulary: int, target: int | None = None) -> None:
        self.tokenizer = tokenizer
        self.name = name
        self.vocabulary = vocabulary  # rows of the model's embedding; a larger id would crash the model
        self.target_vocabulary = vocabulary if target is None else target  # rows of the output embedding
        self.style = style(tokenizer)
        self._special_ids = frozenset(tokenizer.all_special_ids)  # cached, because each access collects them
        self.fast = bool(getattr(tokenizer, "is_fast", False))
        self._unknown = getattr(tokenizer, "unk_token_id", None)  # the id of the unknown token
        self._source_pieces = _source_pieces(tokenizer)
        self._lock = threading.Lock()
        # A decoder, or a tokenizer without a separator between two texts, does not distinguish the texts of a pair.
        added = [tokenizer.num_special_tokens_to_add(pair=pair) for pair in (False, True)]
        self.pairs = kind != "decoder" and added[1] > added[0]

    def read(self, text: str, pair: str | None, limit: int | None, cut: int | None = None) -> Encoding:
        """Tokenise a text or a pair within ``limit`` tokens.

        ``cut`` truncates to that many tokens, special tokens included. Raise UserError if the text is too long, if
        it contains no tokens, or for a pair that the model cannot read.
        """
        if pair is not None and not self.pairs:
            raise UserError(
                gettext_lazy("{name} reads one text. Leave the second text out.", name=self.name),
                way_out="pair",
            )
        reading = self._encode(text, pair)
        tokens = len(reading.row)
        if cut is not None:
            reading = shorten(reading, min(cut, limit or cut))
        elif limit is not None and tokens > limit:
            raise UserError(
                gettext_lazy(
                    "The text has {tokens:,} tokens; {name} reads at most {limit:,}. Shorten or truncate it.",
                    tokens=tokens,
                    name=self.name,
                    limit=limit,
                ),
                way_out="cut",
                details={"tokens": tokens, "limit": limit},
            )
        return reading

    def read_target(self, text: str) -> Encoding:
        """Tokenise a target text with the target language's vocabulary, end token included."""
        return self._encode(text, None, target=True)

    def from_ids(self, ids: Sequence[int], special: Sequence[bool]) -> tuple[Encoding, str]:
        """Return the encoding of generated tokens, and their text; unknown ids are shown in brackets."""
        known = self._known_ids([token for token, s in zip(ids, special, strict=True) if not s])
        with (
            self._lock,
            as_user_error(gettext_lazy("The tokenizer of {name} cannot decode this.", name=self.name)),
        ):
            text = self.tokenizer.decode(known)
        return self._slow_reading(list(ids), self.spell(ids), list(special), [text], [0] * len(ids)), text

    def extend(self, reading: Encoding, text: str, written: Sequence[int], spans: Sequence[Span | None]) -> Encoding:
        """Return an encoding with the generated tokens ``written`` appended.

        ``text`` is the full text, and ``spans`` are the spans of the generated tokens in it.
        """
        ids = [*reading.ids, *written]
        raw = self.spell(ids)
        special = [*reading.row.special, *map(self.is_special, written)]
        trimmed = [
            None if span is None else _trim(text, span, only_space=role(piece, self.style) == "space")
            for span, piece in zip(spans, raw[len(reading.ids) :], strict=True)
        ]
        every = [*reading.row.spans, *trimmed]
        types = [*reading.types, *[0] * len(written)]
        return self._reading(ids, raw, special, [text], [0] * len(ids), every, None, types)

    def text_of(self, ids: Sequence[int]) -> str:
        """Decode tokens to text without clean-up; ids that the vocabulary lacks are skipped."""
        known = self._known_ids(ids)
        with (
            self._lock,
            as_user_error(gettext_lazy("The tokenizer of {name} cannot decode this.", name=self.name)),
        ):
            text: str = self.tokenizer.decode(known, clean_up_tokenization_spaces=False)
        return text

    def raw_pieces(self, ids: Sequence[int]) -> list[str | None]:
        """Return the subword of each id as in the vocabulary, or None for an id that the vocabulary lacks.

        Such ids exist if the embedding is padded to more rows than the vocabulary has subwords.
        """
        with self._lock:
            return [self._piece(token) for token in ids]

    def spell(self, ids: Sequence[int]) -> list[str]:
        """Return the subword of each id as in the vocabulary, or the id in brackets if the vocabulary lacks it."""
        return [
            f"[{token}]" if piece is None else piece for token, piece in zip(ids, self.raw_pieces(ids), strict=True)
        ]

    def _piece(self, token: int) -> str | None:
        try:
            piece: str | None = self.tokenizer.convert_ids_to_tokens(int(token))
        except IndexError:  # SentencePiece raises IndexError for an id that it lacks
            return None
        return piece

    def _known_ids(self, ids: Sequence[int]) -> list[int]:
        return [token for token, piece in zip(ids, self.raw_pieces(ids), strict=True) if piece is not None]

    def is_special(self, token: int) -> bool:
        """Return True if a token id is one of the tokenizer's special tokens."""
        return token in self._special_ids

    def _encode(self, text: str, pair: str | None, target: bool = False) -> Encoding:
        given = {"text_target": text} if target else {"text": text, "text_pair": pair}
        with (
            self._lock,
            as_user_error(
                gettext_lazy("The tokenizer of {name} cannot read this text. Change it.", name=self.name),
                way_out="text",
            ),
        ):
            batch = self.tokenizer(**given, add_special_tokens=True, truncation=False, padding=False, verbose=False)
            pieces = None if target else self._source_pieces
            tell = self.tokenizer.convert_ids_to_tokens if pieces is None else pieces.__getitem__
            raw = [tell(token) for token in batch["input_ids"]]
            slow_special = None if self.fast else self._special(batch["input_ids"])
        ids = list(batch["input_ids"])
        texts = [text] if pair is None else [text, pair]
        if slow_special is None:
            reading = self._fast_reading(batch.encodings[0], raw, texts)
        else:
            types = list(batch.get("token_type_ids") or [0] * len(ids))
            reading = self._slow_reading(ids, raw, slow_special, texts, types)
        if all(word is None for word in reading.row.words):
            raise UserError(
                gettext_lazy("{name} reads nothing in this text. Type some words.", name=self.name),
                way_out="text",
            )
        rows = self.target_vocabulary if target else self.vocabulary
        if max(reading.ids) >= rows:
            raise UserError(
                gettext_lazy(
                    "The tokenizer of {name} returns token {token}; the model has tokens 0 to {last}.",
                    name=self.name,
                    token=max(reading.ids),
                    last=rows - 1,
                ),
                way_out="embedded",
            )
        return reading

    def _special(self, ids: list[int]) -> list[bool]:
        mask = self.tokenizer.get_special_tokens_mask(ids, already_has_special_tokens=True)
        # The unknown token counts as special, but it represents a word.
        return [bool(flag) and token != self._unknown for flag, token in zip(mask, ids, strict=True)]

    def _fast_reading(self, encoding: Any, raw: list[str], texts: list[str]) -> Encoding:
        special = [bool(flag) for flag in encoding.special_tokens_mask]
        sequences = _segments(encoding.sequence_ids)
        spans: list[Span | None] = [
            None if s else _trim(texts[segment], span, only_space=role(piece, self.style) == "space")
            for span, s, segment, piece in zip(encoding.offsets, special, sequences, raw, strict=True)
        ]
        given = encoding.word_ids if self.style == "wordpiece" else None
        return self._reading(encoding.ids, raw, special, texts, sequences, spans, given, encoding.type_ids)

    def _slow_reading(
        self, ids: list[int], raw: list[str], special: list[bool], texts: list[str], types: list[int]
    ) -> Encoding:
        """Build the encoding for a tokenizer without offsets, by locating the subwords in the text."""
        segments = [min(kind, len(texts) - 1) for kind in types]
        read = readable_pieces([None if s else p for p, s in zip(raw, special, strict=True)], self.style)
        spans: list[Span | None] = [None] * len(ids)
        for segment, text in enumerate(texts):
            mine = [at for at in range(len(ids)) if segments[at] == segment and not special[at]]
            lacking = [ids[at] == self._unknown for at in mine]
            for at, span in zip(mine, places(text, [read[at] for at in mine], lacking), strict=True):
                spans[at] = span
        return self._reading(ids, raw, special, texts, segments, spans, None, types)

    def _reading(  # noqa: PLR0913  # the columns of a token row
        self,
        ids: Sequence[int],
        raw: Sequence[str],
        special: Sequence[bool],
        texts: list[str],
        segments: Sequence[int],
        spans: Sequence[Span | None],
        given: Sequence[int | None] | None,
        types: Sequence[int],
    ) -> Encoding:
        words: list[int | None] = [None] * len(ids)
        base = 0
        for segment, text in enumerate(texts):
            mine = [at for at in range(len(ids)) if segments[at] == segment and not special[at]]
            if given is not None:
                numbers = _renumber_words([given[at] for at in mine])
            else:
                roles = [role(raw[at], self.style) for at in mine]
                numbers = words_of_spans(text, [spans[at] for at in mine], roles)
            for at, number in zip(mine, numbers, strict=True):
                words[at] = base + number
            base += max(numbers, default=-1) + 1
        written = [None if span is None else texts[at][slice(*span)] for span, at in zip(spans, segments, strict=True)]
        unknown = [
            p if one == self._unknown and not s and text not in (None, p) else ""
            for p, one, s, text in zip(raw, ids, special, written, strict=True)
        ]
        read = readable_pieces([None if s else p for p, s in zip(raw, special, strict=True)], self.style)
        pieces = tuple(
            (text or p) if lacking else p if s else piece.text
            for p, s, text, lacking, piece in zip(raw, special, written, unknown, read, strict=True)
        )
        in_place = tuple(lacking or piece.name for lacking, piece in zip(unknown, read, strict=True))
        row = TokenRow(pieces, tuple(ids), tuple(words), tuple(segments), tuple(spans), in_place)
        return Encoding(row, tuple(types))


def _source_pieces(tokenizer: Any) -> dict[int, str] | None:
    """Return the source vocabulary by id, if the tokenizer maps ids by the target vocabulary, else None.

    Marian and FSMT have tokenizers with two vocabularies.
    """
    read, written = getattr(tokenizer, "encoder", None), getattr(tokenizer, "decoder", None)
    if not isinstance(read, dict) or not isinstance(written, dict):
        return None
    if all(written.get(token) == piece for piece, token in read.items()):
        return None
    return {token: piece for piece, token in tokenizer.get_vocab().items()}


def _segments(sequences: Sequence[int | None]) -> list[int]:
    """Return the index of each token's text; a special token belongs to the text before it."""
    result: list[int] = []
    for sequence in sequences:
        result.append(sequence if sequence is not None else (result[-1] if result else 0))
    return result


def _trim(text: str, span: Span, only_space: bool) -> Span | None:
    """Return the span without surrounding white space, unless the span contains nothing else.

    SentencePiece's mark for a word's beginning may claim the first letter if there is no space; then it gets no
    span.
    """
    start, end = span
    inner = text[start:end]
    if not inner:
        return None
    if inner.isspace():
        return start, end
    if only_space:
        return None
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _renumber_words(numbers: Sequence[int | None]) -> list[int]:
    """Renumber the words without gaps; a token without a number becomes a separate word."""
    result: list[int] = []
    for at, number in enumerate(numbers):
        same = at > 0 and number is not None and number == numbers[at - 1]
        result.append(0 if not result else result[-1] + (not same))
    return result


class NoText(SafeTokenizer):
    """A stand-in for a tokenizer that refuses every text, for models that read only pictures."""

    def __init__(self, name: str) -> None:
        self.tokenizer = None
        self.name = name
        self.vocabulary = self.target_vocabulary = 0
        self.pairs = False

    def read(self, text: str, pair: str | None, limit: int | None, cut: int | None = None) -> NoReturn:  # noqa: ARG002  # the signature of SafeTokenizer.read
        """Raise UserError because the model reads no text."""
        raise refuse_without_tokenizer(self.name)


def refuse_without_tokenizer(name: str) -> UserError:
    """Return the error for a model that reads pictures, not text."""
    return UserError(
        gettext_lazy("{name} reads pictures. Give it one, or pick a text model.", name=name),
        way_out="embedded",
    )


_BEFORE = 8  # number of previous tokens that affect a token's text: bytes of a character, spaces, marks


def mark_pieces(reader: SafeTokenizer, tokens: Sequence[int]) -> list[str]:
    """Return the subwords of token ids as readable text, with "␣" before a subword that begins a word.

    If the vocabulary marks continuations instead, "…" is added at the side at which the word continues. An id without a
    subword is shown in brackets.
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
    """Return the text that each of the candidate tokens ``tokens`` would add after the tokens ``before``.

    Special tokens add "". A character that is encoded by several tokens is added by the last of them.
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
    """Return the part of a text that its encoding covers, after truncation to ``cut`` tokens."""
    if cut is None or len(reading.ids) < cut:
        return text
    return text[: max((span[1] for span in reading.row.spans if span is not None), default=0)]


def extend_reading(reader: SafeTokenizer, reading: Encoding, text: str, written: Sequence[int]) -> tuple[Encoding, str]:
    """Append the generated tokens ``written`` to the encoding of a prompt; return it and the full text.

    ``text`` is the text of the prompt.
    """
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
    """Return the text that generation added: the part of ``text`` after its common prefix with ``start``.

    The prefix is shorter than ``start`` if the new token removes a trailing space.

    >>> added_text("a cat", "a cat sat"), added_text("a cat ", "a cat,")
    (' sat', ',')
    """
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(start, text, strict=False))
    return text[sum(1 for _ in shared) :]
