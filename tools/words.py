"""Extraction of the app's messages into the translation file of each language.

make words                 add new messages to assets/words/*.po, remove stale ones, list those without a translation
make words ARGS=--check    list stale messages and messages without a translation; change nothing

A message without a translation is shown in English, so it is listed and passes. A stale message fails the check.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "assets" / "words"
ROOMS = (
    "i18n", "classroom", "attention", "headlight", "inference", "lessons", "probing", "serving", "training", "viz",
    "ui", "pages",
)  # fmt: skip
KEYWORDS: dict[str, tuple[int, ...] | None] = {
    "_": None,
    "sentence": None,
    "gettext_lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
}
# Files in assets/ and their displayed fields.
DATA = {"examples.json": ("title",), "probes.json": ("family", "name", "note")}
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def extract_messages(root: Path = ROOT) -> Iterator[str | tuple[str, str]]:
    """Yield every message in the source code, possibly repeatedly; plural messages are pairs."""
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.*")):
            yield from file_messages(file)
    yield from _of_data()


def file_messages(file: Path) -> Iterator[str | tuple[str, str]]:
    """Yield the messages of a source file; plural messages are pairs."""
    method = {".py": "python", ".js": "javascript"}.get(file.suffix)
    if method is None or "vendor" in file.parts:
        return
    with file.open("rb") as source:
        for _line, message, _comments, _context in extract(method, source, keywords=KEYWORDS):
            if isinstance(message, tuple):
                yield message[0], message[1]
            elif message:
                yield message


def _of_data() -> Iterator[str]:
    """Yield the messages in the app's example data."""
    for name, fields in DATA.items():
        for entry in json.loads((ROOT / "assets" / name).read_text(encoding="utf-8")):
            yield from (entry[field] for field in fields if entry.get(field))


def update_catalog(file: Path, wanted: list[str | tuple[str, str]]) -> Catalog:
    """Return the catalogue of a translation file with exactly the messages ``wanted``, sorted.

    Known translations are kept, and new messages have none.
    """
    with file.open("rb") as source:
        old = read_po(source, locale=file.stem)
    new = Catalog(locale=file.stem, charset="utf-8", fuzzy=False)
    for message in sorted(set(wanted), key=str):
        key = message[0] if isinstance(message, tuple) else message
        known = old.get(key)
        new.add(message, known.string if known else "")
    return new


def format_catalog(catalogue: Catalog) -> bytes:
    """Return the content of a catalogue file, without source locations, which change often."""
    file = BytesIO()
    file.write(HEADER.format(language=catalogue.locale, plural=catalogue.plural_forms).encode())
    write_po(file, catalogue, width=120, no_location=True, omit_header=True, ignore_obsolete=True)
    return file.getvalue()


def stale(file: Path, wanted: list[str | tuple[str, str]]) -> list[str]:
    """Return the messages in a translation file that the code no longer contains."""
    with file.open("rb") as source:
        listed = [message.id for message in read_po(source, locale=file.stem) if message.id]
    keys = {message[0] if isinstance(message, tuple) else message for message in wanted}
    singulars = [str(message[0]) if isinstance(message, tuple | list) else str(message) for message in listed]
    return [message for message in singulars if message not in keys]


def main(arguments: list[str]) -> int:
    """Update the file of every language, or list the differences; return 1 if a message is stale."""
    wanted, wrong = list(extract_messages()), 0
    for file in sorted(FOLDER.glob("*.po")):
        catalogue = update_catalog(file, wanted)
        missing = [message for message in catalogue if message.id and not any(message.string or ())]
        if "--check" in arguments:
            gone = stale(file, wanted)
            wrong += len(gone)
            for text in gone:
                print(f"{file.name}: stale, run make words: {text!r}"[:110])
        else:
            file.write_bytes(format_catalog(catalogue))
        print(f"{file.name}: {len(catalogue)} messages, {len(missing)} without a translation, shown in English")
        for message in missing[:20]:
            print(f"  {message.id!r}"[:110])
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
