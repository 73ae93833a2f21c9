"""The translations: one file of gettext's for each language, read once, compiled in memory by Babel."""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "words"


@cache
def found() -> tuple[str, ...]:
    """The languages that have a file, by their codes.

    >>> "zh" in found()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.po")))


@cache
def catalogue(language: str) -> GNUTranslations:
    """The translations of one language.

    Babel is imported here and not above: who speaks English does without it.
    """
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (FOLDER / f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
