"""Which words a text has, in any script, so that the pieces of one word can be told."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

Span = tuple[int, int]
_JOINER = "\u200d"
# Scripts written without spaces: a character (with its marks) is the unit there, as BERT does for Chinese.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "YI ", "BOPOMOFO")


def number_words(text: str) -> list[int | None]:
    """Word number of every character; None for white space.

    A run of letters and digits is a word, with its combining marks; any other symbol is a word of its own, an emoji
    sequence one; in scripts written without spaces, every character.

    >>> number_words("I'm ok")
    [0, 1, 2, None, 3, 3]
    """
    numbers: list[int | None] = []
    word, previous = -1, ""  # previous: the class of the character before
    for place, character in enumerate(text):
        kind = _script_kind(character)
        if kind == "space":
            numbers.append(None)
            previous = "space"
            continue
        joined = kind == "mark" or (place > 0 and text[place - 1] == _JOINER)
        starts = previous in ("", "space") or not (joined or (kind == previous == "letter"))
        if kind == "flag" and previous == "flag":
            starts = False  # two regional indicators make one flag
            kind = "flag done"
        if starts:
            word += 1
        numbers.append(word)
        previous = previous if kind == "mark" and previous not in ("", "space") else kind
    return numbers


def _script_kind(character: str) -> str:
    if character.isspace():
        return "space"
    category = unicodedata.category(character)
    if category[0] == "M" or character == _JOINER or "\U0001f3fb" <= character <= "\U0001f3ff":
        return "mark"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "flag"
    if category[0] in "LN":
        ascii_or_latin = ord(character) < 0x0E00
        unspaced = not ascii_or_latin and unicodedata.name(character, "").startswith(_UNSPACED)
        return "sign" if unspaced else "letter"
    return "sign"


def words_of_spans(text: str, spans: Sequence[Span | None], roles: Sequence[str]) -> list[int]:
    """Word number of each piece, by where it begins in the text, counted from 0 without gaps.

    ``roles`` is what the vocabulary says of each piece: "start" of a word, "inside" one, or only "space". A piece of
    white space belongs to the word after it, unless it ends a line; one without a place in the text (``None``) goes
    by its role.

    >>> words_of_spans("a bee", [(0, 1), (1, 4), (4, 5)], ["start", "start", "inside"])
    [0, 1, 1]
    """
    numbers = number_words(text)
    keys: list[object] = [None] * len(spans)
    after: object = None
    for place in range(len(spans) - 1, -1, -1):
        after = keys[place] = _key(text, numbers, spans[place], roles[place], after, place)
    result: list[int] = []
    for place, key in enumerate(keys):
        span = spans[place]
        unplaced = isinstance(key, tuple) and (span is None or span[0] == span[1])
        same = place > 0 and ((unplaced and roles[place] == "inside") or key == keys[place - 1])
        result.append(0 if not result else result[-1] + (0 if same else 1))
    return result


def _key(text: str, numbers: list[int | None], span: Span | None, role: str, after: object, place: int) -> object:  # noqa: PLR0913  # all that decides where a word begins
    """A word's number, or (place,) for a piece that is in no word."""
    start, end = span or (0, 0)
    inside = next((numbers[at] for at in range(start, end) if numbers[at] is not None), None)
    if inside is not None:
        return inside
    blank = role == "space" or start < end
    return after if blank and after is not None and "\n" not in text[start:end] else (place,)
