"""Documents from a folder or a file, one at a time, and which of them are held out."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

from inference.errors import UserError

SUFFIXES = (".txt", ".jsonl", ".jsonl.xz")


def documents(source: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of every document: a ``.txt`` file, or a line of a ``.jsonl`` or ``.jsonl.xz`` file.

    A line is a JSON object with ``text`` and, if it has one, ``id``. Names are unique within a source: the file's
    place in the folder, for lines with the id or the line's number behind it. Raises Refusal where nothing is found.
    """
    if not source.exists():
        raise UserError(f"There is no text at {source}. Name a folder, or a .txt, .jsonl or .jsonl.xz file.")
    files = sorted(file for file in source.rglob("*") if file.is_file()) if source.is_dir() else [source]
    texts = [file for file in files if file.name.endswith(SUFFIXES)]
    if not texts:
        raise UserError(f"{source} holds no .txt, .jsonl or .jsonl.xz file.")
    for file in texts:
        place = file.relative_to(source).as_posix() if source.is_dir() else file.name
        if file.suffix == ".txt":
            yield place, file.read_text(encoding="utf-8")
        else:
            yield from _lines(file, place)


def _lines(file: Path, place: str) -> Iterator[tuple[str, str]]:
    unpacked = lzma.open if file.suffix == ".xz" else open
    with unpacked(file, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line)
                name, text = f"{place}#{row.get('id', number)}", row["text"]
            except (ValueError, AttributeError, KeyError) as error:
                raise UserError(f'Line {number} of {place} is not a JSON object with "text".') from error
            if not isinstance(text, str):
                raise UserError(f'Line {number} of {place}: "text" is not a string.')
            yield name, text


def held_out(name: str, share: float) -> bool:
    """Whether the document of that name is kept for evaluation: by its name's hash, so the same in every run.

    >>> sum(held_out(f"wiki#{number}", 0.25) for number in range(1000))
    251
    """
    drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
    return drawn < share
