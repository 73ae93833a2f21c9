"""One way to write a sentence: Unicode composed, every space a plain one, apostrophes straight."""

from __future__ import annotations

import re
import unicodedata

# What is replaced before anything else reads a text; the tokenizer's own normaliser is made of the same lines.
REPLACED = (
    (r"[\u00ad\u200b\u200c\u2060\ufeff]", ""),  # characters that nobody sees
    (r"[\u2018\u2019\u02bc]", "'"),
    (r"\u2010|\u2011", "-"),
    (r"\s+", " "),  # no-break and narrow spaces too, such as French has before ? ! ; and :
)


def clean(text: str) -> str:
    """The sentence as it is trained on and scored.

    >>> clean("O\u00f9 est-il\u202f?  Ici\u00a0!")
    'Où est-il ? Ici !'
    >>> clean("It\u2019s me.")
    "It's me."
    """
    composed = unicodedata.normalize("NFC", text)
    for pattern, replacement in REPLACED:
        composed = re.sub(pattern, replacement, composed)
    return composed.strip()


def key(text: str) -> str:
    """What two sentences share that differ in case, punctuation and spaces only.

    >>> key("Well, that's it!") == key("well that's it")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold()))
