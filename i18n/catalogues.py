"""Translation catalogues: a gettext file for each language, read once and compiled in memory by Babel."""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "words"


@cache
def catalogue_languages() -> tuple[str, ...]:
    """Return the sorted codes of the languages that have a catalogue.

    >>> "zh" in catalogue_languages()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.po")))


@cache
def catalogue(language: str) -> GNUTranslations:
    """Return the translations of a language, without messages that are incompletely translated.

    Messages without a translation are shown in English. Babel is imported here, because English does not need it.
    """
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / f"{language}.po").open("rb") as file:
        everything = read_po(file, locale=language)
    # gettext would show the empty forms of an untranslated plural.
    translated = Catalog(locale=everything.locale, charset=everything.charset)
    for message in everything:
        forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if message.id and all(forms):
            translated.add(message.id, message.string)
    compiled = BytesIO()
    write_mo(compiled, translated)
    compiled.seek(0)
    return GNUTranslations(compiled)
