"""Shapes of a picture, in CSS pixels from its upper left corner, and text layout."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from viz.colors import Colors

_SQUARE = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_OPEN, _CLOSE = "（《「『“‘", "，。、；：！？）》」』”’…"
# An unbreakable unit with the spaces after it: a square character and the marks around it, or a word.
_UNIT = re.compile(f"(?:[{_OPEN}]*[{_SQUARE}][{_CLOSE}]*|(?:(?![{_OPEN}]+[{_SQUARE}])[^ {_SQUARE}])+| ) *")

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A frame without a fill."""

    x: float
    y: float
    width: float
    height: float
    stroke: str
    thick: float = 1


@dataclass(frozen=True)
class Cells:
    """Coloured cells, (row, column, RGB), that fill a rectangle."""

    x: float
    y: float
    width: float
    height: float
    colours: Colors


@dataclass(frozen=True)
class Text:
    """A line of text with its vertical middle at ``y``.

    ``turned`` text reads upwards and has its horizontal middle at ``x``.
    """

    text: str
    x: float
    y: float
    size: int
    fill: str
    anchor: Anchor = "start"
    bold: bool = False
    turned: bool = False


Shape = Box | Cells | Text


@dataclass(frozen=True)
class StaticPicture:
    """Shapes on white in drawing order; ``about`` is a title of a single line."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    about: str


def printable_text(text: str) -> str:
    """Return a text on a single line, with U+FFFD for characters that no font draws.

    >>> printable_text("a\\nb\\x00")
    'a b�'
    """
    line = " ".join(text.split("\n"))
    return "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in line)


def width(text: str, size: float) -> float:
    """Return the approximate width of a text: ``size`` per Chinese character, 0.64 · ``size`` else.

    >>> width("猫", 12), round(width("cat", 12), 1)
    (12, 23.0)
    """
    return sum(size if unicodedata.east_asian_width(letter) in "WF" else 0.64 * size for letter in text)


def elide_text(text: str, room: float, size: float) -> str:
    """Return a text cut to a width of ``room`` pixels; a cut text ends in "…".

    >>> elide_text("the animal", 40, 12)
    'the…'
    """
    end, used, fits = width("…", size), 0.0, 0
    for at, letter in enumerate(text, 1):
        used += width(letter, size)
        if used > room:
            return f"{text[:fits].rstrip()}…"
        fits = at if used + end <= room else fits
    return text


def wrap_text(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines of at most ``room`` pixels; a word that is too long for a line is cut.

    Chinese text breaks anywhere except before a closing punctuation mark or after an opening mark.

    >>> wrap_text("it looks back at the animal", 90, 12)
    ['it looks', 'back at the', 'animal']
    >>> wrap_text("因为它太累了，BERT 说。", 72, 12)
    ['因为它太累', '了，BERT', '说。']
    """
    lines = [""]
    for word in _UNIT.findall(text):
        longer = lines[-1] + word
        if lines[-1] and width(longer.rstrip(), size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return [elide_text(line.rstrip(" "), room, size) for line in lines]
