"""Texts of an atlas, read from text files, JSON Lines, Parquet, CSV, TSV and CoNLL-U, in little memory."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from probing import formats
from probing.sentence_files import NAMED
from probing.text_files import START, decode_text, decoded_or_guessed, refuse_folder, refuse_zero_bytes

WHOLE = 32_000_000  # bytes up to which a file is decoded in memory; larger files must be UTF-8
LONGEST = 50_000  # characters of a text; a longer text is divided at white space
BLOCK_CHARACTERS, BLOCK_TEXTS = 40_000, 256  # size of a block: the texts of a request, and of a saved step
TARGETS = ("target", "translation", "target_text")  # names of a column of translations
SUFFIXES = (".txt", ".md", ".jsonl", ".parquet", ".tsv", ".csv", ".conllu")


@dataclass(frozen=True)
class AtlasText:
    """A text that a model reads to describe its heads (an atlas), perhaps with its translation or parts of speech.

    ``tags`` has pairs of a character's index, at which a word begins, and the word's part of speech.
    """

    text: str
    target: str | None = None
    tags: tuple[tuple[int, str], ...] = ()


def read_texts(files: Sequence[Path]) -> Iterator[AtlasText]:
    """Yield the texts of some files; raise UserError if a file cannot be read or contains no text.

    The extension decides the format. Files with an extension that is not in SUFFIXES are plain text, with blank lines
    between the texts.
    """
    for file in files:
        _check_file(file)
        found = False
        for text in _read(file):
            for part in _divide(text):
                found = True
                yield part
        if not found:
            raise UserError(gettext_lazy("{file} is empty. Give at least one sentence.", file=file.name))


def blocks(texts: Iterable[AtlasText]) -> Iterator[list[AtlasText]]:
    """Yield lists of consecutive texts, called blocks; the same texts always give the same blocks."""
    block: list[AtlasText] = []
    size = 0
    for text in texts:
        if block and (size + len(text.text) > BLOCK_CHARACTERS or len(block) >= BLOCK_TEXTS):
            yield block
            block, size = [], 0
        block.append(text)
        size += len(text.text)
    if block:
        yield block


def digest_files(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the name, the size and the SHA-256 of each file; raise UserError if a file cannot be read."""
    found = []
    for file in files:
        _check_file(file)
        sha = hashlib.sha256()
        with file.open("rb") as stream:
            while part := stream.read(1 << 20):
                sha.update(part)
        found.append({"name": file.name, "bytes": file.stat().st_size, "sha256": sha.hexdigest()})
    return found


def _check_file(file: Path) -> None:
    refuse_folder(file)
    try:
        with file.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        raise UserError(
            gettext_lazy(
                "{file} cannot be read: {reason}. Give another path.",
                file=file,
                reason=error.strerror or type(error).__name__,
            )
        ) from error
    if not start:
        raise UserError(gettext_lazy("{file} is empty. Give at least one sentence.", file=file.name))


