"""The texts that a model accepts: any language and symbol that its tokenizer can represent, in words that it knows."""

from __future__ import annotations

import unicodedata

from attention.tokens import TokenRow, is_out_of_vocabulary
from i18n import gettext_lazy, join_sentences
from inference.errors import UserError

TEXT = gettext_lazy("text")
OTHER_MODEL = gettext_lazy("Choose a model that knows them, or edit the text.")
_ALLOWED_CONTROLS = "\t\n\r\f\v"


def check_text(text: str, what: str = TEXT, *, longest: int = 200_000) -> str:
    """The text itself, line ends made "\\n"; raises Refusal when it is empty, too long or holds unreadable characters.

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
                "The {what} has {characters:,} characters; at most {longest:,} are read. Shorten it.",
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
                    "The {what} holds half of a character (U+{character:04X}) at position {place}, as broken"
                    " copying leaves it. Remove it.",
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
                    "The {what} holds the control character U+{character:04X} at position {place}, which no"
                    " model can read. Remove it.",
                    what=what,
                    character=ord(character),
                    place=place + 1,
                ),
                way_out="text",
                details={"position": place},
            )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def explain_unreadable(row: TokenRow, model: str) -> str:
    """Return why a row gives no result: at least a third of the tokens of one of its texts are unknown; "" if not.

    A result of unknown tokens looks like any other, although the model read the same token for each of them.

    >>> row = TokenRow(("my", "\u732b"), (9, 0), (0, 1), (0, 0), ((0, 2), (3, 4)), ("", "[UNK]"))
    >>> explain_unreadable(row, "BERT")[:52]
    'BERT does not know 1 of the 2 tokens of this text: i'
    """
    text = row.unreadable()
    if not text:
        return ""
    unknown = [row.unknown[at] for at in text if is_out_of_vocabulary(row.unknown[at])]
    return gettext_lazy(
        "{model} does not know {unknown} of the {many} tokens of this text: it reads {piece} for each of them. A "
        "result would say nothing about these words, so none is shown.",
        model=model,
        unknown=len(unknown),
        many=len(text),
        piece=unknown[0],
    )


def check_known(model: str, *rows: TokenRow | None) -> None:
    """Raise Refusal if at least a third of the tokens of a text are unknown to the model that reads these rows."""
    for row in rows:
        if row is not None and (message := explain_unreadable(row, model)):
            unknown = tuple(row.pieces[at] for at in row.unreadable() if is_out_of_vocabulary(row.unknown[at]))
            raise UserError(join_sentences(message, OTHER_MODEL), way_out="reads", details={"unknown": unknown})
