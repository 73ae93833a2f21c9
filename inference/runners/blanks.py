"""Inputs for masked language models: encoded texts, with the mask token at hidden words (blanks)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.batching import Sample, collate
from inference.request import TraceRequest
from inference.tasks.predictions import BlankRequest, lies_in
from inference.text.encoding import Encoding, check_text
from inference.text.pieces import readable_piece, role


def read(loaded: LoadedModel, text: str, pair: str | None = None, cut: int | None = None) -> Encoding:
    """Encode a text or a pair of texts for a model, with at most ``cut`` tokens.

    Raise UserError if a text is empty or too long, or if the model cannot read pairs.
    """
    text = check_text(text)
    pair = None if pair is None else check_text(pair, gettext_lazy("second text"))
    return loaded.reader.read(text, pair, loaded.limit, cut)


def tensors(loaded: LoadedModel, *readings: Encoding) -> dict[str, Any]:
    """Return encodings as the model's inputs, a batch (text, token) padded on the right."""
    paired = any(max(reading.row.segments, default=0) > 0 for reading in readings)
    request = TraceRequest(pair="" if paired else None)  # a pair adds the segment ids
    return collate(loaded, [Sample("", request, reading, None, None) for reading in readings])


TYPED = "[MASK]"  # the usual way to type a blank, for any mask token of the model
MOST = 20  # blanks in a text; with more, too little text is left to guess from


@dataclass(frozen=True)
class Blanked:
    """A text with blanks, as encoded for a model."""

    reading: Encoding  # mask tokens in the blanks
    row: TokenRow  # before words are hidden; spans refer to the given text
    positions: tuple[int, ...]  # token positions of the blanks, ascending
    text: str  # with mask tokens in the blanks
    pair: str | None
    whole: bool  # True if encoding that text gives exactly this encoding

    def check_blank(self, number: int) -> None:
        """Raise UserError if the text has no blank ``number``, counted from 0."""
        if not 0 <= number < len(self.positions):
            raise UserError(
                gettext_lazy(
                    "There is no blank {blank}; the text has {blanks}, counted from 0.",
                    blank=number,
                    blanks=len(self.positions),
                )
            )


def prepare(loaded: LoadedModel, question: BlankRequest[Any]) -> Blanked:
    """Encode the text of a request with its blanks; raise UserError if it has none or too many."""
    mask, token = mask_of(loaded)
    reading, row = as_read(loaded, question.text, question.pair, question.cut)
    typed = {at for at, one in enumerate(reading.ids) if one == token and row.words[at] is not None}
    chosen = {at for at in range(len(row)) if at not in typed and lies_in(row, at, question.hidden)}
    positions = tuple(sorted(typed | chosen))
    _refuse_odd(positions)
    hidden = hide(reading, positions, token)
    covered = [
        _cover(_insert_masks(mask, given), reading.row, chosen, segment, mask)
        for segment, given in enumerate([question.text, question.pair or ""])
    ]
    text, pair = covered[0], None if question.pair is None else covered[1]
    return Blanked(hidden, row, positions, text, pair, _reads_back(loaded, text, pair, hidden, question.cut))


def as_read(loaded: LoadedModel, text: str, pair: str | None, cut: int | None) -> tuple[Encoding, TokenRow]:
    """Encode texts in which every typed [MASK] is the model's mask token.

    The character spans in the returned token row refer to the texts as typed. Raise UserError if the model cannot read
    the texts.
    """
    mask, _ = mask_of(loaded)
    reading = read(loaded, _insert_masks(mask, text), None if pair is None else _insert_masks(mask, pair), cut)
    return reading, _restore_places(reading.row, [text, pair or ""], mask)


def mask_of(loaded: LoadedModel) -> tuple[str, int]:
    """Return the model's mask token and its id; raise UserError if its tokenizer has none."""
    tokenizer = loaded.reader.tokenizer
    mask, token = getattr(tokenizer, "mask_token", None), getattr(tokenizer, "mask_token_id", None)
    if not isinstance(mask, str) or not isinstance(token, int):
        raise UserError(gettext_lazy("{name} has no mask token, so no word can be hidden.", name=loaded.id.name))
    return mask, token


def hide(reading: Encoding, positions: Collection[int], token: int) -> Encoding:
    """Return the encoding with the mask token, whose id is ``token``, at the positions."""
    ids = tuple(token if at in positions else one for at, one in enumerate(reading.ids))
    return replace(reading, row=replace(reading.row, ids=ids))


def replace_token(reading: Encoding, at: int, tokens: Sequence[int]) -> Encoding:
    """Return the encoding with the token at position ``at`` replaced by the token ids ``tokens``."""
    places = [*range(at), *[at] * len(tokens), *range(at + 1, len(reading.ids))]
    wide = reading.pick(places)
    ids = (*wide.ids[:at], *tokens, *wide.ids[at + len(tokens) :])
    return replace(wide, row=replace(wide.row, ids=ids))


