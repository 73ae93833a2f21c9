"""The built-in lessons and the tour, and lesson files that are compressed into a URL."""

from __future__ import annotations

import base64
import binascii
import tomllib
import zlib
from functools import cache
from pathlib import Path

from i18n import ENGLISH, active_language
from lessons.reading import MOST_BYTES, lesson_of
from lessons.schema import Lesson

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "lessons"
COURSE = (  # teaching order
    "attention",
    "it_and_animal",
    "break_head",
    "three_trails",
    "order",
    "masked_words",
    "translation",
)
CLAIMS = ("claims_attention", "claims_bert", "claims_finetuning", "claims_families", "claims_translation")
ORDER = (*COURSE, *CLAIMS)
TOUR = "tour"


@cache
def come_along() -> dict[str, Lesson]:
    """Load the lessons that are part of the app, by name, in teaching order; the result is cached."""
    return {name: lesson_of(source(name)) for name in ORDER}


@cache
def tour() -> Lesson:
    """Load the tour for first-time visitors."""
    return lesson_of(source(TOUR))


def source(name: str) -> str:
    """Return the text of a built-in lesson file."""
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


WRITING = FOLDER / "writing"  # files that help to write a lesson, in each language


def template() -> str:
    """Return the text of a short lesson file from which a teacher can start, in the active language."""
    return _help_file("template", "toml")


def format_help() -> str:
    """Return the description of the lesson file format as Markdown, in the active language."""
    return _help_file("format", "md")


def check_help() -> dict[str, str]:
    """Return the answer that each check computes as Markdown, by name of the check, in the active language."""
    return tomllib.loads(_help_file("checks", "toml"))


def is_bundled(text: str) -> bool:
    """Return True if a text is identical to a template or to the file of a built-in lesson."""
    return text in _bundled_texts()


@cache
def _bundled_texts() -> frozenset[str]:
    templates = (file.read_text(encoding="utf-8") for file in WRITING.glob("template.*"))
    return frozenset((*map(source, ORDER), *templates))


def _help_file(name: str, kind: str) -> str:
    """Return a file of WRITING in the active language, or else in English."""
    file = WRITING / f"{name}.{active_language()}.{kind}"
    return (file if file.exists() else WRITING / f"{name}.{ENGLISH}.{kind}").read_text(encoding="utf-8")


LONGEST = 20_000  # maximum length of the parameter in a URL, in characters


def pack_lesson(text: str) -> str | None:
    """Compress a lesson file into text for a URL, or return None if it is too long.

    >>> unpack_lesson(pack_lesson("title = 'x'"))
    "title = 'x'"
    """
    found = base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode().rstrip("=")
    return found if len(found) <= LONGEST else None


def unpack_lesson(raw: str) -> str | None:
    """Decompress a lesson file from a URL, or return None if it is damaged or exceeds the size limit."""
    try:
        unfolding = zlib.decompressobj()
        data = unfolding.decompress(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)), MOST_BYTES)
        return data.decode() if unfolding.eof else None
    except (binascii.Error, zlib.error, ValueError):
        return None