def _read(file: Path) -> Iterator[AtlasText]:
    suffix = file.suffix.lower()
    with file.open("rb") as stream:
        parquet = stream.read(len(START)) == START
    if parquet:
        return _read_parquet(file)
    if suffix == ".conllu":
        return _read_conllu(file)
    lines = _lines(file)
    if suffix in (".jsonl", ".json"):
        return _read_json_lines(file, lines)
    if suffix == ".csv":
        return _read_csv(file, lines)
    if suffix == ".tsv":
        return _read_pairs(lines)
    return _read_paragraphs(lines)


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file of text, decoded as a whole if it is small, else as UTF-8."""
    if file.stat().st_size <= WHOLE:
        yield from decoded_or_guessed(file.read_bytes())[0].split("\n")
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = decode_text(line) if number == 1 else line.decode()
            except UnicodeDecodeError as error:
                raise UserError(
                    gettext_lazy(
                        "{name}: {text}",
                        name=file.name,
                        text=gettext_lazy("Line {line} is not UTF-8 text. Save the file as UTF-8.", line=number),
                    )
                ) from error
            refuse_zero_bytes(text)
            yield text.rstrip("\r\n")


def _read_paragraphs(lines: Iterator[str]) -> Iterator[AtlasText]:
    """Yield the texts between blank lines."""
    kept: list[str] = []
    for line in chain(lines, [""]):
        if line.strip():
            kept.append(line)
        elif kept:
            yield AtlasText("\n".join(kept).strip())
            kept = []


def _read_pairs(lines: Iterator[str]) -> Iterator[AtlasText]:
    """Yield the first column as text, and the second as its translation if there is one."""
    for line in lines:
        text, *rest = (cell.strip() for cell in line.split("\t"))
        if text:
            yield AtlasText(text, rest[0] if rest and rest[0] else None)


def _read_csv(file: Path, lines: Iterator[str]) -> Iterator[AtlasText]:
    """Yield the texts of the column of texts; the first row has the names of the columns."""
    rows = csv.DictReader(f"{line}\n" for line in lines)
    try:
        for number, row in enumerate(rows, start=1):
            yield from _from_values(row, file, number)
    except csv.Error as error:
        raise UserError(
            gettext_lazy(
                "{name}: {text}",
                name=file.name,
                text=gettext_lazy(
                    "Line {line} is not CSV: a quotation mark or separator is misplaced, or a cell is too long.",
                    line=rows.line_num,
                ),
            )
        ) from error


def _read_json_lines(file: Path, lines: Iterator[str]) -> Iterator[AtlasText]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                gettext_lazy(
                    "{name}: {text}",
                    name=file.name,
                    text=gettext_lazy(
                        "Line {line} is not a JSON object, such as {example}.",
                        line=number,
                        example='{"text": "…"}',
                    ),
                )
            ) from error
        yield from _from_values({"text": found} if isinstance(found, str) else found, file, number)


def _from_values(row: object, file: Path, number: int) -> Iterator[AtlasText]:
    """Yield the text of a row, if it is not blank; raise UserError if the row has no column of texts."""
    names = {str(name).lower(): value for name, value in row.items()} if isinstance(row, dict) else {}
    text = next((names[name] for name in NAMED if isinstance(names.get(name), str)), None)
    if text is None:
        raise UserError(
            gettext_lazy(
                "Row {line} of {file} has no text. Name its column {names}.",
                line=number,
                file=file.name,
                names=" / ".join(NAMED[:3]),
            )
        )
    target = next((names[name] for name in TARGETS if isinstance(names.get(name), str)), None)
    if text.strip():
        yield AtlasText(text.strip(), target)


def _read_parquet(file: Path) -> Iterator[AtlasText]:
    import pyarrow as pa  # imported lazily: it takes 0.3 s
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file)
        known = [field.name for field in table.schema_arrow if field.name.lower() in (*NAMED, *TARGETS)]
        number = 0
        for batch in table.iter_batches(1_000, columns=known):
            for row in batch.to_pylist():
                number += 1
                yield from _from_values(row, file, number)
    except (pa.ArrowException, OSError) as error:
        raise UserError(
            gettext_lazy(
                "{name}: {text}",
                name=file.name,
                text=gettext_lazy("The Parquet file is damaged or encrypted. Save it as CSV."),
            )
        ) from error


def _read_conllu(file: Path) -> Iterator[AtlasText]:
    """Yield the sentences of a CoNLL-U file with the part of speech of each word (column 4)."""
    if file.stat().st_size > WHOLE:
        raise UserError(
            gettext_lazy(
                "{name} has {size:,} bytes; the limit is {most:,}. Shorten it.",
                name=file.name,
                size=file.stat().st_size,
                most=WHOLE,
            )
        )
    content = formats.text_of(file.read_bytes())
    parsed = formats.parse_conllu(content)
    tags = [
        fields[3]
        for fields in (line.split("\t") for line in content.split("\n") if not line.startswith("#"))
        if len(fields) == formats.COLUMNS and fields[0].isdigit()
    ]
    at = 0
    for item in parsed.items:
        starts = [start for start, _stop in item.units]
        yield AtlasText(item.text, None, tuple(zip(starts, tags[at : at + len(starts)], strict=True)))
        at += len(starts)


def _divide(text: AtlasText) -> Iterator[AtlasText]:
    """Yield a text in parts of at most LONGEST characters, cut at white space if there is any."""
    rest = text.text
    while len(rest) > LONGEST and text.target is None and not text.tags:
        cuts = [match.start() for match in re.finditer(r"\s", rest[LONGEST // 2 : LONGEST])]
        stop = LONGEST // 2 + cuts[-1] if cuts else LONGEST
        yield AtlasText(rest[:stop].strip())
        rest = rest[stop:].strip()
    if rest:
        yield AtlasText(rest, text.target, text.tags)