def pieces_of(loaded: LoadedModel, row: TokenRow, texts: Sequence[str], at: int, word: str) -> list[int]:
    """Return the token ids of ``word``, tokenised in place of the token at position ``at``.

    ``row`` has the tokens of ``texts``. Raise UserError if the word does not fit there or has unknown parts.
    """
    check_text(word, "word", longest=100)
    span, segment, mask = row.spans[at], row.segments[at], mask_of(loaded)[0]
    shared = [place for place, other in enumerate(row.spans) if other == span and row.segments[place] == segment]
    if span is None or shared != [at]:
        raise UserError(gettext_lazy("The blank is part of a character, so no word fits."))
    changed = [*texts]
    changed[segment] = texts[segment][: span[0]] + word + texts[segment][span[1] :]
    start = len(_insert_masks(mask, texts[segment][: span[0]]))
    end = start + len(word)
    reading = read(
        loaded, _insert_masks(mask, changed[0]), _insert_masks(mask, changed[1]) if len(changed) > 1 else None
    )
    inside = _tokens_between(reading.row, segment, start, end)
    pieces = [reading.ids[place] for place in inside]
    if mask_of(loaded)[1] in pieces:
        raise UserError(gettext_lazy("{mask} is a blank itself.", mask=TYPED))
    if loaded.reader.tokenizer.unk_token_id in pieces:
        raise UserError(gettext_lazy("It is not in the vocabulary, nor are its parts."))
    return pieces


def _tokens_between(row: TokenRow, segment: int, start: int, end: int) -> list[int]:
    """Return the positions of the tokens between two places of a text.

    Raise UserError if there are none, or if a token extends beyond the two places.
    """
    found: list[int] = []
    for at, span in enumerate(row.spans):
        if span is None or row.segments[at] != segment or row.words[at] is None:
            continue
        if span[0] < end and start < span[1]:
            if span[0] < start or end < span[1]:
                raise UserError(gettext_lazy("It merges with its neighbours there."))
            found.append(at)
    if not found:
        raise UserError(gettext_lazy("The model reads nothing in it."))
    first = found[0]
    while first > 0 and row.spans[first - 1] is None and row.words[first - 1] == row.words[found[0]]:
        first -= 1  # a token for a space, which has no span in the text
    return list(range(first, found[-1] + 1))


def text_positions(row: TokenRow, mask: int) -> list[int]:
    """Return the positions of ordinary tokens, without special tokens and blanks."""
    return [at for at, word in enumerate(row.words) if word is not None and row.ids[at] != mask]


def display_pieces(loaded: LoadedModel, tokens: Sequence[int], begins: bool = False) -> list[str]:
    """Return token ids as readable texts, with "…" before a token that continues a word.

    ``begins`` is True if the tokens begin a text. Some vocabularies do not mark the first word of a text as the
    beginning of a word, so no "…" is added there.
    """
    reader = loaded.reader
    return [
        _display_piece(piece, reader.style, reader.is_special(one), begins)
        if piece
        else f"[{one}]"  # an embedding row without a token
        for piece, one in zip(reader.raw_pieces(tokens), tokens, strict=True)
    ]


def _display_piece(piece: str, style: str, special: bool, begins: bool) -> str:
    if special:
        return piece
    text = readable_piece(piece, style)
    if style == "suffix":
        return text if piece.endswith("</w>") else f"{text}…"
    goes_on = role(piece, style) == "inside" and not (begins and style != "wordpiece")
    return f"…{text}" if goes_on else text


def _insert_masks(mask: str, text: str) -> str:
    return text.replace(TYPED, mask)


def _restore_places(row: TokenRow, texts: list[str], mask: str) -> TokenRow:
    """Return the row with spans in the given texts; [MASK] may be shorter or longer than the mask token."""
    ends = [[found.end() for found in re.finditer(re.escape(TYPED), text)] for text in texts]
    more = len(mask) - len(TYPED)

    def back(place: int, segment: int) -> int:
        passed = sum(end + more * count <= place for count, end in enumerate(ends[segment], start=1))
        return place - more * passed

    spans = tuple(
        None if span is None else (back(span[0], segment), back(span[1], segment))
        for span, segment in zip(row.spans, row.segments, strict=True)
    )
    return replace(row, spans=spans)


def _refuse_odd(positions: Sequence[int]) -> None:
    if not positions:
        raise UserError(
            gettext_lazy("No word is hidden. Write {mask} in place of a word.", mask=TYPED),
            way_out="text",
        )
    if len(positions) > MOST:
        raise UserError(
            gettext_lazy(
                "{pieces} tokens are hidden; the limit is {most}. Uncover some.",
                pieces=len(positions),
                most=MOST,
            ),
            way_out="text",
            details={"blanks": len(positions), "limit": MOST},
        )


def _cover(text: str, row: TokenRow, chosen: Collection[int], segment: int, mask: str) -> str:
    """Return the text with the mask token in place of each chosen token."""
    before = len(text) + 1
    for at in sorted(chosen, reverse=True):
        span = row.spans[at]
        if span is not None and row.segments[at] == segment and span[1] <= before:
            text = text[: span[0]] + mask + text[span[1] :]
            before = span[0]
    return text


def _reads_back(loaded: LoadedModel, text: str, pair: str | None, hidden: Encoding, cut: int | None) -> bool:
    try:
        return read(loaded, text, pair, cut).ids == hidden.ids
    except UserError:
        return False
