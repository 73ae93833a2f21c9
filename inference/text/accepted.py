"""What counts as a text. Any language and any symbol does; what no tokenizer can mean is refused in words."""

from __future__ import annotations

import unicodedata

from inference.errors import Refusal
from wording import sentence

TEXT = sentence("text")
_ALLOWED_CONTROLS = "\t\n\r\f\v"


def check_text(text: str, what: str = TEXT, *, longest: int = 200_000) -> str:
    """The text itself, line ends made "\\n"; raises Refusal when it is empty, too long or holds unreadable characters.

    >>> check_text("one\\r\\ntwo")
    'one\\ntwo'
    """
    if not isinstance(text, str):
        raise Refusal(
            sentence("The {what} must be text, not {kind}.", what=what, kind=type(text).__name__), way_out="text"
        )
    if not text.strip():
        raise Refusal(sentence("The {what} is empty. Type a word or a sentence.", what=what), way_out="text")
    if len(text) > longest:
        raise Refusal(
            sentence(
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
            raise Refusal(
                sentence(
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
            raise Refusal(
                sentence(
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
