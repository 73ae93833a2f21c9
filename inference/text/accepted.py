"""What counts as a text. Any language and any symbol does; what no tokenizer can mean is refused in words."""

from __future__ import annotations

import unicodedata

from inference.errors import Refusal

_ALLOWED_CONTROLS = "\t\n\r\f\v"


def check_text(text: str, what: str = "text", *, longest: int = 200_000) -> str:
    """The text itself, line ends made "\\n"; raises Refusal when it is empty, too long or holds unreadable characters.

    >>> check_text("one\\r\\ntwo")
    'one\\ntwo'
    """
    if not isinstance(text, str):
        raise Refusal(f"The {what} must be text, not {type(text).__name__}.", way_out="text")
    if not text.strip():
        raise Refusal(f"The {what} is empty. Type a word or a sentence.", way_out="text")
    if len(text) > longest:
        raise Refusal(
            f"The {what} has {len(text):,} characters; at most {longest:,} are read. Shorten it.",
            way_out="text",
            details={"characters": len(text), "limit": longest},
        )
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if kind == "Cs":
            raise Refusal(
                f"The {what} holds half of a character (U+{ord(character):04X}) at position {place + 1}, as broken"
                " copying leaves it. Remove it.",
                way_out="text",
                details={"position": place},
            )
        if kind == "Cc" and character not in _ALLOWED_CONTROLS:
            raise Refusal(
                f"The {what} holds the control character U+{ord(character):04X} at position {place + 1}, which no"
                " model can read. Remove it.",
                way_out="text",
                details={"position": place},
            )
    return text.replace("\r\n", "\n").replace("\r", "\n")
