"""What a picture is made of. Lengths are CSS pixels, from its upper left corner."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from viz.colors import Colors

_SQUARE = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_OPEN, _CLOSE = "（《「『“‘", "，。、；：！？）》」』”’…"
# What stays on one line, with the spaces after it: a square character and the marks around it, or a word.
_UNIT = re.compile(f"(?:[{_OPEN}]*[{_SQUARE}][{_CLOSE}]*|(?:(?![{_OPEN}]+[{_SQUARE}])[^ {_SQUARE}])+| ) *")

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A frame without a ground."""

    x: float
    y: float
    width: float
    height: float
    stroke: str
    thick: float = 1


@dataclass(frozen=True)
class Cells:
    """Coloured cells, (row, column, red green blue), that fill a rectangle."""

    x: float
    y: float
    width: float
    height: float
    colours: Colors


@dataclass(frozen=True)
class Text:
    """A line of text whose middle is at ``y``; or, ``turned``, one that reads upwards and whose middle is at ``x``."""

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
    """Shapes on white, the later ones on top. ``about`` says in one line what it is of."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    about: str


def printable_text(text: str) -> str:
    """A text on one line, without letters that no font draws.

    >>> printable_text("a\\nb\\x00")
    'a b�'
    """
    line = " ".join(text.split("\n"))
    return "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in line)


def width(text: str, size: float) -> float:
    """About how wide a text is, whatever the font: a Chinese character is a square, letters two thirds of one.

    >>> width("猫", 12), round(width("cat", 12), 1)
    (12, 23.0)
    """
    return sum(size if unicodedata.east_asian_width(letter) in "WF" else 0.64 * size for letter in text)


def elide_text(text: str, room: float, size: float) -> str:
    """As much of a text as there is room for.

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
    """A text on lines that fit; a word that is too long for one is cut. Chinese breaks anywhere but before a mark.

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
