"""A text as a model's tokens (the class Encoding), and checks of input texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention.mask import FloatArray
from attention.record import MapRecord
from attention.tokens import TokenRow, is_out_of_vocabulary
from attention.trace import Trace
from attention.view import View
from i18n import gettext_lazy, join_sentences
from inference.errors import UserError

TEXT = gettext_lazy("text")
OTHER_MODEL = gettext_lazy("Choose a model that knows them, or edit the text.")
_ALLOWED_CONTROLS = "\t\n\r\f\v"


def check_text(text: str, what: str = TEXT, *, longest: int = 200_000) -> str:
    """Return the text with line ends normalised to LF; raise UserError if it is invalid.

    Invalid are texts that are empty or have more than ``longest`` characters, lone surrogates, and control characters
    other than white space. ``what`` names the text in the message.

    >>> check_text("one\\r\\ntwo")
    'one\\ntwo'
    """
    if not isinstance(text, str):
        raise UserError(
            gettext_lazy("The {what} must be text, not {kind}.", what=what, kind=type(text).__name__), way_out="text"
        )
    if not text.strip():
        raise UserError(gettext_lazy("The {what} is empty. Type a word or a sentence.", what=what), way_out="text")
    if len(text) > longest:
        raise UserError(
            gettext_lazy(
                "The {what} has {characters:,} characters; the limit is {longest:,}. Shorten it.",
                what=what,
                characters=len(text),
                longest=longest,
            ),
            way_out="text",
            details={"characters": len(text), "limit": longest},
        )
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if kind == "Cs":
            raise UserError(
                gettext_lazy(
                    "The {what} has half a character (U+{character:04X}) at position {place}. Remove it.",
                    what=what,
                    character=ord(character),
                    place=place + 1,
                ),
                way_out="text",
                details={"position": place},
            )
        if kind == "Cc" and character not in _ALLOWED_CONTROLS:
            raise UserError(
                gettext_lazy(
                    "The {what} has the control character U+{character:04X} at position {place}. Remove it.",
                    what=what,
                    character=ord(character),
                    place=place + 1,
                ),
                way_out="text",
                details={"position": place},
            )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def explain_unreadable(row: TokenRow, model: str) -> str:
    """Return an error message if at least a third of a text's tokens are unknown to the model, else "".

    The model reads every unknown token as the same token, so its results would be meaningless but look valid.

    >>> row = TokenRow(("my", "猫"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "[UNK]"))
    >>> explain_unreadable(row, "BERT")[:33]
    'BERT reads 1 of 2 tokens as [UNK]'
    """
    text = row.unreadable()
    if not text:
        return ""
    unknown = [row.unknown[at] for at in text if is_out_of_vocabulary(row.unknown[at])]
    return gettext_lazy(
        "{model} reads {unknown} of {many} tokens as {piece}, so no result is shown.",
        model=model,
        unknown=len(unknown),
        many=len(text),
        piece=unknown[0],
    )


def check_known(model: str, *rows: TokenRow | None) -> None:
    """Raise UserError if at least a third of the tokens of one of the rows are unknown to the model."""
    for row in rows:
        if row is not None and (message := explain_unreadable(row, model)):
            unknown = tuple(row.pieces[at] for at in row.unreadable() if is_out_of_vocabulary(row.unknown[at]))
            raise UserError(join_sentences(message, OTHER_MODEL), way_out="reads", details={"unknown": unknown})


@dataclass(frozen=True)
class Encoding:
    """A tokenised text: its tokens as displayed, and the token type ids for the model."""

    row: TokenRow
    types: tuple[int, ...]
    whole: int | None = None  # number of tokens before truncation; None if the text was not truncated

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the token ids."""
        return self.row.ids

    def pick(self, kept: Sequence[int]) -> Encoding:
        """Return the encoding with only the tokens at the positions ``kept``."""
        row = self.row
        picked = TokenRow(
            pieces=tuple(row.pieces[at] for at in kept),
            ids=tuple(row.ids[at] for at in kept),
            words=tuple(row.words[at] for at in kept),
            segments=tuple(row.segments[at] for at in kept),
            spans=tuple(row.spans[at] for at in kept),
            unknown=tuple(row.unknown[at] for at in kept),
        )
        return Encoding(picked, tuple(self.types[at] for at in kept))


def shorten(reading: Encoding, size: int) -> Encoding:
    """Truncate a text to ``size`` tokens; keep all special tokens, and shorten the longer text of a pair first.

    Each text keeps at least one token. Return ``reading`` itself if it is short enough.
    """
    row = reading.row
    excess = len(row) - size
    if excess <= 0:
        return reading
    content = {
        segment: [at for at in range(len(row)) if row.words[at] is not None and row.segments[at] == segment]
        for segment in sorted(set(row.segments))
    }
    dropped: set[int] = set()
    for _ in range(excess):
        longest = max(content, key=lambda segment: len(content[segment]))
        if len(content[longest]) <= 1:
            break
        dropped.add(content[longest].pop())
    return replace(reading.pick([at for at in range(len(row)) if at not in dropped]), whole=len(row))


def shift(reading: Encoding, ids: Sequence[int], start: str) -> Encoding:
    """Return the decoder's input for a target: the start token, then all tokens except the last.

    ``ids`` are the ids of this input as the model's code computes them, and ``start`` is the subword of the first id.
    Raise ValueError if ``ids`` are not the target's ids shifted by one position.
    """
    row = reading.row
    kept = list(range(len(ids) - 1))
    if list(ids[1:]) != list(row.ids[: len(ids) - 1]):
        raise ValueError(f"The decoder's tokens {list(ids)[:5]} are not the target's {list(row.ids)[:5]} moved by one.")
    rest = reading.pick(kept).row
    joined = TokenRow(
        pieces=(start, *rest.pieces),
        ids=(ids[0], *rest.ids),
        words=(None, *rest.words),
        segments=(0, *rest.segments),
        spans=(None, *rest.spans),
        unknown=("", *rest.unknown),
    )
    return Encoding(joined, (0,) * len(joined))


def reordered_view(  # noqa: PLR0913  (a map and its view options)
    trace: Trace,
    part: str,
    order: Sequence[int],
    weights: FloatArray,
    words: bool,
    special: bool,
    renormalise: bool,
) -> View:
    """Return a view of a map over reordered tokens, with the view options ``words`` to ``renormalise``.

    ``trace`` is the trace of the text in its original order, ``part`` the stack, and ``weights`` the map, shape
    (query, key). Entry i of ``order`` is the original position of token i.
    """
    row = Encoding(trace.source, trace.source.segments).pick(order).row
    one = replace(trace, source=row, target=None, parts={part: (MapRecord(weights[None]),)})
    return View(one, part, words, special, renormalise)
